"""Tables: laid out as plain text or Markdown, and as values; :func:`psp.report.page.of` writes these as HTML.

The content of a table is made in one place, in the module of its file (``eval_table``, ``task_table`` and so on); the
command line's output and a page are views of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

#: Output formats of a table.
FORMS = ("text", "markdown")


def layout(rows: Sequence[Sequence[str]], form: str = "text", right: Collection[int] = ()) -> str:
    r"""Lay out rows of cells, of which the first is the header; the result ends with ``\n``.

    Args:
        rows: rows of equal length.
        form: one of ``FORMS``.
        right: right-aligned columns.

    Raises:
        ValueError: unknown format.
    """
    if form == "markdown":
        marks = ["---:" if column in right else "---" for column in range(len(rows[0]))]
        return "".join(f"| {' | '.join(cells)} |\n" for cells in (rows[0], marks, *rows[1:]))
    if form != "text":
        raise ValueError(f"form: {form!r}, not {' or '.join(FORMS)}")
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "".join(f"{line}\n" for line in lines)


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
        """The table and its notes, in one of :data:`FORMS`."""
        cells = [[_plain(cell) for cell in row] for row in self.rows]
        notes = "".join(f"{'- ' if form == 'markdown' else ''}{note}\n" for note in self.notes)
        return layout([list(self.head), *cells], form, right=self.numbers) + (f"\n{notes}" if notes else "")


def _plain(cell: Cell) -> str:
    if cell is None:
        return "-"
    return f"{cell:,}" if isinstance(cell, int) else str(cell)
