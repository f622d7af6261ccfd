"""What training writes while it runs: rows that a killed run leaves readable, and nothing of the clock among them.

``metrics.csv`` and ``dev.csv`` are the same for the same input, settings, seed and threads; rates and seconds go to
``timing.csv``, which is never compared.
"""

from __future__ import annotations

import csv
import io
import numbers
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from psp.errors import DataError

METRICS = ("step", "epoch", "pairs", "megabatch", "learning_rate", "loss")
TIMING = ("step", "pairs", "seconds", "pairs_per_second", "mining_ms_per_step", "other_ms_per_step")


class Table:
    """A CSV file whose rows appear whole: each is one write, handed to the system at once."""

    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        self._path, self._columns = path, columns
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open("wb", buffering=0)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}; choose another folder", path) from error
        self._write(columns)

    def row(self, values: Mapping[str, Any]) -> None:
        """Append a row: one value for each column."""
        self._write([_text(values[column]) for column in self._columns])

    def close(self) -> None:
        self._file.close()

    def _write(self, cells: Any) -> None:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow(cells)
        try:
            self._file.write(line.getvalue().encode())
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}; free space and train again", self._path) from error


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class Records:
    """The three tables of a run, in ``folder``; metrics and timing get a row every ``log_every`` steps."""

    def __init__(self, folder: Path, log_every: int) -> None:
        self._folder, self._log_every = folder, log_every
        (folder / "dev.csv").unlink(missing_ok=True)  # of an earlier run; a new one appears with the first evaluation
        self._metrics = Table(folder / "metrics.csv", METRICS)
        self._timing = Table(folder / "timing.csv", TIMING)
        self._dev: Table | None = None
        self.history: list[dict[str, Any]] = []
        self._start = time.monotonic()
        self._last: dict[str, Any] = {}
        self._reset()

    def __enter__(self) -> Records:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for table in (self._metrics, self._timing, self._dev):
            if table is not None:
                table.close()

    def step(self, *, step: int, epoch: int, pairs: int, megabatch: int, learning_rate: float, loss: float) -> None:
        """Count a step; every ``log_every`` steps a row is written, with the mean loss of the steps since the last."""
        self._losses += loss
        self._steps += 1
        self._last = {
            "step": step,
            "epoch": epoch,
            "pairs": pairs,
            "megabatch": megabatch,
            "learning_rate": learning_rate,
        }
        if self._steps == self._log_every:
            self.flush()

    def mined(self, seconds: float) -> None:
        """Count time spent on mining."""
        self._mining += seconds

    def flush(self) -> None:
        """Write the row of the steps since the last row, if there were any."""
        if not self._steps:
            return
        self._metrics.row({**self._last, "loss": self._losses / self._steps})
        now = time.monotonic()
        seconds = now - self._since - self._elsewhere
        self._timing.row(
            {
                "step": self._last["step"],
                "pairs": self._last["pairs"],
                "seconds": now - self._start,
                "pairs_per_second": (self._last["pairs"] - self._pairs) / max(seconds, 1e-9),
                "mining_ms_per_step": 1e3 * self._mining / self._steps,
                "other_ms_per_step": 1e3 * (seconds - self._mining) / self._steps,
            }
        )
        self._reset()

    def evaluation(self, step: int, epoch: int, pairs: int, scores: Mapping[str, Any], seconds: float) -> None:
        """Record an evaluation on development data; its single numbers become columns of dev.csv."""
        self._elsewhere += seconds
        self.history.append({"step": step, "epoch": epoch, "pairs": pairs, **scores})
        if self._dev is None:
            columns = [name for name, value in scores.items() if value is None or isinstance(value, numbers.Real)]
            self._dev = Table(self._folder / "dev.csv", ("step", "epoch", "pairs", *columns))
        self._dev.row(self.history[-1])

    def _reset(self) -> None:
        self._losses, self._steps, self._mining, self._elsewhere = 0.0, 0, 0.0, 0.0
        self._pairs = self._last.get("pairs", 0)
        self._since = time.monotonic()
