"""Logging for programs that use the library: the command line and the workflow's scripts."""

from __future__ import annotations

import contextlib
import datetime
import logging
import re
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from psp.core.errors import DataError, PspError, missing_extra
from psp.core.files import TAKES_NO_MORE

if TYPE_CHECKING:
    from tqdm import tqdm

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
#: The first line of a log record; other lines continue the record before.
RECORD = re.compile(r"(?:process \d+: )?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ([A-Z]+) [\w.]+: (.*)")
LAST_CHARACTERS = 1 << 16  # of a log, searched for its last error
BUG = "this is a bug in psp; please report it with this log"
OUT_OF_MEMORY = (
    "out of memory; on a cluster each new try of `--retries 2` asks for more, and `--set-resources RULE:mem_mb=N` sets "
    "a rule's; elsewhere end other programs or lower --cores"
)
#: Messages of torch and others, which raise no MemoryError.
NO_MEMORY = re.compile(
    r"can't allocate memory|not enough memory|out of memory|cannot allocate memory|std::bad_alloc", re.I
)


class _Short(logging.Formatter):
    """For people at a terminal: ``error: what is wrong and what to do``.

    Args:
        log_file: names the job in lines about its progress, since several jobs share a terminal.
    """

    def __init__(self, log_file: Path | str | None) -> None:
        super().__init__()
        self._log_file = log_file

    def format(self, record: logging.LogRecord) -> str:
        name = self._log_file if self._log_file is not None and _of_long_work(record) else record.levelname.lower()
        return f"{name}: {record.getMessage()}"


def _of_long_work(record: logging.LogRecord) -> bool:
    return getattr(record, "of_long_work", False)


def _for_people(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or _of_long_work(record)


class _LogFile(logging.FileHandler):
    """A log on a disk that may be full: lines that do not fit are lost, and work continues."""

    def handleError(self, record: logging.LogRecord) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            super().close()


def start(log_file: Path | str | None = None, level: int = logging.INFO, process: int | None = None) -> None:
    """Log to ``log_file``, with warnings and the progress of long work to stderr as well; without a file all to stderr.

    Args:
        log_file: truncated first, unless ``process`` is given.
        level: the lowest level logged.
        process: this process's number, if several append to one existing file.

    Raises:
        DataError: the log cannot be written.
    """
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    handlers[0].setFormatter(_Short(log_file))
    global draws_bars
    draws_bars = log_file is None
    if log_file is not None:
        try:
            Path(log_file).parent.mkdir(parents=True, exist_ok=True)
            if process is None:
                Path(log_file).write_bytes(b"")
            handlers.append(_LogFile(log_file, mode="a", encoding="utf-8"))
        except OSError as error:
            raise DataError(
                f"cannot be written: {error.strerror}; free space or choose another folder", log_file
            ) from None
        handlers[0].addFilter(_for_people)
        handlers[1].setFormatter(logging.Formatter(f"process {process}: {FORMAT}" if process else FORMAT))
    logging.basicConfig(level=level, handlers=handlers, force=True)
    logging.captureWarnings(True)


@contextlib.contextmanager
def job(log_file: Path | str | None = None, level: int = logging.INFO) -> Iterator[None]:
    """Run a job's body with logging as in :func:`start`, and turn errors into one line and an exit status.

    A :class:`PspError` is logged, printed as one line, and ends the process with its status, usually 1. Ctrl-C ends it
    with one line and status 130, and so do a lack of memory and a full disk with status 1. Any other exception is a bug
    and keeps its traceback.
    """
    try:
        if log_file is not None:  # a job of the workflow
            from psp.core import run

            run.check()  # before the log of the next run's job is touched
        start(log_file, level)
    except PspError as error:
        raise SystemExit(f"error: {error}") from None
    log = logging.getLogger("psp")
    try:
        yield
    except KeyboardInterrupt:
        log.error("stopped by Ctrl-C or a signal")
        raise SystemExit(128 + signal.SIGINT) from None
    except SystemExit as ended:
        if ended.code:
            raise
        log.error("something called sys.exit() before the work was done; remove the call from your own code")
        raise SystemExit(1) from ended
    except Exception as error:
        if (line := _told(error)) is not None:
            log.debug("error", exc_info=True)
            log.error("%s", line)
            raise SystemExit(error.status if isinstance(error, PspError) else 1) from None
        if log_file is not None:
            log.exception(BUG)
        raise


def _told(error: Exception) -> str | None:
    """What is wrong, in one line for the person who can fix it; None if that is a bug."""
    if isinstance(error, PspError):
        return str(error)
    if (line := missing_extra(error)) is not None:
        return line
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError | OSError) and NO_MEMORY.search(str(error))):
        return OUT_OF_MEMORY
    if isinstance(error, OSError) and error.errno in TAKES_NO_MORE:
        return f"{error.filename or 'a temporary file'}: cannot be written: {error.strerror}; free space and run again"
    from psp.core import user_code  # which few programs load

    return user_code.told(error)


def last_error(log_file: Path | str) -> str | None:
    """Return the last error in a job's log; None if there is none, or no such file.

    For a bug, name the exception and ask to report the log.
    """
    try:
        text = Path(log_file).read_text(encoding="utf-8", errors="replace")[-LAST_CHARACTERS:]
    except OSError:
        return None
    records: list[tuple[str, list[str]]] = []
    for line in text.split("\n"):
        if match := RECORD.fullmatch(line):
            records.append((match[1], [match[2]]))
        elif records:
            records[-1][1].append(line)
    for level, lines in reversed(records):
        if level == "ERROR":
            message_lines = [line.strip() for line in lines if line.strip()]
            if message_lines[0] == BUG:
                return f"this is a bug in psp ({message_lines[-1]}); please report it with {log_file}"
            return " ".join(message_lines)
    return None


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
