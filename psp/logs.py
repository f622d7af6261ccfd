"""Logging for programs that use the library: the command line and the workflow's scripts."""

from __future__ import annotations

import contextlib
import logging
import sys
from collections.abc import Iterator
from pathlib import Path

from psp.errors import PspError

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class _Short(logging.Formatter):
    """For people at a terminal: ``error: what is wrong and what to do``."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{record.levelname.lower()}: {record.getMessage()}"


@contextlib.contextmanager
def job(log_file: Path | str | None = None, level: int = logging.INFO) -> Iterator[None]:
    """Run a job's body: log to ``log_file`` (and warnings to stderr), end on a :class:`PspError` with one line.

    With no ``log_file`` everything goes to stderr. A :class:`PspError` is logged, printed as one line, and ends
    the process with status 1; any other exception is a bug and keeps its traceback.
    """
    handlers: list[logging.Handler] = [logging.StreamHandler(sys.stderr)]
    handlers[0].setFormatter(_Short())
    if log_file is not None:
        Path(log_file).parent.mkdir(parents=True, exist_ok=True)
        handlers[0].setLevel(logging.WARNING)
        handlers.append(logging.FileHandler(log_file, mode="w", encoding="utf-8"))
        handlers[1].setFormatter(logging.Formatter(FORMAT))
    logging.basicConfig(level=level, handlers=handlers, force=True)
    logging.captureWarnings(True)
    try:
        yield
    except PspError as error:
        logging.getLogger("psp").debug("error", exc_info=True)
        logging.getLogger("psp").error("%s", error)
        raise SystemExit(1) from None
    except Exception:
        if log_file is not None:
            logging.getLogger("psp").exception("this is a bug in psp; please report it with this log")
        raise
