"""A text file whose lines are read by their numbers, without the text in memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from psp.errors import DataError
from psp.text import read_lines

BLOCK_BYTES = 4 << 20


class LineFile:
    """Where each line of a file begins: 8 bytes a line are in memory. The file must stay as it is.

    Attributes:
        path: the file.
        sha256: of its bytes, in hexadecimal.

    Raises:
        DataError: the file cannot be read, holds nothing, or is a pipe.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        digest = hashlib.sha256()
        starts, size = [np.zeros(1, np.int64)], 0
        try:
            self._file = self.path.open("rb")
            if not self._file.seekable():
                raise DataError("is a pipe; its lines are read more than once, so write them to a file", self.path)
            while block := self._file.read(BLOCK_BYTES):
                digest.update(block)
                starts.append(np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + (size + 1))
                size += len(block)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", self.path) from None
        if size == 0:
            raise DataError("is empty; write one sentence a line", self.path)
        self._starts = np.concatenate(starts)
        if self._starts[-1] != size:  # the last line has no line feed
            self._starts = np.append(self._starts, size)
        self.sha256 = digest.hexdigest()

    def __len__(self) -> int:
        """The number of lines."""
        return len(self._starts) - 1

    def __getitem__(self, number: int) -> str:
        """A line without its end; numbers are from 0."""
        start, stop = int(self._starts[number]), int(self._starts[number + 1])
        return os.pread(self._file.fileno(), stop - start, start).removesuffix(b"\n").decode("utf-8")

    def chunks(self, size: int) -> Iterator[list[str]]:
        """All lines in their order, ``size`` at a time.

        Raises:
            DataError: a line is not UTF-8 (its number is named).
        """
        self._file.seek(0)
        chunk: list[str] = []
        for line in read_lines(self._file, self.path):
            chunk.append(line)
            if len(chunk) == size:
                yield chunk
                chunk = []
        if chunk:
            yield chunk
