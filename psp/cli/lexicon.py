"""``psp lexicon``: make a lexicon from files of pairs, without the workflow."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psp.cli.common import ending_well
from psp.core.errors import ConfigError, DataError

RESAMPLES = 1000


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command(
        "lexicon", run, "Make a lexicon of words that match across the sides of pairs, by pointwise mutual information."
    )
    added.add_argument(
        "pairs",
        nargs="+",
        type=Path,
        metavar="PAIRS",
        help="files of lines `source \\t target`, with or without a third column",
    )
    added.add_argument("--out", required=True, type=Path, metavar="FILE", help="where to write it, such as lexicon.tsv")
    added.add_argument(
        "--bitext", action="store_true", help="the sides are in two languages: make a translation lexicon"
    )
    added.add_argument(
        "--min-count", type=int, metavar="N", help="list pairs of words seen at least this often (default: 10)"
    )
    added.add_argument(
        "--smoothing", type=float, metavar="A", help="added to each count and each expected count (default: 0.1)"
    )
    added.add_argument("--stop-top", type=int, metavar="N", help="leave out the N most frequent words")
    added.add_argument(
        "--within-length",
        type=int,
        metavar="N",
        help="leave out pairs with a longer side, in words with punctuation marks (default: 30; 0: none)",
    )
    added.add_argument(
        "--min-score", type=float, metavar="X", help="leave out pairs with a lower score in the third column"
    )
    added.add_argument(
        "--words",
        nargs="+",
        default=[],
        metavar="FILE",
        help="word sets to score the lexicon on: lines `word \\t word \\t score`; `simlex:FILE` for SimLex-999 as "
        "published, `simverb:FILE` for SimVerb-3500 with a header",
    )


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from psp.evaluation.lexicon import write_lexicon
    from psp.pairs.lexicon.sentences import SentenceSource
    from psp.pairs.lexicon.settings import SECTION

    for path in options.pairs:
        if not path.is_file():
            raise DataError("no such file", path)
    if options.bitext and options.words:
        raise ConfigError("--words: compares words of one language; leave out --bitext, or --words")
    given = {key: getattr(options, key) for key in SECTION.keys if getattr(options, key, None) is not None}
    if given.get("within_length") == 0:
        given["within_length"] = None
    settings = {key: given.get(key, SECTION[key].default) for key in SECTION.keys}
    for key, value in settings.items():
        if not SECTION[key].allows(value):
            raise ConfigError(f"--{key.replace('_', '-')} {value}: must be {SECTION[key].allowed}")
    with ending_well():
        report = write_lexicon(
            [SentenceSource(path.stem, path) for path in options.pairs],
            options.out,
            None,
            languages=("source", "target") if options.bitext else ("text", "text"),
            settings=settings,
            tasks=_tasks(options.words),
            resamples=RESAMPLES,
            seed=1,
        )
    print(f"{report['pairs']:,} pairs of sentences, {report['entries']:,} of words")
    for name, scores in report["scores"].items():
        for measure, parts in scores.items():
            for part, scored in parts.items():
                print(f"{name}, {measure.replace('_', ', ')}, {part} {scored['items']:,}: {_said(scored['figures'])}")


def _tasks(files: list[str]) -> dict[str, dict[str, str]]:
    """Word sets as tasks, by file name."""
    from psp.evaluation.tasks.word_similarity import LAYOUTS

    tasks = {}
    for given in files:
        layout, colon, path = given.partition(":")
        if not colon or layout not in LAYOUTS:
            layout, path = "plain", given
        tasks[Path(path).stem] = {"task": "word_similarity", "path": path, "layout": layout}
    if len(tasks) < len(files):
        raise ConfigError("--words: two files have the same name; copy one under another name")
    return tasks


def _said(figures: Mapping[str, Any]) -> str:
    figure = figures["spearman"]
    if figure["value"] is None:
        return f"no correlation ({figure['why']})"
    interval = figure["interval"]
    return f"Spearman {figure['value']:.1f}" + (f" [{interval[0]:.1f}, {interval[1]:.1f}]" if interval else "")
