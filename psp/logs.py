"""Logging for programs that use the library: the command line and the workflow's scripts."""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from psp.errors import PspError

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


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
            logging.getLogger("psp").exception("this is a bug in psp; please report it with this log")
        raise
