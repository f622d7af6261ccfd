r"""Read UTF-8 lines, which only ``\n`` ends, also by line number, without holding the text in memory.

Universal newlines and ``str.splitlines`` also break at a lone CR, U+0085, U+2028 and others, which would shift the
alignment of all following lines; they are not used here.
"""

from __future__ import annotations

import codecs
import hashlib
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from psp.core import files
from psp.core.errors import DataError
from psp.core.files import SUFFIXES, check_plain, open_regular, opened

BLOCK_BYTES = 4 << 20
_READ = 1 << 16  # bytes read at a time
#: Lines from one remembered start to the next; reading one line takes a read of so many.
GROUP = 16


class LineFile:
    """Random access to the lines of a file, with half a byte per line in memory. The file must not change.

    A compressed file is unpacked to a temporary file without a name, on the disk.

    Attributes:
        path: the file.
        sha256: SHA-256 of its bytes, unpacked, in hexadecimal.

    Raises:
        DataError: the file cannot be read, is empty, is not regular, or is no plain text; or a line is not UTF-8 (its
            number is named), which is found here, before hours of work on the lines above.
    """

    def __init__(self, path: Path | str) -> None:
        import numpy as np  # here, since every start of `psp` imports this module

        self.path = Path(path)
        digest = hashlib.sha256()
        starts, size, count, began = [np.zeros(1, np.int64)], 0, 0, 0  # began: the start of the line that is being read
        most, decoder = files.LINE_BYTES, codecs.getincrementaldecoder("utf-8")()
        try:
            self._file = self._unpacked()
            while block := self._file.read(BLOCK_BYTES):
                if size == 0:
                    check_plain(block, self.path)
                digest.update(block)
                decoder.decode(block)
                ends = np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + (size + 1)
                if len(long := np.flatnonzero(np.diff(ends, prepend=began) > most + 1)):
                    raise _too_long(most, self.path, count + int(long[0]) + 1)
                starts.append(ends[-(count + 1) % GROUP :: GROUP])
                size, count, began = size + len(block), count + len(ends), int(ends[-1]) if len(ends) else began
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            self._file.seek(0)
            for _ in read_lines(self._file, self.path):  # raises at the line
                pass
            raise
        except OSError as error:
            raise _unreadable(error, self.path) from None
        if size == 0:
            raise DataError("is empty; write one sentence per line", self.path)
        if size - began > most:
            raise _too_long(most, self.path, count + 1)
        self._starts, self._size = np.concatenate(starts), size
        self._count = count + (size > began)  # the last line may have no line feed
        self.sha256 = digest.hexdigest()

    def _unpacked(self) -> IO[bytes]:
        if self.path.suffix.lower() not in SUFFIXES:
            return open_regular(self.path)
        try:
            file = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as this object)
            with opened(self.path, regular=True) as (_, stream):
                shutil.copyfileobj(stream, file, BLOCK_BYTES)
            file.seek(0)
        except OSError as error:
            problem = (
                f"cannot be unpacked to {tempfile.gettempdir()}: {error.strerror}; set TMPDIR to a folder with space"
            )
            raise DataError(problem, self.path) from None
        return file

    def __len__(self) -> int:
        """The number of lines."""
        return self._count

    def __getitem__(self, number: int) -> str:
        """Return a line without its end; numbers start at 0."""
        group, place = divmod(number, GROUP)
        start = int(self._starts[group])
        stop = int(self._starts[group + 1]) if group + 1 < len(self._starts) else self._size
        try:
            read = os.pread(self._file.fileno(), stop - start, start)
        except OSError as error:
            raise _unreadable(error, self.path) from None
        return read.split(b"\n", place + 1)[place].decode("utf-8")

    def chunks(self, size: int, first: int = 0) -> Iterator[list[str]]:
        """Yield the lines in order from number ``first`` on, ``size`` at a time.

        Raises:
            DataError: the file cannot be read.
        """
        group, skip = divmod(first, GROUP)
        self._file.seek(int(self._starts[group]))
        chunk: list[str] = []
        for line in itertools.islice(read_lines(self._file, self.path, group * GROUP), skip, None):
            chunk.append(line)
            if len(chunk) == size:
                yield chunk
                chunk = []
        if chunk:
            yield chunk


def read_lines(stream: IO[bytes], path: Path | str, before: int = 0) -> Iterator[str]:
    r"""Decode the lines of a binary stream, without their ``\n``.

    A last line without ``\n`` counts; an empty rest after the last ``\n`` does not. ``path`` and ``before``, the number
    of lines before the stream's first, are used in errors.

    Raises:
        DataError: the stream cannot be read, or is no plain text by its first bytes; or a line is not UTF-8 (file, line
            and byte are named), or longer than the limit (:mod:`psp.core.files`).
    """
    for lines in _line_blocks(stream, path, before):
        try:
            yield from b"\n".join(lines).decode("utf-8").split("\n")
        except UnicodeDecodeError:
            for number, line in enumerate(map(_decoded, lines), start=before + 1):
                if isinstance(line, bytes):
                    raise DataError(f"{not_utf8(line)}; convert the file", path, number) from None
                yield line
        before += len(lines)


def decoded_lines(stream: IO[bytes], path: Path | str) -> Iterator[str | bytes]:
    """As :func:`read_lines`, but a line that is not UTF-8 is handed on as bytes, and a byte order mark is dropped."""
    first = True
    for lines in _line_blocks(stream, path):
        if first:
            lines[0], first = lines[0].removeprefix(codecs.BOM_UTF8), False
        try:
            yield from b"\n".join(lines).decode("utf-8").split("\n")
        except UnicodeDecodeError:
            yield from map(_decoded, lines)


def _decoded(line: bytes) -> str | bytes:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line


def not_utf8(line: bytes) -> str:
    """Say which byte of a line is not UTF-8."""
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        return f"not UTF-8 (byte {error.start + 1} of the line is {line[error.start]:#04x})"
    raise ValueError("the line is UTF-8")


def raw_lines(stream: IO[bytes], path: Path | str, first: int = 1) -> Iterator[bytes]:
    r"""The lines of a binary stream as bytes, with their ``\n``; ``first`` is the number of the first, for errors.

    Raises:
        DataError: a line is longer than the limit, or the stream cannot be read.
    """
    for lines in _line_blocks(stream, path, first - 1, ends=True):
        yield from lines


def _line_blocks(stream: IO[bytes], path: Path | str, before: int = 0, ends: bool = False) -> Iterator[list[bytes]]:
    """Yield blocks of whole lines, as many as one reading gives, with their ``\n`` if ``ends`` says so."""
    most = files.LINE_BYTES
    # What a pipe holds now, if the stream can tell, so that lines do not wait for others.
    read: Callable[[int], bytes | None] = getattr(stream, "read1", stream.read)
    rest, whole = b"", before == 0
    while True:
        try:
            block = read(_READ)
        except OSError as error:
            raise _unreadable(error, path) from None
        if not block:
            break
        block = rest + block if rest else block
        if whole:
            check_plain(block, path)
            whole = False
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


def _unreadable(error: OSError, path: Path | str) -> DataError:
    return DataError(f"cannot be read: {error.strerror or error}", path)


def _too_long(most: int, path: Path | str, number: int) -> DataError:
    return DataError(f"a line of more than {most:,} bytes; is this text? If so, break the line up", path, number)
