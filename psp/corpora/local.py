r"""Read the user's own files of ``source \t target`` lines, optionally compressed.

A third column is the score, a fourth one the translation score (:mod:`psp.corpora.paranmt`).

The suffix names the compression: .gz, .bz2, .xz, .zst, .zip (one member, .txt or .tsv); anything else is plain text.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from psp.core.errors import DataError
from psp.corpora.archive import text_lines
from psp.corpora.rows import Row, parse_rows
from psp.text.lines import not_utf8


def read(path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
    """Yield its rows; the first of two to four columns tells how many the file has. A byte order mark is dropped.

    Raises:
        DataError, PspError: as :func:`psp.corpora.archive.text_lines`.
    """
    return parse_rows(text_lines(path), columns=(2, 3, 4))


def lines_of(path: Path | str) -> Iterator[str]:
    """Yield the unpacked lines of a file, without a byte order mark.

    Raises:
        DataError: as :func:`psp.corpora.archive.text_lines`, or a line is not UTF-8.
    """
    for number, line in enumerate(text_lines(path), start=1):
        if isinstance(line, bytes):
            raise DataError(f"{not_utf8(line)}; convert the file", path, number)
        yield line
