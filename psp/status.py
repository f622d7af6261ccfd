"""What a running job is doing, in a small file beside its log, for whoever watches from another process or machine.

A job of the workflow has one place, ``<log>.progress`` (``results/fr/logs/train.log.progress``), from its start to its
end. What is there when the job is not has been left by one that was killed: :meth:`Status.state` tells them apart.
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
EVERY = 1.0  # seconds, at least, between two writes: 0.1 ms each
#: Of a job on another machine one hears by this file alone, and some steps (sentencepiece's training) have nothing to
#: count for many minutes.
SILENT = 600.0


@dataclasses.dataclass(frozen=True)
class Work:
    """What is being counted: ``done`` of ``total`` units, ``rate`` a second in the last minute, figures beside it."""

    what: str
    unit: str
    done: int
    total: int | None
    rate: float
    figures: dict[str, Any]

    @property
    def left(self) -> float | None:
        """Seconds to go at that rate, where that can be told."""
        return (self.total - self.done) / self.rate if self.total and self.rate else None

    @property
    def speed(self) -> str:
        """Such as ``29,512 pairs/s`` or ``0.12 passes/s``."""
        return f"{self.rate:,.0f} {self.unit}/s" if self.rate >= 10 else f"{self.rate:.2g} {self.unit}/s"

    def line(self, taken: float | None = None) -> str:
        """Such as ``training: 13,840 pairs of 30,000 (46%), 128 pairs/s, 0:02:06 left, loss 0.04421``.

        Args:
            taken: of work that has ended, the seconds that it took.
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
    """A job's process, and what it counts at present, if anything. Times are seconds since 1970."""

    host: str
    pid: int
    born: int | None  # by the system's own count: a number may be another process's by now
    started: float
    written: float
    work: Work | None

    def state(self, now: float | None = None) -> str:
        """``running``; ``dead``: its process is gone; or ``silent``: on another machine, unheard of for ten minutes."""
        if self.host == socket.gethostname():
            return "running" if _born(self.pid) == (True, self.born) else "dead"
        return "running" if (now or time.time()) - self.written < SILENT else "silent"


def read(path: Path) -> Status | None:
    """What a status file holds; None = there is none (any more), or it is not one."""
    try:
        value = json.loads(path.read_bytes())
        work = value.pop("work")
        if value.pop("format") != 1:
            return None
        return Status(**value, work=work and Work(**work))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def clock(seconds: float) -> str:
    """Such as 0:01:30, or 2 days, 3:04:05."""
    return str(datetime.timedelta(seconds=round(seconds)))


def figures(named: dict[str, Any]) -> list[str]:
    """Such as ``loss 0.04421``: floats with 4 digits."""
    return [f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in named.items()]


class _Place:
    """This process's status file. A file that cannot be written is no reason to stop the work."""

    def __init__(self, path: Path, status: Status) -> None:
        self.path, self.status = path, status
        self.writer = os.getpid()

    def write(self, work: Work | None) -> None:
        if os.getpid() != self.writer:  # a fork has its parent's bar
            return
        self.status = dataclasses.replace(self.status, written=time.time(), work=work)
        temporary = self.path.with_name(f".{self.path.name}.part")
        with contextlib.suppress(OSError):
            temporary.write_text(json.dumps({"format": 1, **dataclasses.asdict(self.status)}), encoding="utf-8")
            temporary.replace(self.path)

    def remove(self) -> None:
        there = read(self.path)
        if there is not None and (there.host, there.pid) == (self.status.host, self.status.pid):
            self.path.unlink(missing_ok=True)


_place: _Place | None = None


@contextlib.contextmanager
def of_job(log_file: Path | str | None) -> Iterator[None]:
    """Within the block this process has a status file beside its log file, if it has one."""
    global _place
    if log_file is None:
        yield
        return
    now = time.time()
    status = Status(socket.gethostname(), os.getpid(), _born(os.getpid())[1], now, now, None)
    _place = _Place(Path(f"{log_file}{SUFFIX}"), status)
    _place.write(None)
    try:
        yield
    finally:
        place, _place = _place, None
        place.remove()


def join(log_file: Path | str) -> None:
    """Write into the status file of the job that has started this process, which is that job's still."""
    global _place
    path = Path(f"{log_file}{SUFFIX}")
    if (status := read(path)) is not None:
        _place = _Place(path, status)


def tell(work: Work | None) -> None:
    """Write down what is being done, where this process has a place for it; None = nothing that is counted."""
    if _place is not None:
        _place.write(work)


def _born(pid: int) -> tuple[bool, int | None]:
    """Whether there is a process of that number, and when it was started, where the system tells (Linux)."""
    try:
        # The name of the program, in parentheses, may hold anything.
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
