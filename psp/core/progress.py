"""Progress of long work: a bar on a terminal, or a line a minute in the log and on standard error."""

from __future__ import annotations

import datetime
import logging
import sys
import time
from collections import deque
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from tqdm import tqdm

log = logging.getLogger(__name__)

LOG_SECONDS = 60.0
#: The rate is averaged over this long: several mega-batches of training, which alternates mining and steps.
RECENT_SECONDS = 60.0
#: Bar format with metrics beside it. Training's five metrics fit into 80 columns, but only without the bar.
FIGURES = "{desc} {percentage:.0f}%|{bar}| {rate_fmt}, {remaining} left{postfix}"
NARROW = 90
#: Whether a terminal gets a bar. Jobs of the workflow write lines, since several of them share one terminal.
draws_bars = True


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
        self._long = self._ended = False
        self._first = (self._last, done)
        self._recent = deque([self._first])  # (time, units done), at most one per second
        self._bar = _bar(self) if draws_bars and sys.stderr.isatty() else None

    def add(self, count: int = 1, **extra: Any) -> None:
        """Count ``count`` more units; show ``extra`` metrics (loss=..., dev=...) beside them, floats with 4 digits."""
        self.done += count
        self._extra.update(extra)
        now = time.monotonic()
        if now - self._recent[-1][0] >= 1:
            self._recent.append((now, self.done))
            while self._recent[1][0] <= now - RECENT_SECONDS:  # always keep one sample that old, for slow work
                self._recent.popleft()
        if self._bar is not None:
            if extra:
                self._bar.set_postfix_str(" ".join(_figures(self._extra)), refresh=False)
            self._bar.update(count)
        elif now - self._last >= LOG_SECONDS:
            self._last, self._long = now, True
            self._log()

    @property
    def rate(self) -> float:
        """Units per second: over the last minute, or over all the work once it has ended."""
        then, done = self._first if self._ended else self._recent[0]
        return (self.done - done) / max(time.monotonic() - then, 1e-9)

    def line(self) -> str:
        """Describe the work: ``training: 13,840 pairs of 30,000 (46%), 128 pairs/s, 0:02:06 left, loss 0.04421``."""
        rate, total = self.rate, self.total
        of = f" of {total:,} ({self.done / total:.0%})" if total else ""
        parts = [
            f"{self.done:,} {self.unit}{of}",
            f"{rate:,.0f} {self.unit}/s" if rate >= 10 else f"{rate:.2g} {self.unit}/s",
        ]
        if self._ended:
            parts.append(f"{clock(time.monotonic() - self._first[0])} in all")
        elif total and rate:
            parts.append(f"{clock((total - self.done) / rate)} left")
        return f"{self.what}: {', '.join(parts + _figures(self._extra))}"

    def _log(self) -> None:
        log.info("%s", self.line(), extra={"of_long_work": self._long})

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        self._ended = True
        if self._bar is not None:
            self._bar.close()
        elif kind is None:
            self._log()


def clock(seconds: float) -> str:
    """Format a duration, such as 0:01:30, or 2 days, 3:04:05."""
    return str(datetime.timedelta(seconds=round(seconds)))


def _figures(named: dict[str, Any]) -> list[str]:
    """Format metrics, such as ``loss 0.04421``: floats with 4 digits."""
    return [f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in named.items()]


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
