"""A table as a value, and how it is written: as plain text or as Markdown; :func:`psp.report.page.of` writes HTML.

The content of a table is made in one place, in the module of its file (``variants_table``, ``task_table`` and so on);
the command line's output and a page are views of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from psp.report.layout import layout


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


#: A text, a count, a figure, or nothing.
Cell = str | int | Number | None


@dataclass
class Table:
    """A table.

    Attributes:
        head: names of the columns.
        rows: their cells.
        numbers: the columns of numbers, which are aligned to the right.
        notes: sentences below it, each on its own.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numbers: Collection[int] = ()
    notes: Sequence[str] = ()

    def write(self, form: str = "text") -> str:
        """The table and its notes, in one of :data:`psp.report.layout.FORMS`."""
        cells = [[_plain(cell) for cell in row] for row in self.rows]
        notes = "".join(f"{'- ' if form == 'markdown' else ''}{note}\n" for note in self.notes)
        return layout([list(self.head), *cells], form, right=self.numbers) + (f"\n{notes}" if notes else "")


def _plain(cell: Cell) -> str:
    if cell is None:
        return "-"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
