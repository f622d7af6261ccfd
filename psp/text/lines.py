r"""Read UTF-8 lines, which only ``\n`` ends, also by line number, without holding the text in memory.

Universal newlines and ``str.splitlines`` also break at a lone CR, U+0085, U+2028 and others, which would shift the
alignment of all following lines; they are not used here.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from psp.core.errors import DataError
from psp.core.limits import limits

BLOCK_BYTES = 4 << 20
_READ = 1 << 16  # bytes read at a time


class LineFile:
    """Random access to the lines of a file, with 8 bytes per line in memory. The file must not change.

    Attributes:
        path: the file.
        sha256: SHA-256 of its bytes, in hexadecimal.

    Raises:
        DataError: the file cannot be read, is empty, or is a pipe.
    """

    def __init__(self, path: Path | str) -> None:
        import numpy as np  # here, since every start of `psp` imports this module

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
            raise DataError("is empty; write one sentence per line", self.path)
        self._starts = np.concatenate(starts)
        if len(long := np.flatnonzero(np.diff(np.append(self._starts, size)) > limits().line_bytes + 1)):
            raise _too_long(limits().line_bytes, self.path, int(long[0]) + 1)
        if self._starts[-1] != size:  # the last line has no line feed
            self._starts = np.append(self._starts, size)
        self.sha256 = digest.hexdigest()

    def __len__(self) -> int:
        """The number of lines."""
        return len(self._starts) - 1

    def __getitem__(self, number: int) -> str:
        """Return a line without its end; numbers start at 0."""
        start, stop = int(self._starts[number]), int(self._starts[number + 1])
        return os.pread(self._file.fileno(), stop - start, start).removesuffix(b"\n").decode("utf-8")

    def chunks(self, size: int) -> Iterator[list[str]]:
        """Yield all lines in order, ``size`` at a time.

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


def read_lines(stream: IO[bytes], path: Path | str) -> Iterator[str]:
    r"""Decode the lines of a binary stream, without their ``\n``.

    A last line without ``\n`` counts; an empty rest after the last ``\n`` does not. ``path`` is used in errors.

    Raises:
        DataError: a line is not UTF-8 (file, line and byte are named), or longer than the limit
            (:mod:`psp.core.limits`).
    """
    before = 0
    for lines in _line_blocks(stream, path):
        try:
            yield from b"\n".join(lines).decode("utf-8").split("\n")
        except UnicodeDecodeError:
            for number, line in enumerate(lines, start=before + 1):
                try:
                    yield line.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise DataError(
                        f"not UTF-8 (byte {error.start + 1} of the line is {line[error.start]:#04x}); convert the file",
                        path,
                        number,
                    ) from None
        before += len(lines)


def raw_lines(stream: IO[bytes], path: Path | str, first: int = 1) -> Iterator[bytes]:
    r"""The lines of a binary stream as bytes, with their ``\n``; ``first`` is the number of the first, for errors.

    Raises:
        DataError: a line is longer than the limit.
    """
    for lines in _line_blocks(stream, path, first - 1, ends=True):
        yield from lines


def _line_blocks(stream: IO[bytes], path: Path | str, before: int = 0, ends: bool = False) -> Iterator[list[bytes]]:
    """Yield blocks of whole lines, as many as one reading gives, with their ``\n`` if ``ends`` says so."""
    most = limits().line_bytes
    # What a pipe holds now, if the stream can tell, so that lines do not wait for others.
    read: Callable[[int], bytes | None] = getattr(stream, "read1", stream.read)
    rest = b""
    while block := read(_READ):
        block = rest + block if rest else block
        cut = block.rfind(b"\n") + 1
        head, rest = block[:cut], block[cut:]
        if head:
            lines = head[:-1].split(b"\n")
            longest = max(map(len, lines)) if most < _READ else len(lines[0])  # only the first had a beginning
            if longest > most:
                place = next(place for place, line in enumerate(lines) if len(line) > most)
                raise _too_long(most, path, before + place + 1)
            before += len(lines)
            yield [line + b"\n" for line in lines] if ends else lines
        if len(rest) > most:
            raise _too_long(most, path, before + 1)
    if rest:
        yield [rest]


def _too_long(most: int, path: Path | str, number: int) -> DataError:
    return DataError(
        f"a line of more than {most:,} bytes (limits.line_bytes); if undamaged, raise that limit", path, number
    )
