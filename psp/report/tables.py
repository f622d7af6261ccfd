"""Tables: each is made once, from a JSON file of results, and written for a terminal, as Markdown or as HTML.

The content of a table is made in the module of its file (``eval_table``, ``task_table`` and so on); the command line's
output, Markdown files and pages are views of it. A template writes a table, or a cell of one, by its name alone, since
each has a method ``__html__``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Number(NamedTuple):
    """A figure in a cell.

    Attributes:
        value: the figure; None for none.
        interval: its ends.
        deviation: instead, a sample standard deviation.
        written: its format.
        better: for a difference, whether the figure is better (1) or worse (-1); 0 if that is unknown.
        sign: whether positive figures have a plus, as differences do.
    """

    value: float | None
    interval: Sequence[float] | None = None
    deviation: float | None = None
    written: str = "{:.1f}"
    better: int = 0
    sign: bool = False

    def __str__(self) -> str:
        if self.value is None:
            return "-"
        form = self.written.replace(":", ":+") if self.sign else self.written
        if self.interval is not None:
            return f"{form.format(self.value)} [{', '.join(form.format(end) for end in self.interval)}]"
        spread = f" ± {self.written.format(self.deviation)}" if self.deviation else ""
        return f"{form.format(self.value)}{spread}"

    @property
    def typeset(self) -> str:
        """As on a page: with minus signs, and a dash for none."""
        return "–" if self.value is None else str(self).replace("-", "−")

    def __html__(self) -> str:
        """In colour where it is known to be better or worse; a line ends neither in an interval nor before a unit."""
        text = self.typeset.replace(", ", ",\u00a0").replace(" %", "\u00a0%")
        if self.value is None or not self.better:
            return text
        return f'<span class="{"good" if self.better > 0 else "bad"}">{text}</span>'


def share(part: int, whole: int, written: str = "{:.1f} %") -> Number:
    """A share in percent; of nothing, none."""
    return Number(100 * part / whole if whole else None, written=written)


class Stacked(NamedTuple):
    """A cell of two lines on a page, the second small."""

    first: Cell
    second: Cell

    def __str__(self) -> str:
        return _plain(self.first) + (f" ({_plain(self.second)})" if self.second is not None else "")

    def __html__(self) -> str:
        from psp.report.page import cell

        small = "" if _plain(self.second) == "-" else cell(self.second)
        return f"{cell(self.first)} <small>{small}</small>"


class Foreign(str):
    """A text of a corpus or a test set, which may hold anything."""

    __slots__ = ()

    def __html__(self) -> str:
        from psp.report.page import foreign

        return foreign(self)


#: A text, a count, a figure, or nothing.
Cell = str | int | Number | Stacked | None


@dataclass
class Table:
    """A table.

    Attributes:
        head: names of the columns.
        rows: their cells.
        numbers: the columns of numbers, which are aligned to the right.
        notes: sentences below it, each on its own; a page has its own in their place.
        small: columns that a page has in small letters below the first.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numbers: Collection[int] = ()
    notes: Sequence[str] = ()
    small: Collection[int] = ()

    def __bool__(self) -> bool:
        return bool(self.rows)

    def write(self, form: str = "text") -> str:
        """The table and its notes as ``text`` or ``markdown``."""
        return self.markdown() if form == "markdown" else self.text()

    def text(self) -> str:
        r"""Columns of plain text, ending with ``\n``, and the notes."""
        rows = self._cells()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        rows.insert(1, ["-" * width for width in widths])
        lines = [
            "  ".join(
                cell.rjust(width) if column in self.numbers else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "".join(f"{line}\n" for line in [*lines, *([""] if self.notes else []), *self.notes])

    def markdown(self) -> str:
        r"""A table of Markdown, ending with ``\n``, and a list of the notes."""
        head, *rows = ([cell.replace("|", "\\|") for cell in row] for row in self._cells())
        marks = ["---:" if column in self.numbers else "---" for column in range(len(head))]
        notes = ["", *(f"- {note}" for note in self.notes)] if self.notes else []
        lines = [*(f"| {' | '.join(row)} |" for row in (head, marks, *rows)), *notes]
        return "".join(f"{line}\n" for line in lines)

    def __html__(self) -> str:
        """The table of a page, without notes; a difference stands below the figure that it belongs to."""
        from psp.report.page import table

        columns = [(name, at in self.numbers) for at, name in enumerate(self.head) if at not in self.small]
        rows = [[cell for at, cell in enumerate(row) if at not in self.small] for row in self.rows]
        for row, whole in zip(rows, self.rows, strict=True) if self.small else ():
            told = [(whole[at], self.head[at]) for at in self.small if whole[at] is not None]
            about = [f"{cell:,} {name}" if isinstance(cell, int) else _plain(cell) for cell, name in told]
            row[0] = Stacked(row[0], ", ".join(about))
        while ("difference", True) in columns:
            del columns[at := columns.index(("difference", True))]
            for row in rows:
                row[at - 1 : at + 1] = [Stacked(*row[at - 1 : at + 1])]
        names = [name for name, _ in columns]
        return table(names, rows, numbers=[at for at, (_, number) in enumerate(columns) if number])

    def _cells(self) -> list[list[str]]:
        return [list(self.head), *([_plain(cell) for cell in row] for row in self.rows)]


def _plain(cell: Cell) -> str:
    if cell is None:
        return "-"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
