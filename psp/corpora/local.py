r"""Read the user's own files of ``source \t target`` lines, optionally compressed.

A third column is the score, a fourth one the translation score (:mod:`psp.corpora.paranmt`).

The suffix names the compression: .gz, .zst, .zip (one member, .txt or .tsv); anything else is plain text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from psp.core.settings import Setting, text
from psp.corpora.archive import open_text
from psp.corpora.base import CorpusKind, register
from psp.corpora.rows import MAX_BAD_ROWS, Row, parse_rows
from psp.text.lines import read_lines


def read_file(path: Path | str, max_bad_rows: float = MAX_BAD_ROWS) -> Iterator[Row]:
    r"""Yield the rows of a file in order, unmodified; cleaning is left to the filter stage.

    The first row of two to four columns tells how many the file has. A byte order mark is dropped.

    Args:
        path: the file.
        max_bad_rows: as in :func:`psp.corpora.rows.parse_rows`.

    Yields:
        (source, target), with the scores that the file has, or a :class:`psp.corpora.rows.BadRow`.

    Raises:
        DataError: the file is missing, damaged or truncated, a line is not UTF-8, or too many rows are bad; possibly
            after rows were yielded.
        PspError: the package for .zst is not installed.
    """
    yield from parse_rows(lines_of(path), path, columns=(2, 3, 4), max_bad_rows=max_bad_rows)


@register
class Local(CorpusKind):
    """A file of the user's."""

    kind = "local"
    endings = ("tsv", "txt")
    item: ClassVar[Mapping[str, Setting]] = {
        "path": text(
            at_least=1,
            help="lines `source \\t target`, `source \\t target \\t score` or `source \\t target \\t score \\t "
            "translation score`; plain, or .gz, .zst, .zip",
        )
    }
    called = "a file of pairs, `path`"

    @classmethod
    def read(cls, path: Path | str, corpus: str, names: tuple[str, ...], max_bad_rows: float) -> Iterator[Row]:
        return read_file(path, max_bad_rows)


@register
class Translated(Local):
    """The output of :mod:`psp.inference.translation.backtranslate`: lines as in the user's files."""

    kind = "translated"
    item: ClassVar[Mapping[str, Setting]] = {}
    made_by = "backtranslate"
    makes = ("translated",)

    @classmethod
    def told(cls, report: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        keys = ("through", "translator", "encoder", "sample", "corpora")
        return sum(corpus["kept"] for corpus in report["corpora"].values()), {key: report[key] for key in keys}


def lines_of(path: Path | str) -> Iterator[str]:
    """Yield the unpacked lines of a file, without a byte order mark; raises the errors of :func:`read_file`."""
    path = Path(path)
    with open_text(path) as stream:
        lines = read_lines(stream, path)
        for line in lines:
            yield line.removeprefix("\ufeff")
            break
        yield from lines
