"""``psp mine``: translations in two texts that are no translation of each other as a whole."""

from __future__ import annotations

import argparse
import logging
import math
import os
from pathlib import Path
from typing import Any

from psp.commands import ending_well
from psp.errors import ConfigError

CHOICES = {
    "max": "the best of both directions, highest margin first, each sentence once (default)",
    "intersection": "where each is the other's best",
    "forward": "the best target of each source; a target may be in several pairs",
    "backward": "the best source of each target; a source may be in several pairs",
}


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("mine", run, "Find translations in two texts, by the margin of their cosines.")
    added.set_defaults(level=logging.INFO)  # it may take hours: where it is no terminal that shows a bar, lines tell
    added.formatter_class = argparse.RawDescriptionHelpFormatter
    added.epilog = "pairs:\n" + "\n".join(f"  {name}: {what}" for name, what in CHOICES.items())
    added.add_argument("model", metavar="MODEL", help="a model folder, such as results/fr/model")
    added.add_argument("source", type=Path, metavar="SOURCE", help="sentences of one language, one a line")
    added.add_argument("target", type=Path, metavar="TARGET", help="sentences of the other")
    added.add_argument(
        "--out", required=True, type=Path, metavar="FILE", help="the pairs: source, target, margin, with tabs between"
    )
    added.add_argument(
        "--threshold",
        type=float,
        metavar="X",
        help="lowest margin (default: 1.25 of ratio, 0.1 of distance, 0.5 of absolute)",
    )
    added.add_argument("-k", type=int, default=4, metavar="N", help="neighbours of a sentence (default: 4)")
    added.add_argument(
        "--margin",
        choices=["ratio", "distance", "absolute"],
        default="ratio",
        help="the cosine divided by the mean of the neighbours' (default), less it, or the cosine itself",
    )
    added.add_argument("--pairs", choices=list(CHOICES), default="max", help="which candidates become pairs")
    added.add_argument(
        "--index",
        choices=["flat", "hnsw"],
        default="flat",
        help="flat: exact; hnsw: approximate, for millions of lines",
    )
    added.add_argument(
        "--effort", type=int, metavar="N", help="of hnsw: more finds more, and takes longer (default: 128)"
    )
    added.add_argument("--float16", action="store_true", help="keep vectors in half the memory")
    added.add_argument("--threads", type=int, default=os.cpu_count() or 1, metavar="N", help="default: all cores")


def run(options: argparse.Namespace) -> None:
    """Do it."""
    for name in ("k", "effort", "threads"):
        if getattr(options, name) is not None and getattr(options, name) < 1:
            raise ConfigError(f"{'-k' if name == 'k' else '--' + name} {getattr(options, name)}: write 1 or more")
    if options.effort is not None and options.index != "hnsw":
        raise ConfigError("--effort: of --index hnsw alone; the exact search looks at all sentences")
    if options.threshold is not None and not math.isfinite(options.threshold):
        raise ConfigError(f"--threshold {options.threshold}: write a number, such as 1.25")

    from psp.bitext import THRESHOLDS, mine_files
    from psp.model import load_model
    from psp.neighbours import use_threads
    from psp.search import EFFORT

    use_threads(options.threads)
    with ending_well():
        counts = mine_files(
            load_model(options.model, threads=options.threads),
            options.source,
            options.target,
            options.out,
            half=options.float16,
            k=options.k,
            margin=options.margin,
            choose=options.pairs,
            threshold=THRESHOLDS[options.margin] if options.threshold is None else options.threshold,
            effort=(options.effort or EFFORT) if options.index == "hnsw" else None,
        )
    print(
        f"{counts.pairs:,} pairs of {counts.sources:,} and {counts.targets:,} distinct sentences "
        f"({counts.source_lines:,} and {counts.target_lines:,} lines) are in {options.out}"
    )
