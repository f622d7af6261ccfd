"""Writing the store: a file object whose errors reach the writer, and columns written in chunks."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import h5py
import numpy as np

CHUNK = 65_536  # elements of a chunk


class Disk(io.RawIOBase):
    """The file that HDF5 writes to, which hides from it that the disk is full.

    After a failed write, HDF5 can neither close the file nor drop it, and the process ends in a segmentation fault
    (seen with h5py 3.16). The first error is therefore kept for :meth:`check` to raise, and later writes, little more
    than HDF5's caches, stay in memory.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("w+b", buffering=0)
        self._error: OSError | None = None
        self._kept: list[tuple[int, bytes]] = []

    def check(self) -> None:
        """Raise the first error of a write."""
        if self._error is not None:
            raise self._error

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        size = len(rest)
        try:
            while self._error is None and len(rest):
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self._error = error
        if len(rest):
            self._kept.append((self._file.tell(), bytes(rest)))
            self._file.seek(len(rest), io.SEEK_CUR)
        return size

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        start = self._file.tell()
        view[:] = self._file.read(len(view)).ljust(len(view), b"\0")
        for place, data in self._kept:
            low, high = max(start, place), min(start + len(view), place + len(data))
            if low < high:
                view[low - start : high - start] = data[low - place : high - place]
        self._file.seek(start + len(view))
        return len(view)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def truncate(self, size: int | None = None) -> int:
        try:
            return self._file.truncate(size)
        except OSError as error:
            self._error = self._error or error
            return size or 0

    def close(self) -> None:
        self._file.close()
        super().close()


class Column:
    """A growing dataset, written in whole chunks: partial ones would be read back, checked and rewritten."""

    def __init__(self, file: h5py.File, name: str, dtype: Any) -> None:
        # fletcher32 has no measurable cost, and turns a bit flipped on disk into an error on reading.
        self._dataset = file.create_dataset(
            name, (0,), maxshape=(None,), chunks=(CHUNK,), dtype=dtype, fletcher32=True, track_times=False
        )
        self._waiting: list[np.ndarray] = []
        self._written = self.length = 0

    def append(self, values: np.ndarray) -> None:
        self._waiting.append(values.astype(self._dataset.dtype, copy=False))
        self.length += len(values)
        if self.length - self._written >= 8 * CHUNK:
            self._write((self.length - self._written) // CHUNK * CHUNK)

    def flush(self) -> None:
        self._write(self.length - self._written)

    def _write(self, count: int) -> None:
        values = np.concatenate(self._waiting) if self._waiting else np.zeros(0, self._dataset.dtype)
        self._dataset.resize((self._written + count,))
        self._dataset[self._written :] = values[:count]
        self._written += count
        self._waiting = [values[count:]]
