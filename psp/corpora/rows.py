r"""Parse pairs as tab-separated rows: ``source \t target``, with a score, or with a score and a translation score.

A few malformed rows are tolerated: each is passed on as a :class:`BadRow`, which the filter stage counts and samples.
Many of them are an error: the file is probably the wrong one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from psp.core.errors import DataError

MAX_BAD_ROWS = 0.01
"""Tolerated share of bad rows; beyond it the file is considered wrong."""

FIRST_ROWS = 10_000
"""A share of fewer rows than this says little: shorter files may have as many bad rows as one of this length."""

SHOWN_CHARACTERS = 500

#: Why a row is no pair: a wrong number of columns, or a score or a translation score that is not a finite number.
COLUMNS, SCORE, TRANSLATION = "row: columns", "row: score", "row: translation score"


@dataclass(frozen=True, slots=True)
class BadRow:
    """A malformed row.

    Attributes:
        reason: one of those above.
        text: the row's beginning, with tabs shown as the symbol U+2409.
    """

    reason: str
    text: str

    @classmethod
    def of_line(cls, reason: str, line: str) -> Self:
        """The bad row of a line that may be long and have tabs."""
        return cls(reason, line[:SHOWN_CHARACTERS].replace("\t", "\u2409"))


Row = tuple[str, str] | tuple[str, str, float] | tuple[str, str, float, float] | BadRow
"""What corpus readers yield: raw text, with a score, or a score and a translation score, in every pair of a corpus or
in none."""

_COLUMNS = ("source", "target", "score", "translation score")


def parse_rows(
    lines: Iterable[str], path: Path | str, *, columns: Collection[int], max_bad_rows: float = MAX_BAD_ROWS
) -> Iterator[Row]:
    """Parse lines into pairs; yield a :class:`BadRow` for each malformed line.

    Args:
        lines: decoded, without line ends.
        path: the file, for errors.
        columns: the numbers of columns that a file may have, of 2, 3 (with a score) and 4 (with a translation score);
            the first row that has one of them tells which it is.
        max_bad_rows: maximum share of bad rows among those so far (counted as at least ``FIRST_ROWS``).

    Raises:
        DataError: there are too many bad rows, or no good one; the first bad row is named.
    """
    number = bad = 0
    first: tuple[int, str] | None = None
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t")
        count = len(fields)
        # A tab too many in the first line is likelier than a number in its place.
        if count in columns and (count < 4 or None not in map(_number, fields[2:])):
            columns = (count,)
        if count not in columns:
            reason = COLUMNS
            problem = f"{count} column{'s' if count > 1 else ''} instead of {_either(columns)}"
        elif count == 2:
            yield fields[0], fields[1]
            continue
        elif (score := _number(fields[2])) is None:
            reason, problem = SCORE, f"the score {fields[2][:40]!r} is not a number"
        elif count == 3:
            yield fields[0], fields[1], score
            continue
        elif (translation := _number(fields[3])) is None:
            reason, problem = TRANSLATION, f"the translation score {fields[3][:40]!r} is not a number"
        else:
            yield fields[0], fields[1], score, translation
            continue
        bad += 1
        first = first or (number, problem)
        if bad > max_bad_rows * max(number, FIRST_ROWS):
            raise _too_many(bad, number, first, columns, path)
        yield BadRow.of_line(reason, line)
    if first and bad == number:
        raise _too_many(bad, number, first, columns, path)


def batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Rows, so many at a time."""
    rows = iter(rows)
    while some := list(itertools.islice(rows, size)):
        yield some


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None  # only Python reads 1_0 as 10


def _either(numbers: Collection[int]) -> str:
    *others, last = map(str, sorted(numbers))
    return f"{', '.join(others)} or {last}" if others else last


def _too_many(bad: int, rows: int, first: tuple[int, str], columns: Collection[int], path: Path | str) -> DataError:
    expected = " or ".join(", tab, ".join(_COLUMNS[:count]) for count in sorted(columns))
    return DataError(
        f"{first[1]}; {bad:,} of the first {rows:,} rows are not `{expected}`, starting with this one: fix the file, "
        "name the right one, or raise filters.max_bad_rows",
        path,
        first[0],
    )
