"""Vectors and neighbours in files, for texts whose vectors do not fit into memory, and for runs that are killed.

A file of rows only grows, a block at a time, so a killed run loses at most the block that it was writing.
"""

from __future__ import annotations

import contextlib
import fcntl
import logging
import mmap
import os
import resource
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np

from psp.core.errors import ConfigError, DataError
from psp.core.files import read_json, write_json
from psp.core.logs import Progress
from psp.inference.search.vectors import IndexBlock, Rows, nothing_known, to_stored
from psp.text.lines import LineFile

log = logging.getLogger(__name__)

JOB, LOCK = "job.json", "lock"
#: Bytes of memory that embedding and exact search take at 1,024 dimensions, besides the model.
LEAST = 320 << 20
#: Rows read at a time by their numbers. Linux maps up to 64 KB around each: with 20,000 rows, all of a file of 256 MB.
AT_ONCE = 1024


class GrowingArray:
    """An array in a file, to which rows are appended. What a killed process wrote of an unfinished row is cut off.

    Attributes:
        path: the file: the rows' numbers, without a header.
        dtype: of one row: a number or an array of numbers.
    """

    def __init__(self, path: Path, dtype: np.dtype) -> None:
        self.path, self.dtype = path, dtype
        path.touch()
        self.cut(len(self))

    def __len__(self) -> int:
        """The number of whole rows."""
        return self.path.stat().st_size // self.dtype.itemsize

    def append(self, rows: np.ndarray, durable: bool = True) -> None:
        """Add rows; where they are durable, the disk has them afterwards, even if the machine fails."""
        with self.path.open("ab") as file:
            file.write(np.ascontiguousarray(rows).data)
            file.flush()
            if durable:
                os.fsync(file.fileno())

    def cut(self, rows: int) -> None:
        """Keep the first rows alone."""
        os.truncate(self.path, rows * self.dtype.itemsize)

    def mapped(self) -> np.ndarray:
        """The rows, memory-mapped."""
        return mapped(self.path, self.dtype, len(self))


class HeldArray:
    """A :class:`GrowingArray` in memory."""

    def __init__(self, dtype: np.dtype) -> None:
        self._blocks = [np.zeros((0, *dtype.shape), dtype.base)]

    def __len__(self) -> int:
        """The number of rows."""
        return sum(map(len, self._blocks))

    def append(self, rows: np.ndarray) -> None:
        """Add rows."""
        self._blocks.append(rows)

    def mapped(self) -> np.ndarray:
        """The rows."""
        return np.concatenate(self._blocks)


class ReleasedRows:
    """A memory-mapped array that keeps no page in memory: what is read is a copy, and the pages are given back."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self.shape, self.dtype = rows.shape, rows.dtype

    def __len__(self) -> int:
        """The number of rows."""
        return len(self._rows)

    def __getitem__(self, which: Any) -> np.ndarray:
        """Copy rows."""
        if not (isinstance(which, np.ndarray) and which.dtype.kind == "i"):
            copied = np.array(self._rows[which])
            release(self._rows)
            return copied
        numbers = which.ravel()
        copied = np.empty((len(numbers), *self.shape[1:]), self.dtype)
        order = np.argsort(numbers)  # rows of the same pages one after the other
        for start in range(0, len(order), AT_ONCE):
            some = order[start : start + AT_ONCE]
            copied[some] = self._rows[numbers[some]]
            release(self._rows)
        return copied.reshape(*which.shape, *self.shape[1:])


def mapped(path: Path, dtype: np.dtype, rows: int, mode: Literal["r", "r+"] = "r") -> np.ndarray:
    """Map a file of rows; one without rows cannot be mapped, and is an empty array."""
    if rows == 0:
        return np.zeros((0, *dtype.shape), dtype.base)
    return np.memmap(path, dtype.base, mode, shape=(rows, *dtype.shape))


def release(rows: Rows) -> None:
    """Give back the pages of a memory-mapped array; they are read from the file again when they are needed."""
    if isinstance(rows, np.memmap):
        rows._mmap.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]  # NumPy has no public name for it


@contextlib.contextmanager
def resumable(out: Path, job: dict[str, Any]) -> Iterator[Path]:
    """Yield the folder ``<out>.work``; that of a process that was killed or failed is gone on with.

    Success removes it. An error leaves it if it holds vectors, which may have taken hours.

    Args:
        out: what is made.
        job: what decides what is in the folder.

    Raises:
        DataError: it holds another job's work, another process works in it, or it cannot be written.
    """
    folder = out.with_name(f"{out.name}.work")
    with contextlib.ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context((folder / LOCK).open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError("another process makes it now; wait for it, or choose another place", out) from None
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}; choose another place", out) from error
        if (folder / JOB).exists():
            begun = read_json(folder / JOB)
            changed = [name for name, value in job.items() if not isinstance(begun, dict) or begun.get(name) != value]
            if changed:
                raise DataError(
                    f"an unfinished run left this with another {' and '.join(changed)}; give the same again to go on, "
                    "or remove the folder",
                    folder,
                )
            log.info("going on with what an unfinished run left in %s", folder)
        else:
            write_json(folder / JOB, job)
        try:
            yield folder
        except Exception as error:
            # A whole block at least, and not of blank lines alone.
            kept = all(any(path.stat().st_size for path in folder.rglob(name)) for name in ("*.done", "*vectors*"))
            if not kept:
                shutil.rmtree(folder)
            if not isinstance(error, OSError):
                if kept:
                    log.warning("what was done is kept in %s: the same command goes on from there", folder)
                raise
            advice = (
                f"what was done is kept in {folder}; free space and give the same command again"
                if kept
                else ("free space or choose another place")
            )
            raise DataError(f"cannot be written: {error.strerror or error}; {advice}", out) from error
        shutil.rmtree(folder)


def write_vectors(
    folder: Path,
    name: str,
    dim: int,
    dtype: np.dtype,
    corpus: LineFile,
    blocks: Callable[[int], Iterator[IndexBlock]],
) -> tuple[np.ndarray, np.ndarray]:
    """Write the vectors of a corpus as ``<name>.vectors`` and their lines as ``<name>.lines``, from where they end.

    Args:
        folder: of :func:`resumable`.
        dim: of a vector.
        dtype: of its numbers, in the file.
        blocks: the corpus's blocks from a line on.

    Returns:
        Memory-mapped: the vectors, ``dtype`` (rows, dim), and the lines, int64 (rows,).

    Raises:
        DataError: no line has a vector.
    """
    vectors = GrowingArray(folder / f"{name}.vectors", np.dtype((dtype, (dim,))))
    lines = GrowingArray(folder / f"{name}.lines", np.dtype(np.int64))
    done = GrowingArray(folder / f"{name}.done", np.dtype((np.int64, (2,))))  # lines read and rows written, each block
    whole = [pair for pair in done.mapped().tolist() if pair[1] <= min(len(vectors), len(lines))]
    read, rows = whole[-1] if whole else (0, 0)
    vectors.cut(rows)
    lines.cut(rows)
    done.cut(len(whole))
    with Progress(f"embedding {corpus.path.name}", "lines", len(corpus), done=read) as bar:
        for block in blocks(read) if read < len(corpus) else ():
            vectors.append(to_stored(block.rows, dtype))
            lines.append(block.lines)
            read, rows = read + block.read, rows + len(block.rows)
            done.append(np.array([[read, rows]], np.int64))
            bar.add(block.read)
    if rows == 0:
        raise nothing_known(corpus)
    return vectors.mapped(), lines.mapped()


def memory_peak() -> int:
    """Most memory that this process has held so far, in bytes.

    Linux counts in ru_maxrss also what the process that started this one had held, and so the status is read there:
    started by a test runner of 1.5 GB, `psp mine` of 400 MB once refused `--memory 700M`.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * next(int(line.split()[1]) for line in status.read_text().splitlines() if "VmHWM" in line)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def spare(memory: int) -> int:
    """Bytes left for search of the memory that a process may take.

    Raises:
        ConfigError: they do not suffice.
    """
    taken = memory_peak()
    if memory - taken < LEAST:
        raise ConfigError(
            f"--memory: the model and its libraries take {taken >> 20:,} MB already; write "
            f"{(taken + LEAST >> 20) + 1:,}M or more"
        )
    return memory - taken
