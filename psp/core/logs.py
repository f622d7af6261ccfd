"""Logging for programs that use the library: the command line and the workflow's scripts."""

from __future__ import annotations

import contextlib
import logging
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from psp.core import run, status
from psp.core.errors import PspError

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
#: The first line of a log record; other lines continue the record before.
RECORD = re.compile(r"(?:process \d+: )?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ([A-Z]+) [\w.]+: (.*)")
LAST_CHARACTERS = 1 << 16  # of a log, searched for its last error
BUG = "this is a bug in psp; please report it with this log"


class _Short(logging.Formatter):
    """For people at a terminal: ``error: what is wrong and what to do``."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{record.levelname.lower()}: {record.getMessage()}"


def start(log_file: Path | str | None = None, level: int = logging.INFO, process: int | None = None) -> None:
    """Log to ``log_file``, with warnings to stderr as well; without a file log everything to stderr.

    Args:
        log_file: truncated first, unless ``process`` is given.
        level: the lowest level logged.
        process: this process's number, if several append to one existing file.
    """
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    handlers[0].setFormatter(_Short())
    if log_file is not None:
        Path(log_file).parent.mkdir(parents=True, exist_ok=True)
        if process is None:
            Path(log_file).write_bytes(b"")
        handlers[0].setLevel(logging.WARNING)
        handlers.append(logging.FileHandler(log_file, mode="a", encoding="utf-8"))
        if process == 0:
            status.join(log_file)
        handlers[1].setFormatter(logging.Formatter(f"process {process}: {FORMAT}" if process else FORMAT))
    logging.basicConfig(level=level, handlers=handlers, force=True)
    logging.captureWarnings(True)


@contextlib.contextmanager
def job(log_file: Path | str | None = None, level: int = logging.INFO) -> Iterator[None]:
    """Run a job's body with logging as in :func:`start`, and turn errors into one line and an exit status.

    A :class:`PspError` is logged, printed as one line, and ends the process with its status, usually 1. Ctrl-C ends it
    with one line and status 130. Any other exception is a bug and keeps its traceback.
    """
    try:
        run.check()  # before the log of the next run's job is touched
    except PspError as error:
        raise SystemExit(f"error: {error}") from None
    start(log_file, level)
    try:
        with status.of_job(log_file):
            yield
    except PspError as error:
        logging.getLogger("psp").debug("error", exc_info=True)
        logging.getLogger("psp").error("%s", error)
        raise SystemExit(error.status) from None
    except KeyboardInterrupt:
        logging.getLogger("psp").error("stopped by Ctrl-C or a signal")
        raise SystemExit(128 + signal.SIGINT) from None
    except Exception:
        if log_file is not None:
            logging.getLogger("psp").exception(BUG)
        raise


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
            said = [line.strip() for line in lines if line.strip()]
            if said[0] == BUG:
                return f"this is a bug in psp ({said[-1]}); please report it with {log_file}"
            return " ".join(said)
    return None
