"""Progress of long work: a bar on a terminal, a line every 30 s in a log, and a job's status file for watchers."""

from __future__ import annotations

import logging
import sys
import time
from collections import deque
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any, NoReturn

from psp.core import status

if TYPE_CHECKING:
    from tqdm import tqdm

log = logging.getLogger(__name__)

LOG_SECONDS = 30.0
#: The rate is averaged over this long: several mega-batches of training, which alternates mining and steps.
RECENT_SECONDS = 60.0
#: Bar format with metrics beside it. Training's five metrics fit into 80 columns, but only without the bar.
FIGURES = "{desc} {percentage:.0f}%|{bar}| {rate_fmt}, {remaining} left{postfix}"
NARROW = 90


class Progress:
    """Count units of work; show their recent rate and the time left.

    Args:
        what: what is being done ("filtering OpenSubtitles").
        unit: what is counted ("pairs", "bytes").
        total: the number of units, if known.
        done: units done by an earlier run, when resuming; they count for the bar, not for the rate.
    """

    def __init__(self, what: str, unit: str, total: int | None = None, done: int = 0) -> None:
        self.what, self.unit, self.total = what, unit, total
        self.done = done
        self._extra: dict[str, Any] = {}
        self._last = time.monotonic()
        self._ended = False
        self._first = (self._last, done)
        self._recent = deque([self._first])  # (time, units done), at most one per second
        self._bar = _bar(self) if sys.stderr.isatty() else None
        self._told = self._last
        status.tell(self._work())

    def add(self, count: int = 1, **extra: Any) -> None:
        """Count ``count`` more units; show ``extra`` metrics (loss=..., dev=...) beside them, floats with 4 digits."""
        self.done += count
        self._extra.update(extra)
        now = time.monotonic()
        if now - self._recent[-1][0] >= 1:
            self._recent.append((now, self.done))
            while self._recent[1][0] <= now - RECENT_SECONDS:  # always keep one sample that old, for slow work
                self._recent.popleft()
        if now - self._told >= status.EVERY:
            self._told = now
            status.tell(self._work())
        if self._bar is not None:
            if extra:
                self._bar.set_postfix_str(" ".join(status.figures(self._extra)), refresh=False)
            self._bar.update(count)
        elif now - self._last >= LOG_SECONDS:
            self._last = now
            log.info("%s", self._line())

    @property
    def rate(self) -> float:
        """Units per second: over the last minute, or over all the work once it has ended."""
        then, done = self._first if self._ended else self._recent[0]
        return (self.done - done) / max(time.monotonic() - then, 1e-9)

    def _work(self) -> status.WorkStatus:
        return status.WorkStatus(self.what, self.unit, self.done, self.total, self.rate, dict(self._extra))

    def _line(self) -> str:
        work = self._work()
        return work.line(taken=time.monotonic() - self._first[0]) if self._ended else work.line()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._ended = True
        status.tell(None)
        if self._bar is not None:
            self._bar.close()
        elif kind is None:
            log.info("%s", self._line())


def _bar(progress: Progress) -> tqdm[NoReturn] | None:
    try:
        from tqdm import tqdm  # only if there is a terminal to draw on
    except ImportError:  # optional for using a model: log lines instead
        return None

    class Bar(tqdm):
        """Use our rate (tqdm's jumps between mining and steps) and drop the bar, not the metrics, if space is short."""

        @property
        def format_dict(self) -> MutableMapping[str, Any]:
            values = super().format_dict
            values["rate"] = progress.rate
            if values["total"] and values["postfix"]:
                narrow = (values["ncols"] or NARROW) < NARROW
                values["bar_format"] = FIGURES.replace("|{bar}|", "") if narrow else FIGURES
            return values

    return Bar(
        total=progress.total,
        initial=progress.done,
        desc=progress.what,
        unit=f" {progress.unit}",
        unit_scale=True,
        unit_divisor=1024 if progress.unit == "bytes" else 1000,
        dynamic_ncols=True,
    )
