r"""Pairs as rows of tab-separated columns: ``source \t target``, or ``source \t target \t score``.

A row that is not so is no reason to stop: it is handed on as a :class:`BadRow`, for the filter stage to count and to
sample. Many of them are: the file is then not what it was taken for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from psp.errors import DataError

MAX_BAD_ROWS = 0.01
"""Share of bad rows that is an accident; beyond it the file is wrong."""

FIRST_ROWS = 10_000
"""A share of fewer rows than this says little: in shorter files as many bad rows pass as in one of this length."""

SHOWN_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that is no pair.

    Attributes:
        reason: ``row: columns`` (their number is wrong) or ``row: score`` (it is no finite number).
        text: the row's beginning; its tabs are shown as the symbol U+2409.
    """

    reason: str
    text: str


Row = tuple[str, str] | tuple[str, str, float] | BadRow
"""What a reader of a corpus yields: raw text; with a score in every pair of a corpus, or in none."""


def parse_rows(
    lines: Iterable[str], path: Path | str, *, columns: int | None, max_bad_rows: float = MAX_BAD_ROWS
) -> Iterator[Row]:
    """Yield the pairs of some lines, and a :class:`BadRow` in the place of each line that is none.

    Args:
        lines: decoded, without their ends.
        path: for errors.
        columns: 2, or 3 where the last is the score; None: as many as the first row has that has 2 or 3.
        max_bad_rows: share of bad rows, of all so far but of ``FIRST_ROWS`` at least, beyond which it is an error.

    Raises:
        DataError: there are more bad rows, or no other; the first of them is named.
    """
    number = bad = 0
    first: tuple[int, str] | None = None
    for number, line in enumerate(lines, start=1):
        fields = line.split("\t")
        count = len(fields)
        if columns is None and count in (2, 3):
            columns = count
        if count != columns:
            reason = "row: columns"
            problem = f"{count} column{'s' if count > 1 else ''} instead of {columns or '2 or 3'}"
        elif count == 2:
            yield fields[0], fields[1]
            continue
        elif (score := _number(fields[2])) is not None:
            yield fields[0], fields[1], score
            continue
        else:
            reason, problem = "row: score", f"the score {fields[2][:40]!r} is no number"
        bad += 1
        first = first or (number, problem)
        if bad > max_bad_rows * max(number, FIRST_ROWS):
            raise _too_many(bad, number, first, columns, path)
        yield BadRow(reason, line[:SHOWN_CHARACTERS].replace("\t", "\u2409"))
    if first and bad == number:
        raise _too_many(bad, number, first, columns, path)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and "_" not in text else None  # Python reads 1_0 as 10, nobody else does


def _too_many(bad: int, rows: int, first: tuple[int, str], columns: int | None, path: Path | str) -> DataError:
    wanted = {2: "source, tab, target", 3: "source, tab, target, tab, score"}
    expected = wanted[columns] if columns else f"{wanted[2]} or {wanted[3]}"
    return DataError(
        f"{first[1]}; {bad:,} of the first {rows:,} rows are not `{expected}`, this one is the first: mend the file, "
        "name the right one, or allow more by filters.max_bad_rows",
        path,
        first[0],
    )
