r"""Lines by the chunk: no Python call for a line, and memory that neither their number nor their length fills.

Only ``\n`` ends a line; a last line without it counts, and an empty rest after the last one does not.
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

from psp.errors import DataError

# Some thousand sentences: what a chunk costs by itself (a message to another process, a write) is then below 0.05 us
# a sentence, and what waits in memory is little.
TEXT_BYTES = 256 << 10


class Chunk(NamedTuple):
    r"""Whole lines with ``\n`` between them, none after the last; the number of the first, from 1; and how many."""

    text: bytes
    first: int
    rows: int


class Source:
    """A file, or standard input, to be read in order.

    Args:
        stream: binary.
        name: for errors.
    """

    def __init__(self, stream: IO[bytes], name: Path | str) -> None:
        self.stream, self.name = stream, name
        self.done = 0  # bytes
        self.size: int | None = None  # in bytes, of a file
        self._number: int | None = None
        with contextlib.suppress(OSError):  # io.UnsupportedOperation is one: a stream within this process
            self._number = stream.fileno()
            status = os.fstat(self._number)
            self.size = status.st_size if stat.S_ISREG(status.st_mode) else None

    def fileno(self) -> int | None:
        """The number by which the system knows the stream; None where it does not."""
        return self._number

    def read(self) -> bytes:
        """What there is next; empty at the end.

        Raises:
            DataError: it cannot be read.
        """
        try:
            data = self.stream.read(TEXT_BYTES)
            if data is None:  # somebody has set it to return at once; cat gives up as well
                raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", self.name) from None
        self.done += len(data)
        return data

    def read_so_far(self) -> dict[str, str]:
        """The share of a file that was read, for a bar."""
        return {"read": f"{self.done / self.size:.0%}"} if self.size else {}


@contextlib.contextmanager
def opened(path: Path | str | None) -> Iterator[Source]:
    """A file; for None or ``-`` standard input.

    Raises:
        DataError: it cannot be read.
    """
    if path is None or str(path) == "-":
        if sys.stdin is None:
            raise DataError("is closed; name a file", "standard input")
        stream: IO[bytes] = sys.stdin.buffer
        with contextlib.suppress(io.UnsupportedOperation):  # unbuffered, so that poll() tells what can be read
            stream = open(stream.fileno(), "rb", buffering=0, closefd=False)  # noqa: SIM115 (a number, no path)
        yield Source(stream, "standard input")
        return
    path = Path(path)
    try:
        file = path.open("rb", buffering=0)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    with file:
        yield Source(file, path)


class Chunker:
    """Cuts what is read into chunks, wherever the reads end.

    Args:
        rows: the most lines of a chunk.
        size: the most bytes of a chunk; a line that is longer is a chunk by itself.
    """

    def __init__(self, rows: int, size: int = TEXT_BYTES) -> None:
        self._rows, self._size = rows, size
        self._held = bytearray()
        self._searched = 0  # bytes held in which there is no line's end for a chunk to stop at
        self._next = 1

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """Add bytes; the chunks that they complete."""
        self._held += data
        while len(self._held) > self._size:
            end = self._held.rfind(b"\n", self._searched, self._size)
            if end < 0:
                end = self._held.find(b"\n", max(self._searched, self._size))
            if end < 0:
                self._searched = len(self._held)
                return
            yield from self._cut(end)
            self._searched = 0

    def end(self) -> Iterator[Chunk]:
        """The chunks of what is left."""
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
        # In parts of about one size: a few lines by themselves would cost a whole chunk's messages.
        parts = -(-rows // self._rows)
        ends = np.append(np.flatnonzero(np.frombuffer(text, np.uint8) == 0x0A), len(text))
        start = done = 0
        for part in range(1, parts + 1):
            until = rows * part // parts
            stop = int(ends[until - 1])
            yield Chunk(text[start:stop], first + done, until - done)
            start, done = stop + 1, until


def chunks(source: Source, rows: int, size: int = TEXT_BYTES) -> Iterator[Chunk]:
    """All of a source, by the chunk.

    Raises:
        DataError: it cannot be read.
    """
    chunker = Chunker(rows, size)
    while data := source.read():
        yield from chunker.feed(data)
    yield from chunker.end()


def texts_of(chunk: Chunk, name: Path | str) -> tuple[list[str], DataError | None]:
    """The lines of a chunk; where one is not UTF-8, those before it and the error that names it."""
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
