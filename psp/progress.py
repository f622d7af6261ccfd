"""Progress of long work: a bar on a terminal, a line every half minute in a log."""

from __future__ import annotations

import logging
import sys
import time
from types import TracebackType
from typing import Any

log = logging.getLogger(__name__)

LOG_SECONDS = 30.0


class Progress:
    """Count units of work and show their rate and the time left.

    Args:
        what: what is being done, as a person would say it ("filtering OpenSubtitles").
        unit: what is counted ("pairs", "bytes").
        total: how many there will be, where that is known.
    """

    def __init__(self, what: str, unit: str, total: int | None = None) -> None:
        self.what, self.unit, self.total = what, unit, total
        self.done = 0
        self._extra: dict[str, Any] = {}
        self._start = self._last = time.monotonic()
        self._bar = None
        if sys.stderr.isatty():
            from tqdm import tqdm  # only where there is a terminal to draw on

            self._bar = tqdm(
                total=total,
                desc=what,
                unit=f" {unit}",
                unit_scale=True,
                unit_divisor=1024 if unit == "bytes" else 1000,
                dynamic_ncols=True,
            )

    def add(self, count: int = 1, **extra: Any) -> None:
        """Count ``count`` more units; ``extra`` is shown beside them (loss=..., dev=...)."""
        self.done += count
        self._extra.update(extra)
        if self._bar is not None:
            if extra:
                self._bar.set_postfix(self._extra, refresh=False)
            self._bar.update(count)
        elif time.monotonic() - self._last >= LOG_SECONDS:
            self._last = time.monotonic()
            log.info("%s", self._line())

    @property
    def rate(self) -> float:
        """Units a second since the start."""
        return self.done / max(time.monotonic() - self._start, 1e-9)

    def _line(self) -> str:
        of = f" of {self.total:,} ({self.done / self.total:.0%})" if self.total else ""
        left = f", {(self.total - self.done) / self.rate:,.0f} s left" if self.total and self.done else ""
        extra = "".join(f", {name} {value}" for name, value in self._extra.items())
        return f"{self.what}: {self.done:,} {self.unit}{of}, {self.rate:,.0f} {self.unit}/s{left}{extra}"

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
        elif kind is None:
            log.info("%s", self._line())
