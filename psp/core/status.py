"""The status file of a running job, beside its log, for watchers in other processes or on other machines.

A workflow job has a file ``<log>.progress`` (``results/fr/logs/train.log.progress``) from its start to its end. A job
that is killed leaves its file behind; :meth:`Status.state` detects that.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SUFFIX = ".progress"
EVERY = 1.0  # seconds at least between two writes, which take 0.1 ms each
#: Seconds without an update after which a job on another machine may be dead. This file is the only sign of life, and
#: some steps (training sentencepiece) have nothing to count for many minutes.
SILENT = 600.0


@dataclasses.dataclass(frozen=True)
class WorkStatus:
    """Work being counted: ``done`` of ``total`` units, recent ``rate`` per second, and metrics (``figures``)."""

    what: str
    unit: str
    done: int
    total: int | None
    rate: float
    figures: dict[str, Any]

    @property
    def left(self) -> float | None:
        """Seconds left at that rate, if known."""
        return (self.total - self.done) / self.rate if self.total and self.rate else None

    @property
    def speed(self) -> str:
        """The rate as text, such as ``29,512 pairs/s`` or ``0.12 passes/s``."""
        return f"{self.rate:,.0f} {self.unit}/s" if self.rate >= 10 else f"{self.rate:.2g} {self.unit}/s"

    def line(self, taken: float | None = None) -> str:
        """Describe the work: ``training: 13,840 pairs of 30,000 (46%), 128 pairs/s, 0:02:06 left, loss 0.04421``.

        Args:
            taken: seconds the work took, once it has ended.
        """
        of = f" of {self.total:,} ({self.done / self.total:.0%})" if self.total else ""
        parts = [f"{self.done:,} {self.unit}{of}", self.speed]
        if taken is not None:
            parts.append(f"{clock(taken)} in all")
        elif self.left is not None:
            parts.append(f"{clock(self.left)} left")
        return f"{self.what}: {', '.join(parts + figures(self.figures))}"


@dataclasses.dataclass(frozen=True)
class Status:
    """A job's process and its current work, if it is counted. Times are in seconds since 1970."""

    host: str
    pid: int
    born: int | None  # the system's start time: process ids are reused
    started: float
    written: float
    work: WorkStatus | None

    def state(self) -> str:
        """Return ``running``, ``dead`` (process gone) or ``silent`` (other machine, no update for 10 minutes)."""
        if self.host == socket.gethostname():
            return "running" if born(self.pid) == (True, self.born) else "dead"
        return "running" if time.time() - self.written < SILENT else "silent"


def read(path: Path) -> Status | None:
    """Read a status file; return None if it does not exist (any more) or is not one."""
    try:
        value = json.loads(path.read_bytes())
        work = value.pop("work")
        if value.pop("format") != 1:
            return None
        return Status(**value, work=work and WorkStatus(**work))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def clock(seconds: float) -> str:
    """Format a duration, such as 0:01:30, or 2 days, 3:04:05."""
    return str(datetime.timedelta(seconds=round(seconds)))


def figures(named: dict[str, Any]) -> list[str]:
    """Format metrics, such as ``loss 0.04421``: floats with 4 digits."""
    return [f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in named.items()]


class _Place:
    """This process's status file. Failing to write it does not stop the work."""

    def __init__(self, path: Path, status: Status) -> None:
        self.path, self.status = path, status
        self.writer = os.getpid()

    def write(self, work: WorkStatus | None) -> None:
        if os.getpid() != self.writer:  # a fork, which inherits its parent's bar
            return
        self.status = dataclasses.replace(self.status, written=time.time(), work=work)
        temporary = self.path.with_name(f".{self.path.name}.part")
        try:
            temporary.write_text(json.dumps({"format": 1, **dataclasses.asdict(self.status)}), encoding="utf-8")
            temporary.replace(self.path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()

    def remove(self) -> None:
        there = read(self.path)
        if there is not None and (there.host, there.pid) == (self.status.host, self.status.pid):
            with contextlib.suppress(OSError):
                self.path.unlink()


_place: _Place | None = None


@contextlib.contextmanager
def of_job(log_file: Path | str | None) -> Iterator[None]:
    """Keep a status file beside this process's log file, if it has one, during the block."""
    global _place
    if log_file is None:
        yield
        return
    now = time.time()
    status = Status(socket.gethostname(), os.getpid(), born(os.getpid())[1], now, now, None)
    _place = _Place(Path(f"{log_file}{SUFFIX}"), status)
    _place.write(None)
    try:
        yield
    finally:
        place, _place = _place, None
        place.remove()


def join(log_file: Path | str) -> None:
    """Write into the status file of the job that started this process, which still owns the file."""
    global _place
    path = Path(f"{log_file}{SUFFIX}")
    if (status := read(path)) is not None:
        _place = _Place(path, status)


def tell(work: WorkStatus | None) -> None:
    """Write the current work (None: work without a count) to this process's status file, if it has one."""
    if _place is not None:
        _place.write(work)


def born(pid: int) -> tuple[bool, int | None]:
    """Return whether a process exists, and when it was started if the system reports it (Linux)."""
    try:
        # The program's name, in parentheses, may contain anything.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return fields[0] not in (b"Z", b"X"), int(fields[19])
    except (OSError, IndexError, ValueError):
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False, None
    except PermissionError:
        pass
    return True, None
