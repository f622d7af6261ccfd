r"""Read the user's own files of ``source \t target`` lines, optionally compressed.

A third column is the score, a fourth one the translation score (:mod:`psp.corpora.paranmt`).

The suffix names the compression: .gz, .bz2, .xz, .zst, .zip (one member, .txt or .tsv); anything else is plain text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from psp.core.errors import DataError
from psp.corpora.archive import text_lines
from psp.corpora.base import CorpusKind, register
from psp.corpora.rows import Row, parse_rows
from psp.text.lines import not_utf8


@register
class Local(CorpusKind):
    """A file of the user's."""

    kind = "local"
    endings = ("tsv", "txt")
    item: ClassVar[tuple[str, ...]] = ("path",)
    called = "a file of pairs, `path`"

    @classmethod
    def read(cls, path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
        """Yield its rows; the first of two to four columns tells how many the file has. A byte order mark is dropped.

        Raises:
            DataError, PspError: as :func:`psp.corpora.archive.text_lines`.
        """
        return parse_rows(text_lines(path), columns=(2, 3, 4))


@register
class Translated(Local):
    """The output of :mod:`psp.inference.translation.backtranslate`: lines as in the user's files."""

    kind = "translated"
    item: ClassVar[tuple[str, ...]] = ()
    made_by = "backtranslate"
    makes = ("translated",)

    @classmethod
    def told(cls, report: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        keys = ("through", "translator", "encoder", "sample", "corpora")
        return sum(corpus["kept"] for corpus in report["corpora"].values()), {key: report[key] for key in keys}


def lines_of(path: Path | str) -> Iterator[str]:
    """Yield the unpacked lines of a file, without a byte order mark.

    Raises:
        DataError: as :func:`psp.corpora.archive.text_lines`, or a line is not UTF-8.
    """
    for number, line in enumerate(text_lines(path), start=1):
        if isinstance(line, bytes):
            raise DataError(f"{not_utf8(line)}; convert the file", path, number)
        yield line
