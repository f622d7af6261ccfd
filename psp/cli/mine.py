"""``psp mine``: find translation pairs in two monolingual or comparable texts."""

from __future__ import annotations

import argparse
import logging
import math
from pathlib import Path
from typing import Any

from psp.cli.common import (
    check_positive,
    described,
    ending_well,
    index_kind,
    index_kinds,
    index_options,
    stored_dtype,
    threads,
)
from psp.core.errors import ConfigError
from psp.inference.search import CHOICES


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("mine", run, "Mine translation pairs from two texts, by the margin of their cosines.")
    added.set_defaults(level=logging.INFO)  # it may take hours: log progress where there is no terminal for a bar
    added.formatter_class = argparse.RawDescriptionHelpFormatter
    added.epilog = f"pairs:\n{described(CHOICES)}index:\n{index_kinds()}"
    added.add_argument("model", metavar="MODEL", help="a model folder, such as results/fr/model")
    added.add_argument(
        "source", type=Path, metavar="SOURCE", help="sentences in one language, one per line, plain or compressed"
    )
    added.add_argument("target", type=Path, metavar="TARGET", help="sentences in the other")
    added.add_argument(
        "--out", required=True, type=Path, metavar="FILE", help="tab-separated output: source, target, margin"
    )
    added.add_argument(
        "--threshold",
        type=float,
        metavar="X",
        help="lowest margin to keep (default: 1.25 for ratio, 0.1 for distance, 0.5 for absolute)",
    )
    added.add_argument("-k", type=int, default=4, metavar="N", help="neighbours per sentence (default: 4)")
    added.add_argument(
        "--margin",
        choices=["ratio", "distance", "absolute"],
        default="ratio",
        help="cosine divided by the neighbours' mean (ratio, default), minus it (distance), or alone (absolute)",
    )
    added.add_argument("--pairs", choices=list(CHOICES), default="max", help="which candidates become pairs")
    index_options(added)
    threads(added)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    check_positive(options)
    index = index_kind(options)
    if options.threshold is not None and not math.isfinite(options.threshold):
        raise ConfigError(f"--threshold {options.threshold}: write a number, such as 1.25")

    from psp.inference.search.bitext import THRESHOLDS, mine_files
    from psp.inference.search.neighbours import use_threads
    from psp.models.model import load_model

    use_threads(options.threads)
    with ending_well():
        counts = mine_files(
            load_model(options.model, threads=options.threads),
            options.source,
            options.target,
            options.out,
            dtype=stored_dtype(options),
            k=options.k,
            margin=options.margin,
            choose=options.pairs,
            threshold=THRESHOLDS[options.margin] if options.threshold is None else options.threshold,
            index=index,
            effort=options.effort,
            memory=options.memory,
        )
    print(
        f"{options.out}: {counts.pairs:,} pairs from {counts.sources:,} and {counts.targets:,} distinct sentences "
        f"({counts.source_lines:,} and {counts.target_lines:,} lines)"
    )
