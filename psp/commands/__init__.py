"""Commands of ``psp`` that use a model, each in a file of its own.

A command's file has ``add(command)``, where ``command(name, run, what)`` makes its parser. These files are imported at
every start of ``psp``: what is slow to import is imported by ``run``.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from psp.errors import DataError
from psp.text import read_lines

#: Bytes of some 50,000 sentences: as many as are embedded in the time that importing numba takes.
MUCH_TEXT = 4 << 20
#: Processes beyond the cores gain nothing; some are allowed, where a container shows fewer cores than it has.
MOST_JOBS_OF_A_CORE, FEW_JOBS = 2, 8


def lines(path: Path | None) -> list[str]:
    """The lines of a file, or of standard input.

    Raises:
        DataError: the file cannot be read, or is not UTF-8.
    """
    if path is None:
        return list(read_lines(sys.stdin.buffer, "standard input"))
    try:
        with path.open("rb") as file:
            return list(read_lines(file, path))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None


def jobs(command: argparse.ArgumentParser) -> None:
    """Add ``--jobs``."""
    command.add_argument(
        "--jobs", type=_positive, default=1, metavar="N", help="processes that share the table (default: 1)"
    )


def _positive(text: str) -> int:
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text} is no number of 1 or more")
    return int(text)


def for_several(jobs: int, size: int | None) -> bool | None:
    """``accelerate`` of a model that several processes use: compiled code is imported once, before they are started.

    Args:
        jobs: processes; of one alone, the model decides.
        size: bytes of text, where it is known: with little, nothing is gained.
    """
    much = size is None or size > MUCH_TEXT
    return True if jobs > 1 and much and importlib.util.find_spec("numba") is not None else None


def capped(jobs: int) -> int:
    """As many processes as are asked for, but no more than help: a warning tells where there are too many."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    most = max(MOST_JOBS_OF_A_CORE * cores, FEW_JOBS)
    if jobs > most:
        logging.getLogger("psp").warning("--jobs %d: there are %d cores; %d processes are started", jobs, cores, most)
    return min(jobs, most)


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Whatever the block prints has been written when it ends; a reader that has gone away ends the program quietly.

    Raises:
        DataError: the disk that standard output goes to is full.
        SystemExit: nobody reads any more; the status is that of a program which SIGPIPE has ended.
    """
    try:
        try:
            yield
        finally:
            try:
                sys.stdout.flush()
            except BrokenPipeError:
                raise
            except OSError as error:
                _give_up_standard_output()
                raise DataError(f"cannot be written: {error.strerror}", "standard output") from None
    except BrokenPipeError:  # as Unix tools end; Python ignores the signal that ends them
        _give_up_standard_output()
        raise SystemExit(128 + signal.SIGPIPE) from None


def _give_up_standard_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the buffer still holds would fail once more at the end


class StandardOutput:
    """Takes bytes, and has none of its own when they are written."""

    def write(self, data: bytes | memoryview, text: bytes = b"") -> None:
        """Write ``data``; ``text``, that a file of vectors may hold too, is not written.

        Raises:
            BrokenPipeError: nobody reads any more.
            DataError: the disk is full.
        """
        try:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        except OSError as error:
            _give_up_standard_output()
            if isinstance(error, BrokenPipeError):
                raise
            raise DataError(f"cannot be written: {error.strerror}", "standard output") from None


class _Terminated(KeyboardInterrupt):
    pass


@contextlib.contextmanager
def ending_well() -> Iterator[None]:
    """SIGTERM ends the block as Ctrl-C does, what is half-written removed."""

    def stop(number: int, frame: object) -> NoReturn:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except _Terminated:
        logging.getLogger("psp").error("stopped at once, as asked by SIGTERM")
        raise SystemExit(128 + signal.SIGTERM) from None
    finally:
        signal.signal(signal.SIGTERM, before)
