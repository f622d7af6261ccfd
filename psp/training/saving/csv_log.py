"""Metrics written during training: rows that stay readable after a kill and do not depend on the clock.

``metrics.csv`` and ``dev.csv`` are the same for the same input, settings, seed and threads, whether or not training was
resumed; rates and seconds go to ``timing.csv``, which is never compared.
"""

from __future__ import annotations

import csv
import io
import numbers
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from psp.core.errors import DataError

METRICS = ("step", "epoch", "pairs", "megabatch", "learning_rate", "loss")
TIMING = ("step", "pairs", "seconds", "pairs_per_second", "mining_ms_per_step", "other_ms_per_step")


class CsvLog:
    """A CSV file whose rows appear whole: each is one write, handed to the system at once."""

    def __init__(self, path: Path, columns: tuple[str, ...], content: bytes = b"") -> None:
        self._path, self._columns = path, columns
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # a process that outlived its Snakemake may write into that file still
            self._file: IO[bytes] = path.open("wb", buffering=0)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}; choose another folder", path) from error
        if content:
            self._append(content)
        else:
            self._write(columns)

    def row(self, values: Mapping[str, Any]) -> None:
        """Append a row: one value for each column."""
        self._write([_text(values[column]) for column in self._columns])

    def close(self) -> None:
        self._file.close()

    def _write(self, cells: Any) -> None:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow(cells)
        self._append(text.getvalue().encode())

    def _append(self, line: bytes) -> None:
        try:
            while line:  # a full disk takes a part of it first; only the next write fails
                line = line[self._file.write(line) :]
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}; free space and train again", self._path) from error


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class MetricsLog:
    """The three tables of a run, in ``folder``.

    Args:
        folder: where they are written.
        log_every: steps between two rows of metrics.csv and timing.csv.
        resume: the :meth:`state` at the checkpoint from which training resumes, and the contents of the tables then
            (:meth:`files`); rows that a killed run wrote after it are dropped.
    """

    FILES = ("metrics.csv", "timing.csv", "dev.csv")

    def __init__(
        self, folder: Path, log_every: int, resume: tuple[Mapping[str, Any], Mapping[str, bytes]] | None = None
    ) -> None:
        self._folder, self._log_every = folder, log_every
        state, files = resume or ({}, {})
        (folder / "dev.csv").unlink(missing_ok=True)  # of an earlier run; a new one appears with the first evaluation
        self._metrics = CsvLog(folder / "metrics.csv", METRICS, files.get("metrics.csv", b""))
        self._timing = CsvLog(folder / "timing.csv", TIMING, files.get("timing.csv", b""))
        self._dev: CsvLog | None = None
        self.history: list[dict[str, Any]] = list(state.get("history", []))
        if self.history:
            self._dev = CsvLog(folder / "dev.csv", self._dev_columns(self.history[0]), files["dev.csv"])
        self._last: dict[str, Any] = dict(state.get("last", {}))
        self._start = time.monotonic() - state.get("seconds", 0.0)
        self._reset()
        self._losses, self._steps = state.get("losses", 0.0), state.get("steps", 0)

    def state(self) -> dict[str, Any]:
        """The state of the steps since the last row, and of all evaluations, as JSON."""
        return {
            "losses": self._losses,
            "steps": self._steps,
            "last": self._last,
            "history": self.history,
            "seconds": time.monotonic() - self._start,
        }

    def files(self) -> dict[str, bytes]:
        """The contents of the tables as they are now."""
        names = self.FILES if self._dev else self.FILES[:-1]
        return {name: (self._folder / name).read_bytes() for name in names}

    def __enter__(self) -> MetricsLog:
        return self

    def __exit__(self, *error: object) -> None:
        for table in (self._metrics, self._timing, self._dev):
            if table is not None:
                table.close()

    def step(self, *, step: int, epoch: int, pairs: int, megabatch: int, learning_rate: float, loss: float) -> None:
        """Count a step; every ``log_every`` steps a row is written, with the mean loss of the steps since the last."""
        self._losses += loss
        self._steps += 1
        self._new_steps += 1
        self._new_pairs += pairs - self._last.get("pairs", 0)
        self._last = {
            "step": step,
            "epoch": epoch,
            "pairs": pairs,
            "megabatch": megabatch,
            "learning_rate": learning_rate,
        }
        if self._steps >= self._log_every:  # greater if training resumed with a smaller log_every
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
                # After a resume another process made a row's first steps: rates count only this process's steps.
                "pairs_per_second": self._new_pairs / max(seconds, 1e-9),
                "mining_ms_per_step": 1e3 * self._mining / max(self._new_steps, 1),
                "other_ms_per_step": 1e3 * (seconds - self._mining) / max(self._new_steps, 1),
            }
        )
        self._reset()

    def evaluation(self, step: int, epoch: int, pairs: int, scores: Mapping[str, Any], seconds: float) -> None:
        """Record an evaluation on development data; its single numbers become columns of dev.csv."""
        self._elsewhere += seconds
        self.history.append({"step": step, "epoch": epoch, "pairs": pairs, **scores})
        if self._dev is None:
            self._dev = CsvLog(self._folder / "dev.csv", self._dev_columns(self.history[-1]))
        self._dev.row(self.history[-1])

    @staticmethod
    def _dev_columns(row: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(
            name
            for name, value in row.items()
            if value is None or (isinstance(value, numbers.Real) and not isinstance(value, bool))
        )

    def _reset(self) -> None:
        self._losses, self._steps, self._mining, self._elsewhere = 0.0, 0, 0.0, 0.0
        self._new_steps = self._new_pairs = 0
        self._since = time.monotonic()
