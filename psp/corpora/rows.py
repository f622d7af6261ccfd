r"""Rows of corpora: pairs of texts, with a score, or with a score and a translation score.

A few malformed rows are tolerated: each is passed on as a :class:`BadRow`, which the filter stage counts and samples.
Many of them are an error: the file is probably the wrong one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from psp.core.errors import DataError
from psp.text.lines import not_utf8

MAX_BAD_ROWS = 0.01
"""Tolerated share of bad rows; beyond it the file is considered wrong."""

FIRST_ROWS = 10_000
"""A share of fewer rows than this says little: shorter files may have as many bad rows as one of this length."""

SHOWN_CHARACTERS = 500

#: Why a row is no pair: it has not two texts, a score or a translation score is not a finite number, or it has bytes or
#: half characters that are not UTF-8.
COLUMNS, SCORE, TRANSLATION, ENCODING = "row: columns", "row: score", "row: translation score", "row: not UTF-8"


@dataclass(frozen=True, slots=True)
class BadRow:
    """A malformed row.

    Attributes:
        reason: one of those above.
        text: the row's beginning, with tabs shown as the symbol U+2409.
        problem: what is wrong with it, in words, for an error.
        line: where it begins in the file, counted from 1; None: it is the line of its number among the rows.
    """

    reason: str
    text: str
    problem: str = field(default="", compare=False)
    line: int | None = field(default=None, compare=False)


Row = tuple[str, str] | tuple[str, str, float] | tuple[str, str, float, float] | BadRow
"""What corpus readers yield: raw text, with a score, or a score and a translation score, in every pair of a corpus or
in none."""

_COLUMNS = ("source", "target", "score", "translation score")


def bad_row(reason: str, row: str | bytes, problem: str, line: int | None = None) -> BadRow:
    """The bad row of a text that may be long, have tabs, or not be UTF-8."""
    text = row.decode(errors="replace") if isinstance(row, bytes) else row
    shown = text[:SHOWN_CHARACTERS].replace("\t", "\u2409")
    return BadRow(reason, shown.encode(errors="replace").decode(), problem, line)


def undecodable(row: bytes, where: str = "") -> BadRow:
    """The bad row of a line that is not UTF-8; ``where`` begins the problem."""
    return bad_row(ENCODING, row, f"{where}{not_utf8(row)}")


def tolerated(rows: Iterable[Row], path: Path | str, max_bad_rows: float = MAX_BAD_ROWS) -> Iterator[Row]:
    """Pass rows on, as long as few of them are bad.

    Args:
        path: the file, for errors.
        max_bad_rows: maximum share of bad rows among those so far (counted as at least ``FIRST_ROWS``).

    Raises:
        DataError: there are too many bad rows, or no good one; the first bad row is named.
    """
    number = bad = 0
    first: BadRow | None = None
    place = 0
    for number, row in enumerate(rows, start=1):
        if isinstance(row, BadRow):
            bad += 1
            if first is None:
                first, place = row, row.line or number
            if bad > max_bad_rows * max(number, FIRST_ROWS):
                raise _too_many(bad, number, first, path, place)
        yield row
    if first and bad == number:
        raise _too_many(bad, number, first, path, place)


def parse_rows(lines: Iterable[str | bytes], columns: Collection[int]) -> Iterator[Row]:
    r"""Parse lines ``source \t target``, with up to two scores in further columns; a malformed one is a bad row.

    Args:
        lines: without line ends; bytes if they are not UTF-8.
        columns: the numbers of columns that a file may have, of 2, 3 (with a score) and 4 (with a translation score);
            the first row that has one of them tells which it is.
    """
    for line in lines:
        if isinstance(line, bytes):
            yield undecodable(line)
            continue
        fields = line.split("\t")
        count = len(fields)
        # A tab too many in the first line is likelier than a number in its place.
        if count in columns and (count < 4 or None not in map(_number, fields[2:])):
            columns = (count,)
        if count not in columns:
            named = " or ".join(", tab, ".join(_COLUMNS[:number]) for number in sorted(columns))
            problem = f"{count} column{'s' if count > 1 else ''} instead of {_either(columns)} ({named})"
            yield bad_row(COLUMNS, line, problem)
        elif count == 2:
            yield fields[0], fields[1]
        elif (score := _number(fields[2])) is None:
            yield bad_row(SCORE, line, f"the score {fields[2][:40]!r} is not a number")
        elif count == 3:
            yield fields[0], fields[1], score
        elif (translation := _number(fields[3])) is None:
            yield bad_row(TRANSLATION, line, f"the translation score {fields[3][:40]!r} is not a number")
        else:
            yield fields[0], fields[1], score, translation


def row_of(cells: Sequence[Any], columns: Sequence[str], line: int | None = None) -> Row:
    """The row of a table's source, target and, if it has one, score; a text of several lines becomes one line.

    Args:
        cells: of these columns, of any type.
        columns: their names, for errors.
        line: as of :class:`BadRow`.
    """
    source, target, *scores = cells
    if not (isinstance(source, str) and isinstance(target, str)):
        problem = f"no text in {columns[0]} and {columns[1]}: name other `columns`"
        return bad_row(COLUMNS, str(cells)[:SHOWN_CHARACTERS], problem, line)
    sides = [side if side.isprintable() else " ".join(side.split()) for side in (source, target)]
    try:
        for side in sides:
            side if side.isascii() else side.encode()
    except UnicodeEncodeError:
        return bad_row(ENCODING, "\t".join(sides), "not UTF-8 (half a character)", line)
    if not scores:
        return sides[0], sides[1]
    if (score := _number(scores[0])) is None:
        problem = f"the {columns[2]} {str(scores[0])[:40]!r} is not a number"
        return bad_row(SCORE, "\t".join([*sides, str(scores[0])]), problem, line)
    return sides[0], sides[1], score


def batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Rows, so many at a time."""
    rows = iter(rows)
    while some := list(itertools.islice(rows, size)):
        yield some


def _number(cell: Any) -> float | None:
    if isinstance(cell, bool):
        return None
    try:
        value = float(cell)
    except (ValueError, TypeError, OverflowError):
        return None
    return value if math.isfinite(value) and "_" not in str(cell) else None  # only Python reads 1_0 as 10


def _either(numbers: Collection[int]) -> str:
    *others, last = map(str, sorted(numbers))
    return f"{', '.join(others)} or {last}" if others else last


def _too_many(bad: int, rows: int, first: BadRow, path: Path | str, line: int) -> DataError:
    fix = "convert the file, e.g. `iconv -f CP1252 -t UTF-8`" if first.reason == ENCODING else "fix the file"
    return DataError(
        f"{first.problem or first.reason}; {bad:,} of the first {rows:,} rows are wrong, starting with this one: "
        f"{fix}, name the right one, or raise filters.max_bad_rows",
        path,
        line,
    )
