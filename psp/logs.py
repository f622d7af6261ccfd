"""Logging for programs that use the library: the command line and the workflow's scripts."""

from __future__ import annotations

import contextlib
import logging
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from psp import status
from psp.errors import PspError

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
#: A line that begins a record in that form; the others go on with the one before.
RECORD = re.compile(r"(?:process \d+: )?\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} ([A-Z]+) [\w.]+: (.*)")
LAST_CHARACTERS = 1 << 16  # of a log, in which the last error is
BUG = "this is a bug in psp; please report it with this log"


class _Short(logging.Formatter):
    """For people at a terminal: ``error: what is wrong and what to do``."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{record.levelname.lower()}: {record.getMessage()}"


def start(log_file: Path | str | None = None, level: int = logging.INFO, process: int | None = None) -> None:
    """Log to ``log_file``, and warnings to stderr; with no file everything goes to stderr.

    Args:
        log_file: begun anew, unless this is one of several processes.
        level: what is below it goes nowhere.
        process: the number of this one of several processes that write into one file; it has been begun.
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
    """Run a job's body: log to ``log_file`` (and warnings to stderr), end on a :class:`PspError` with one line.

    With no ``log_file`` everything goes to stderr. A :class:`PspError` is logged, printed as one line, and ends
    the process with its status, 1 as a rule; Ctrl-C ends it with a line too, and status 130. Any other exception is a
    bug and keeps its traceback.
    """
    start(log_file, level)
    try:
        with status.of_job(log_file):
            yield
    except PspError as error:
        logging.getLogger("psp").debug("error", exc_info=True)
        logging.getLogger("psp").error("%s", error)
        raise SystemExit(error.status) from None
    except KeyboardInterrupt:
        logging.getLogger("psp").error("stopped at once, as asked by Ctrl-C or a signal")
        raise SystemExit(128 + signal.SIGINT) from None
    except Exception:
        if log_file is not None:
            logging.getLogger("psp").exception(BUG)
        raise


def last_error(log_file: Path | str) -> str | None:
    """What a job's log tells last of what went wrong; None: nothing, or there is no such file.

    Of a bug it is the exception, and that the log is to be sent in.
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
