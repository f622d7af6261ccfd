"""The command line, one module for each family of commands; here is what several of them share.

:mod:`psp.cli.main` lists the commands. Of the one that is run, ``psp`` imports the module, whose function
``add_COMMAND`` adds its arguments to the parser; ``run_COMMAND`` does the work, and the slow imports.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import logging
import os
import signal
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from psp.core.errors import ConfigError, DataError

if TYPE_CHECKING:
    from psp.models.text_model import TextModel

#: Bytes of about 50,000 sentences: embedding them takes as long as importing numba.
MUCH_TEXT = 4 << 20
#: More processes than cores gain nothing. A few extra are allowed: a container may report fewer cores than it has.
MOST_JOBS_OF_A_CORE, FEW_JOBS = 2, 8


def lines(path: Path | None) -> list[str]:
    """Read the lines of a file, or of standard input; see :func:`lines_of` for errors."""
    return list(lines_of(path))


def lines_of(path: Path | None) -> Iterator[str]:
    """The lines of a file, which is opened at once and may be compressed, or of standard input.

    Raises:
        DataError: the file cannot be read, or is not UTF-8.
    """
    from psp.core.files import opened
    from psp.text.lines import read_lines

    if path is None:
        return read_lines(sys.stdin.buffer, "standard input")
    stack = contextlib.ExitStack()
    _, stream = stack.enter_context(opened(path))
    return _closed_after(stack, read_lines(stream, path))


def _closed_after(stack: contextlib.ExitStack, read: Iterator[str]) -> Iterator[str]:
    with stack:
        yield from read


#: Options that name what a command writes; all others that name a file or a folder name what it reads.
WRITTEN = frozenset({"json", "markdown", "out", "report", "save_index", "sheet"})
#: Files by which the folders are known whose files commands read: models, indexes and results; and their endings.
READ_FOLDERS = ("config.json", "index.json", "eval.json")
READ_FILES = frozenset({".bin", ".faiss", ".json", ".model", ".npy", ".npz", ".safetensors", ".spm", ".txt"})


def check_outputs(options: argparse.Namespace) -> None:
    """Check that a command does not write over a file that it reads, by whatever name: a link, or standard output.

    Raises:
        ConfigError: it does.
    """
    values = {name: value if isinstance(value, list) else [value] for name, value in vars(options).items()}
    named = [(name, Path(one)) for name, every in values.items() for one in every if isinstance(one, str | Path)]
    read = [path for name, path in named if name not in WRITTEN]
    writes = any(name in WRITTEN for name, _ in named)
    folders = [path for path in read if writes and any(_status(path / name) for name in READ_FOLDERS)]
    inside = [path for folder in folders for path in folder.rglob("*") if path.suffix in READ_FILES]
    written: list[tuple[str, Path | int, list[Path]]] = [
        (f"--{name.replace('_', '-')} {path}", path, [*read, *inside]) for name, path in named if name in WRITTEN
    ]
    for what, out, sources in [*written, ("standard output", 1, read)]:  # the shell may have made it inside a folder
        about = _status(out)
        if about is None or not (stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode)):
            continue
        for path in sources:
            if (other := _status(path)) is not None and os.path.samestat(about, other):
                raise ConfigError(f"{what}: would write over {path}, which is read; name another place")


def _status(path: Path | int) -> os.stat_result | None:
    """What the system knows of a file or a descriptor; None if there is none."""
    try:
        return os.stat(path)  # noqa: PTH116  # a descriptor is no Path
    except (OSError, ValueError):
        return None


def write_lines(written: Iterable[str], out: Path | None) -> None:
    """Write lines to a file, or to standard output."""
    if out is None:
        sys.stdout.writelines(written)
    else:
        from psp.core.files import atomic_text

        with atomic_text(out) as file:
            file.writelines(written)


def model_argument(command: argparse.ArgumentParser) -> None:
    """Add ``MODEL``."""
    command.add_argument(
        "model",
        metavar="MODEL",
        help="a model's folder, such as results/fr/model; or starter (the package paraphrastic-starter), "
        "hf://USER/NAME, or https://ADDRESS.zip#sha256=CHECKSUM",
    )


def check_results(folder: Path) -> Path:
    """Check that a folder is one of results, and not the model in it.

    Raises:
        DataError: it is the model; its results are named.
    """
    if (folder / "config.json").is_file() and not (folder / "eval.json").is_file():
        parent = folder.resolve().parent
        there = f"; its results are in {folder.parent}" if (parent / "eval.json").is_file() else ""
        raise DataError(f"is a model, not a folder of results{there}", folder)
    return folder


def jobs(command: argparse.ArgumentParser) -> None:
    """Add ``--jobs``."""
    command.add_argument(
        "--jobs", type=positive, default=1, metavar="N", help="number of worker processes (default: 1)"
    )


def positive(text: str) -> int:
    """Read a number of at least 1; for argparse."""
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text} is not a positive integer")
    return int(text)


def shape_arguments(command: argparse.ArgumentParser) -> None:
    """Add ``--table`` and ``--dim``, for :func:`shaped`."""
    command.add_argument("--dim", type=positive, metavar="N", help="use the first N dimensions (default: all)")
    command.add_argument(
        "--table",
        choices=["float32", "float16", "int8", "int4"],
        help="type of the embedding matrix (default: as saved)",
    )


def shaped(model: TextModel, options: argparse.Namespace) -> TextModel:
    """The model with the table and the dimensions that :func:`shape_arguments` read.

    Raises:
        ConfigError: it cannot have them.
    """
    try:
        return model.quantized(options.table, options.dim)
    except ValueError as error:
        given = " and ".join(
            f"--{name} {value}" for name in ("table", "dim") if (value := getattr(options, name)) is not None
        )
        raise ConfigError(f"{given}: {error}") from None


def text_argument(command: argparse.ArgumentParser, what: str) -> None:
    """Add ``FILE``, what a command reads instead of standard input."""
    command.add_argument("file", nargs="?", type=Path, metavar="FILE", help=f"{what} (default: stdin)")


def threads(command: argparse.ArgumentParser) -> None:
    """Add ``--threads``, all cores by default."""
    command.add_argument(
        "--threads",
        type=positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="number of threads (default: all cores)",
    )


def for_several(jobs: int, size: int | None) -> bool | None:
    """Choose ``accelerate`` for a model used by several processes, so that compiled code is imported before the fork.

    Args:
        jobs: number of processes; with one, the model decides.
        size: bytes of text, if known; a small text gains nothing.
    """
    much = size is None or size > MUCH_TEXT
    return True if jobs > 1 and much and importlib.util.find_spec("numba") is not None else None


def capped(jobs: int) -> int:
    """Limit the number of processes to what is useful; warn if more were requested."""
    if jobs <= FEW_JOBS:
        return jobs
    from psp.core.machine import usable_cores

    cores = len(usable_cores())
    most = max(MOST_JOBS_OF_A_CORE * cores, FEW_JOBS)
    if jobs > most:
        logging.getLogger("psp").warning("--jobs %d: only %d cores; starting %d processes", jobs, cores, most)
    return min(jobs, most)


@contextlib.contextmanager
def printing() -> Iterator[None]:
    """Flush standard output at the end of the block; exit quietly if its reader has gone away.

    Raises:
        DataError: the disk that standard output goes to is full.
        SystemExit: the reader has gone away; the status is that of a program killed by SIGPIPE.
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
    except BrokenPipeError:  # exit like other Unix tools; Python ignores the signal that kills them
        _give_up_standard_output()
        raise SystemExit(128 + signal.SIGPIPE) from None


def _give_up_standard_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # otherwise flushing the buffer fails again at exit


class StandardOutput:
    """Writes bytes to standard output, unbuffered."""

    def write(self, data: bytes | memoryview, text: bytes = b"") -> None:
        """Write ``data``; ignore ``text``, which only some vector files store.

        Raises:
            BrokenPipeError: the reader has gone away.
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
    """Make SIGTERM end the block as Ctrl-C does, removing half-written files."""

    def stop(number: int, frame: object) -> NoReturn:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except _Terminated:
        logging.getLogger("psp").error("stopped by SIGTERM")
        raise SystemExit(128 + signal.SIGTERM) from None
    finally:
        signal.signal(signal.SIGTERM, before)
