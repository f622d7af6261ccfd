"""``psp pivot``: mine pairs from files of bitext, without the workflow."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from psp.cli.common import ending_well
from psp.core.errors import ConfigError, DataError


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command(
        "pivot", run, "Mine paraphrases from bitext (sentences that share a translation), or bitext of other languages."
    )
    added.add_argument(
        "--bitext",
        nargs=3,
        action="append",
        required=True,
        metavar=("FILE", "SOURCE", "TARGET"),
        help="a file of lines `source \\t target` and its two languages, such as opensubtitles.tsv en pl; repeatable. "
        "Filter it first: this command does not",
    )
    added.add_argument("--through", required=True, metavar="LANGUAGE", help="the language of the shared translations")
    added.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="FILE",
        help="lines `source \\t target \\t shared \\t corpora`, or, if it ends in .jsonl, one JSON object per line",
    )
    added.add_argument(
        "--pairs",
        choices=["cover", "all"],
        help="from a group of sentences, take enough pairs for each to be in one, or all, at most 10 (default: cover)",
    )
    added.add_argument(
        "--max-group",
        type=int,
        metavar="N",
        help="leave out translations shared by more sentences (default: 20)",
    )
    added.add_argument(
        "--encoder", metavar="ENCODER", help="add each pair's cosine by this encoder, such as use-multilingual"
    )
    added.add_argument("--min", type=float, metavar="X", help="with --encoder: leave out pairs with a lower cosine")
    added.add_argument("--seed", type=int, default=1, help="seed of the order of sentences (default: %(default)s)")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from psp.config.corpus_entries import file_name
    from psp.core.files import atomic_text, folder_beside
    from psp.pairs.pivot import SECTION, Bitext, mine

    if options.min is not None and options.encoder is None:
        raise ConfigError("--min: needs an encoder; add e.g. `--encoder use-multilingual`")
    largest = SECTION["max_group"].default if options.max_group is None else options.max_group
    if largest < 2:
        raise ConfigError(f"--max-group {largest}: a pair needs groups of 2; write 2 or more")
    languages = _languages([(source, target) for _, source, target in options.bitext], options.through)
    bitexts = [
        Bitext.between(file_name(file), Path(file), (source, target), languages, options.through)
        for file, source, target in options.bitext
    ]
    for bitext in bitexts:
        if not bitext.path.is_file():
            raise DataError("no such file", bitext.path)
    with ending_well(), folder_beside(options.out) as folder:
        mined = folder / "mined.tsv"
        report = mine(
            bitexts,
            mined,
            None,
            languages=languages,
            through=options.through,
            seed=options.seed,
            pairs=options.pairs or SECTION["pairs"].default,
            max_group=largest,
        )
        kept = 0
        with atomic_text(options.out) as file:
            for line in _lines(mined, options):
                file.write(line)
                kept += 1
    print(
        f"{sum(report['read'].values()):,} pairs of bitext, {report['keys']:,} translations, {report['groups']:,} with "
        f"several sentences, {report['pairs']:,} pairs"
        + (f", {kept:,} with a cosine of at least {options.min:g}" if options.min is not None else "")
    )


def _languages(pairs: list[tuple[str, str]], through: str) -> tuple[str, str]:
    """The languages of the two mined sides."""
    others: dict[str, None] = {}
    for source, target in pairs:
        if (source == through) == (target == through):
            raise ConfigError(
                f"--bitext ... {source} {target}: exactly one of the two must be the language of --through, {through}"
            )
        others[target if source == through else source] = None
    if len(others) > 2:
        raise ConfigError(f"--bitext: {', '.join(others)} besides {through}; give one other language, or two")
    first, *more = others
    return first, more[0] if more else first


def _lines(mined: Path, options: argparse.Namespace) -> Iterator[str]:
    """The lines to write, with cosines if requested."""
    import itertools
    import json

    from psp.models.registry import load_encoder
    from psp.models.similarity import cosines
    from psp.text.lines import read_lines

    encoder = None if options.encoder is None else load_encoder(options.encoder)
    as_json = options.out.suffix == ".jsonl"
    with mined.open("rb") as file:
        lines = read_lines(file, mined)
        while block := [line.split("\t") for line in itertools.islice(lines, 4096)]:
            scores: list[float | None] = [None] * len(block)
            if encoder is not None:
                sides = ([row[column] for row in block] for column in (0, 1))
                scores = cosines(*map(encoder.embed, sides)).tolist()
            for (source, target, shared, corpora), score in zip(block, scores, strict=True):
                if score is not None and options.min is not None and score < options.min:
                    continue
                if as_json:
                    row: dict[str, Any] = {"source": source, "target": target, "shared": shared}
                    if score is not None:
                        row["cosine"] = round(score, 4)
                    yield json.dumps(row | {"corpora": corpora.split("+")}, ensure_ascii=False) + "\n"
                else:
                    cells = [source, target, shared, corpora, *([] if score is None else [f"{score:.4f}"])]
                    yield "\t".join(cells) + "\n"
