"""Read pairs from CSV with a header, optionally compressed."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from psp.core import files
from psp.core.errors import DataError
from psp.corpora.archive import open_text
from psp.corpora.estimate import count_lines
from psp.corpora.rows import COLUMNS, Row, bad_row, row_of
from psp.text.lines import raw_lines

#: Tried in this order, until the header has the columns.
DELIMITERS = (",", ";", "\t", "|")


def read(path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
    """Yield its rows; a field in quotes may hold delimiters and line feeds.

    Raises:
        DataError: the file is missing or damaged, its header lacks a column, or a row is longer than a line may be,
            as when a quote is left open.
        PspError: the package for .zst is not installed.
    """
    path, (given, *columns) = Path(path), names
    with open_text(path, (".csv", ".txt", ".tsv")) as stream:
        lines = _Lines(stream, path)
        header = next(lines, "").removeprefix("\ufeff")
        delimiter = _delimiter(header, [given] if given else DELIMITERS, columns, path)
        fields = _fields(header, delimiter)
        places = [fields.index(name) for name in columns]
        rows = csv.reader(lines, delimiter=delimiter)
        while True:
            line = lines.number + 1
            lines.of_row = 0
            try:
                cells = next(rows, None)
            except csv.Error as error:
                yield bad_row(COLUMNS, "", f"not a row of CSV ({error})", line)
                continue
            if cells is None:
                return
            if len(cells) == len(fields):
                yield row_of([cells[place] for place in places], columns, line)
            elif cells:  # an empty line is no row
                problem = f"{len(cells)} columns, but the header has {len(fields)}"
                yield bad_row(COLUMNS, delimiter.join(cells), problem, line)


def count(path: Path, corpus: str, names: tuple[str, ...]) -> tuple[int, bool]:
    lines, _ = count_lines(path, suffixes=(".txt", ".csv"))
    return max(lines - 1, 0), False  # a row may have several


class _Lines(Iterator[str]):
    """The lines of a stream, with half characters for bytes that are not UTF-8; a row takes no more than the limit."""

    def __init__(self, stream: Any, path: Path) -> None:
        self._lines, self._path, self._most = raw_lines(stream, path), path, files.LINE_BYTES
        self.number = self.of_row = 0  # lines read; bytes of the current row
        csv.field_size_limit(self._most)

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        self.of_row += len(line)
        if self.of_row > self._most + 1:
            raise DataError(
                f"a row of more than {self._most:,} bytes; close the quote that is open before this line",
                self._path,
                self.number,
            )
        return line.decode(errors="surrogateescape")


def _fields(header: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([header], delimiter=delimiter), [])
    except csv.Error:
        return []


def _delimiter(header: str, possible: tuple[str, ...] | list[str], columns: list[str], path: Path) -> str:
    """The delimiter by which a header has the columns.

    Raises:
        DataError: there is none, or a column is there twice.
    """
    found = {delimiter: _fields(header, delimiter) for delimiter in possible}
    for delimiter, fields in found.items():
        if all(fields.count(name) == 1 for name in columns):
            return delimiter
    likeliest = max(found.values(), key=len)
    missing = next(name for name in columns if likeliest.count(name) != 1)
    there = "two columns" if missing in likeliest else "no column"
    raise DataError(
        f"its header has {there} {missing}; it has {', '.join(likeliest) or 'nothing'}: name others by `columns`",
        path,
        1,
    )
