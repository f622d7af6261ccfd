"""``psp stats``: statistics of files of pairs, without the workflow."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.cli.common import ending_well
from psp.core.errors import ConfigError, DataError

if TYPE_CHECKING:
    from psp.text.segment import Segmenter


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command(
        "stats",
        run,
        "Describe files of pairs: lengths, IDF, scores, entropy, overlap; write and read sheets on which people judge "
        "pairs.",
    )
    added.add_argument(
        "files",
        nargs="+",
        type=Path,
        metavar="FILE",
        help="lines `source \\t target` or `source \\t target \\t score`, plain or as .gz, .zst or .zip",
    )
    added.add_argument(
        "--languages",
        nargs=2,
        metavar=("SOURCE", "TARGET"),
        help="languages of the two sides, such as en fr (default: both sides are in one language)",
    )
    added.add_argument("--pairs", type=int, metavar="N", help="pairs in the sample of each file (default: 100000)")
    added.add_argument("--seed", type=int, default=1, help="seed of the samples (default: %(default)s)")
    added.add_argument(
        "--ranges",
        nargs="+",
        type=float,
        metavar="X",
        help="the ends of the ranges of scores (default: -0.1 0.2 0.4 0.6 0.8 1)",
    )
    added.add_argument("--samples", type=int, metavar="N", help="with --markdown: pairs of each range (default: 3)")
    added.add_argument(
        "--idf-from",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="take the IDF from these sentences, one per line; give it twice for two languages, the source's first "
        "(default: from the sample)",
    )
    added.add_argument(
        "--parses",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a bracketed tree for the source of each line of FILE; once for each FILE, in the same order",
    )
    added.add_argument("--sheet", type=Path, metavar="FILE", help="write a sheet for annotators, tab-separated")
    added.add_argument("--per-range", type=int, metavar="N", help="with --sheet: pairs of each range (default: 100)")
    added.add_argument(
        "--labels",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a filled sheet, once for each annotator: count the labels and their agreement",
    )
    added.add_argument("--json", type=Path, metavar="FILE", help="write everything as JSON, too")
    added.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables and samples as Markdown, too")


def run(options: argparse.Namespace) -> None:
    """Run the command.

    Raises:
        ConfigError: options contradict one another.
        DataError: a file is invalid, or a sheet would be overwritten.
    """
    from psp.core.files import atomic_text, write_json
    from psp.pairs.stats.annotation_form import read_form, write_form
    from psp.pairs.stats.run import DescribedCorpus, describe
    from psp.pairs.stats.settings import SECTION, check_ranges
    from psp.report.stats import as_markdown, as_text

    settings = {
        key: SECTION[key].default if given is None else given
        for key, given in (
            ("pairs", options.pairs),
            ("samples", options.samples),
            ("sheet", options.per_range),
            ("ranges", options.ranges),
        )
    }
    for key, option in (("pairs", "--pairs"), ("samples", "--samples"), ("sheet", "--per-range")):
        if not SECTION[key].allows(settings[key]):
            raise ConfigError(f"{option} {settings[key]}: is not {SECTION[key].allowed}")
    check_ranges(settings["ranges"], "--ranges")
    _check_files(options)
    names = [path.name for path in options.files]
    languages = tuple(options.languages) if options.languages else None
    corpora = [
        DescribedCorpus(name if names.count(name) == 1 else str(path), languages, path, own=True, parses=trees)
        for name, path, trees in zip(names, options.files, options.parses or [None] * len(names), strict=True)
    ]
    with ending_well():
        report, drawn = describe(
            corpora,
            model=None,
            **settings,
            seed=options.seed,
            idf_from=dict(zip(languages or ("",), options.idf_from, strict=False)),
            forms=[read_form(path) for path in options.labels],
            segmenters=_segmenters(languages),
            by_range=options.ranges is not None,
        )
        if options.json:
            write_json(options.json, report)
        if options.markdown:
            with atomic_text(options.markdown) as file:
                file.write(as_markdown(report))
        rows = write_form(options.sheet, drawn) if options.sheet else 0
    print(as_text(report), end="")
    if options.sheet:
        print(f"\n{options.sheet}: {rows:,} pairs to judge")


def _segmenters(languages: tuple[str, str] | None) -> dict[str, Segmenter]:
    """The languages among these that the config segments by default."""
    if languages is None:
        return {}
    from psp.config.blocks import SEGMENT
    from psp.text.segment import Segmenter

    known = SEGMENT.default
    return {one: Segmenter(known[one]["segmenter"]) for one in languages if one in known}


def _check_files(options: argparse.Namespace) -> None:
    _given_once_for_all(options.files, "FILE")
    _given_once_for_all(options.labels, "--labels")
    if options.parses and len(options.parses) != len(options.files):
        raise ConfigError(
            f"--parses: {len(options.parses)} for {len(options.files)} files; give it once for each file, in "
            "the same order"
        )
    two = bool(options.languages) and options.languages[0] != options.languages[1]
    if len(options.idf_from) not in ((0, 2) if two else (0, 1)):
        raise ConfigError(
            f"--idf-from: given {len(options.idf_from)} times; "
            + ("give it twice, for the source and for the target" if two else "give it once, for both sides")
        )
    # It may contain someone's labels.
    if options.sheet and options.sheet.exists():
        raise DataError("already exists; name another file, or remove it first", options.sheet)


def _given_once_for_all(files: Sequence[Path], option: str) -> None:
    if len(set(files)) < len(files):
        repeated = next(file for file in files if files.count(file) > 1)
        raise ConfigError(f"{option} {repeated}: is given twice; leave one out")
