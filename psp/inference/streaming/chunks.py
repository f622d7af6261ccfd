r"""Read lines in chunks, without Python calls per line and in memory independent of their number.

Only ``\n`` ends a line. A last line without it counts; an empty rest after the last ``\n`` does not.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from psp.core import limits
from psp.core.errors import DataError
from psp.core.packed import opened as unpacked
from psp.text.lines import check_plain

# Some thousand sentences: the overhead per chunk (a message to another process, a write) is then below 0.05 us per
# sentence, and little data is queued in memory.
TEXT_BYTES = 256 << 10


class Chunk(NamedTuple):
    r"""Whole lines joined by ``\n``, the number of the first line (from 1), and the number of lines."""

    text: bytes
    first: int
    rows: int


class ChunkSource:
    """A file, or standard input, to be read sequentially.

    Args:
        stream: binary.
        name: for errors.
    """

    def __init__(self, stream: IO[bytes], name: Path | str) -> None:
        self.stream, self.name = stream, name
        self.done = 0  # bytes
        self.size: int | None = None  # in bytes, for a regular file
        self._number: int | None = None
        with contextlib.suppress(OSError):  # io.UnsupportedOperation, from an in-memory stream
            self._number = stream.fileno()
            status = os.fstat(self._number)
            self.size = status.st_size if stat.S_ISREG(status.st_mode) else None

    def fileno(self) -> int | None:
        """Return the stream's file descriptor; None for an in-memory stream."""
        return self._number

    def read(self) -> bytes:
        """Read the next bytes; empty at the end.

        Raises:
            DataError: it cannot be read, or is no plain text by its first bytes.
        """
        try:
            data = self.stream.read(TEXT_BYTES)
            if data is None:  # a non-blocking descriptor; cat fails as well
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", self.name) from None
        if self.done == 0:
            check_plain(data, self.name)
        self.done += len(data)
        return data

    def read_so_far(self) -> dict[str, str]:
        """Return the share of the file read so far, for a progress bar."""
        return {"read": f"{self.done / self.size:.0%}"} if self.size else {}


@contextlib.contextmanager
def opened(path: Path | str | None) -> Iterator[ChunkSource]:
    """Open a file, which may be compressed, or standard input for None or ``-``.

    Raises:
        DataError: it cannot be read.
    """
    if path is None or str(path) == "-":
        if sys.stdin is None:
            raise DataError("is closed; name a file", "standard input")
        stream: IO[bytes] = sys.stdin.buffer
        with contextlib.suppress(io.UnsupportedOperation):  # unbuffered, so that poll() is accurate
            stream = open(stream.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115 (a descriptor, not a path)
        yield ChunkSource(stream, "standard input")
        return
    path = Path(path)
    with unpacked(path) as (file, stream):
        # A plain file unbuffered, so that poll() is accurate: it may be a pipe.
        yield ChunkSource(file.raw if stream is file else stream, path)  # type: ignore[attr-defined]


class Chunker:
    """Splits a byte stream into chunks of whole lines, regardless of how it is read.

    Args:
        rows: maximum lines of a chunk.
        size: maximum bytes of a chunk; a longer line is a chunk by itself.
        name: of the source, for errors.
    """

    def __init__(self, rows: int, size: int = TEXT_BYTES, name: Path | str = "input") -> None:
        self._rows, self._size, self._name, self._longest = rows, size, name, limits.LINE_BYTES
        self._held = bytearray()
        self._searched = 0  # held bytes known to contain no line end at which to cut
        self._next = 1

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """Add bytes; yield the chunks that they complete.

        Raises:
            DataError: a line is longer than the limit (:mod:`psp.core.limits`).
        """
        self._held += data
        while len(self._held) > self._size:
            end = self._held.rfind(b"\n", self._searched, self._size)
            if end < 0:
                end = self._held.find(b"\n", max(self._searched, self._size))
            if (len(self._held) if end < 0 else end) > max(self._longest, self._size):
                raise DataError(
                    f"a line of more than {self._longest:,} bytes; is this text? If so, break the line up",
                    self._name,
                    self._next,
                )
            if end < 0:
                self._searched = len(self._held)
                return
            yield from self._cut(end)
            self._searched = 0

    def end(self) -> Iterator[Chunk]:
        """Yield the remaining chunks."""
        if self._held.endswith(b"\n"):
            yield from self._cut(len(self._held) - 1)
        elif self._held:
            self._held += b"\n"
            yield from self._cut(len(self._held) - 1)

    def _cut(self, end: int) -> Iterator[Chunk]:
        with memoryview(self._held) as held:
            text = bytes(held[:end])
        del self._held[: end + 1]
        rows = text.count(b"\n") + 1
        first, self._next = self._next, self._next + rows
        if rows <= self._rows:
            yield Chunk(text, first, rows)
            return
        # Split evenly: a small last part would cost as much overhead as a full chunk.
        parts = -(-rows // self._rows)
        ends = np.append(np.flatnonzero(np.frombuffer(text, np.uint8) == 0x0A), len(text))
        start = done = 0
        for part in range(1, parts + 1):
            until = rows * part // parts
            stop = int(ends[until - 1])
            yield Chunk(text[start:stop], first + done, until - done)
            start, done = stop + 1, until


def chunks(source: ChunkSource, rows: int, size: int = TEXT_BYTES) -> Iterator[Chunk]:
    """Read a whole source in chunks.

    Raises:
        DataError: it cannot be read.
    """
    chunker = Chunker(rows, size, source.name)
    while data := source.read():
        yield from chunker.feed(data)
    yield from chunker.end()


def texts_of(chunk: Chunk, name: Path | str) -> tuple[list[str], DataError | None]:
    """Decode the lines of a chunk; if one is not UTF-8, return those before it and an error that names it."""
    try:
        return chunk.text.decode().split("\n"), None
    except UnicodeDecodeError as error:
        start = chunk.text.rfind(b"\n", 0, error.start) + 1  # of the line
        number = chunk.first + chunk.text.count(b"\n", 0, start)
        message = (
            f"not UTF-8 (byte {error.start - start + 1} of the line is {chunk.text[error.start]:#04x}); "
            "convert the file"
        )
        before = chunk.text[: start - 1].decode().split("\n") if start else []
        return before, DataError(message, name, number)
