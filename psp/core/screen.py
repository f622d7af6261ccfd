"""Show running jobs as a table on a terminal or as lines, for Snakemake's screen and for ``psp watch``."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from psp.core.status import Status, WorkStatus, clock, figures

if TYPE_CHECKING:
    from rich.table import Table

#: Width from which a bar fits beside the metrics.
WIDE = 110
BAR = 20
MOST_LINES = 5
STATES = {
    "dead": "was killed: its process is gone",
    "silent": "no update for {ago}; it may be dead",
}


@dataclasses.dataclass(frozen=True)
class ScreenRow:
    """A job to show.

    Attributes:
        what: its description.
        status: the content of its status file, if it has one.
        since: when it began, in seconds since 1970.
        begun: whether it had a status file before.
    """

    what: str
    status: Status | None
    since: float
    begun: bool = False

    @property
    def news(self) -> str | None:
        """The state of a job that is not working; None if it is."""
        if self.status is None:
            return "ending" if self.begun else "waiting or starting"
        words = STATES.get(self.status.state())
        return words and words.format(ago=clock(time.time() - self.status.written))

    @property
    def work(self) -> WorkStatus | None:
        """Its count, if it is working."""
        return None if self.status is None or self.news is not None else self.status.work

    def line(self) -> str:
        """Describe the job in one line, for a log."""
        if self.work is None:
            return f"{self.what}: {self.news or 'for ' + clock(time.time() - self.since)}"
        return f"{self.what}: {self.work.line()}"


def lines(rows: Sequence[ScreenRow]) -> list[str]:
    """Return one line for each of the first few jobs; those with a count come first."""
    first = sorted(rows, key=lambda row: row.work is None)
    more = len(rows) - MOST_LINES
    return [row.line() for row in first[:MOST_LINES]] + ([f"... and {more} more jobs"] if more > 0 else [])


def table(rows: Sequence[ScreenRow], columns: int, height: int) -> Table:
    """Lay out as many jobs as fit, one per line: share done, rate, time left, metrics.

    Args:
        rows: in the order in which they began.
        columns: width of the terminal.
        height: lines available for the table.
    """
    from rich.cells import cell_len
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    hidden = len(rows) - height + 1 if len(rows) > height else 0
    shown = [_cells(row) for row in (rows[: height - 1] if hidden else rows)]
    # If space is short, cut the metrics at the end, then the name; never the counts.
    widths = [max((cell_len(cells[column]) for cells in shown), default=0) for column in range(5)]
    bar = BAR if columns >= WIDE else 0
    room = columns - 2 * (4 + bool(bar)) - bar - sum(widths[1:4])
    widths[0] = max(min(widths[0], max(room - widths[4], columns // 3)), 20)
    widths[4] = max(min(widths[4], room - widths[0]), 1)
    if bar:
        widths.insert(1, bar)
    grid = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    for width in widths:
        grid.add_column(no_wrap=True, overflow="ellipsis", width=width)
    for row, (name, *rest) in zip(rows, shown, strict=False):
        work = row.work
        share = work.done / work.total if work is not None and work.total else 0.0
        bars = [ProgressBar(total=1, completed=share, width=bar)] if bar else []
        grid.add_row(Text(name), *bars, *map(Text, rest))
    if hidden:
        grid.add_row(Text(f"... and {hidden} more jobs", style="dim"))
    return grid


def _cells(row: ScreenRow) -> tuple[str, str, str, str, str]:
    """Return name, share (or number) done, rate, time left (or taken), metrics."""
    work = row.work
    if work is None:
        return row.what, "", "", clock(time.time() - row.since), row.news or ""
    done = f"{work.done / work.total:.0%}" if work.total else f"{work.done:,}"
    left = "" if work.left is None else f"{clock(work.left)} left"
    return row.what, done, work.speed, left, " ".join(figures(work.figures)) or work.what
