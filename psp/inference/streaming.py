r"""Embed or score lines in constant memory: read whole lines in chunks of a quarter of a megabyte, and work on each.

Only ``\n`` ends a line; no Python runs for each line where they are read. A last line without ``\n`` counts; an empty
rest after the last ``\n`` does not. :mod:`psp.inference.processes` does the same with several processes, and
:mod:`psp.inference.vectorfile` writes vectors.
"""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from psp.core import files
from psp.core.errors import DataError, PspError
from psp.core.files import check_plain
from psp.core.files import opened as unpacked
from psp.models.static import unknown_alone

if TYPE_CHECKING:
    from psp.models.text_model import TextModel

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
        self._rows, self._size, self._name, self._longest = rows, size, name, files.LINE_BYTES
        self._held = bytearray()
        self._searched = 0  # held bytes known to contain no line end at which to cut
        self._next = 1

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """Add bytes; yield the chunks that they complete.

        Raises:
            DataError: a line is longer than the limit (:mod:`psp.core.files`).
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


_VECTOR_BYTES = 8 << 20  # float32 vectors of a chunk
_MOST_ROWS = 8192
_TOO_LARGE = 65520  # rounds to infinity in float16
_SCORE_BYTES = len("\t-1.0000\n")
#: The end of a line that had CR LF.
_BEFORE_SCORE = re.compile(rb"\r(\t[^\t\n]*)\n")
_NOT_SEPARATORS = bytes(byte for byte in range(256) if byte not in b"\t\n")


class Embed:
    """Embeds lines.

    Args:
        model: the model.
        name: name of the file, for errors.
        dtype: dtype of the vectors, float32 or float16.
        normalize: scale vectors to unit length; zero vectors stay zero.
    """

    def __init__(self, model: TextModel, name: Path | str, dtype: str = "float32", *, normalize: bool = False) -> None:
        self._model, self._name, self._normalize = model, name, normalize
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self.rows = max(1, min(_MOST_ROWS, _VECTOR_BYTES // (4 * model.dim)))
        self.room = self.rows * model.dim * self._dtype.itemsize

    def __call__(self, chunk: Chunk, room: memoryview) -> tuple[int, PspError | None]:
        """Write the vectors, (rows, dim), into ``room``; write nothing if a line is not UTF-8."""
        texts, error = texts_of(chunk, self._name)
        if error is not None:
            return 0, error
        shape = (chunk.rows, self._model.dim)
        out = np.frombuffer(room, self._dtype, shape[0] * shape[1]).reshape(shape)
        if self._normalize:
            vectors = self._model.encode(texts, normalize_embeddings=True)
        else:
            vectors = self._model.embed_raw_text(texts)  # encode would copy them
        try:
            if self._dtype.itemsize == 2 and "psp.models.pooling" in sys.modules:  # compiled code is already loaded
                from psp.inference import halves

                halves.write(vectors, out)
            else:
                with np.errstate(over="raise"):
                    out[:] = vectors
        except FloatingPointError:
            row = int(np.flatnonzero((np.abs(vectors) >= _TOO_LARGE).any(axis=1))[0])
            message = "its vector is too large for float16; use float32"
            return 0, DataError(message, self._name, chunk.first + row)
        return out.nbytes, None


class PairScore:
    r"""Appends the cosine of the first two columns to each line. One that ends in ``\r\n`` still does so.

    Args:
        model: the model.
        name: name of the file, for errors.
    """

    def __init__(self, model: TextModel, name: Path | str) -> None:
        self._model, self._name = model, name
        self.rows = max(1, min(_MOST_ROWS, _VECTOR_BYTES // (4 * model.dim)) // 2)
        self.room = TEXT_BYTES + self.rows * _SCORE_BYTES

    def __call__(self, chunk: Chunk, room: memoryview) -> tuple[int | bytes, PspError | None]:
        """Write the lines into ``room``, up to the first that is not UTF-8 or has no second column."""
        lines, error = texts_of(chunk, self._name)
        if error is None and chunk.text.translate(None, _NOT_SEPARATORS) == (b"\t\n" * chunk.rows)[:-1]:
            columns = "\t".join(lines).split("\t")  # all lines at once: 5 times as fast
            pairs = list(zip(columns[0::2], columns[1::2], strict=True))
        else:
            pairs = []
            for number, line in enumerate(lines):
                left, tab, rest = line.partition("\t")
                if not tab:
                    message = "has one column; write two sentences separated by a tab"
                    lines, error = lines[:number], DataError(message, self._name, chunk.first + number)
                    break
                pairs.append((left, rest.partition("\t")[0]))
        scores = self._model.score_raw_text(pairs)
        made = "".join([f"{line}\t{score:.4f}\n" for line, score in zip(lines, scores, strict=True)]).encode()
        if b"\r" in made:
            made = _BEFORE_SCORE.sub(rb"\1\r\n", made)
        if len(made) > len(room):
            return made, error
        room[: len(made)] = made
        return len(made), error


log = logging.getLogger(__name__)

#: Lines examined: all at first, then this many of each chunk, which takes 1% of the time of embedding them.
FIRST, OF_CHUNK = 4096, 32


def percent(share: float) -> str:
    """A share above 0 in %, never as 0."""
    return "less than 1%" if share < 0.01 else f"{share:.0%}"


class UnknownShare:
    """Gathers the share of unknown pieces; :meth:`say` logs it.

    Args:
        model: the model.
        name: name of the file.
        columns: the tab-separated texts of a line; None: the line is one text.
    """

    def __init__(self, model: TextModel, name: Path | str, columns: int | None = None) -> None:
        self._model, self._name, self._columns = model, name, columns
        self._lines = self._texts = self._whole = self._first = 0
        self._unknown = 0.0
        self._all = True

    def add(self, chunk: Chunk) -> None:
        """Examine some lines of a chunk that has been embedded or scored."""
        most = OF_CHUNK if self._lines >= FIRST else FIRST
        lines = chunk.text.decode(errors="replace").split("\n", most)[: min(most, chunk.rows)]
        texts = (
            lines if self._columns is None else [text for line in lines for text in line.split("\t")[: self._columns]]
        )
        shares = self._model.unknown_shares(texts)
        whole = (shares == 1).nonzero()[0]
        if len(whole) and not self._whole:
            self._first = chunk.first + int(whole[0]) // (self._columns or 1)
        self._all &= len(lines) == chunk.rows
        self._lines += len(lines)
        self._texts += len(texts)
        self._whole += len(whole)
        self._unknown += float(shares.sum())

    def say(self) -> None:
        """Log the share, if there is any."""
        if not self._unknown:
            return
        message = f"{self._name}: {percent(self._unknown / self._texts)} of its text is unknown to the model"
        if self._whole:
            message += (
                f"; {self._whole:,} of {self._texts:,} texts are entirely unknown, the first in line {self._first}"
            )
            message += ", whose vectors are zeros" if not unknown_alone(self._model.config) else ""
        if not self._all:
            message += f" (by {self._lines:,} lines)"
        log.warning("%s", message)


#: The work to do on a chunk of whole lines, with a buffer for the result. It returns the size of the result in the
#: buffer, in bytes, or the result itself if it does not fit; and an error in a line, if any, which ends the work after
#: the result for the lines before it.
Work = Callable[[Chunk, memoryview], tuple[int | bytes, PspError | None]]


class Done(NamedTuple):
    """A chunk and its result, valid until the next one is requested."""

    chunk: Chunk
    result: memoryview


def alone(source: ChunkSource, work: Work, rows: int, room: int) -> Iterator[Done]:
    """The processed chunks of a source, in order, as :func:`psp.inference.processes.in_order` gives them."""
    place = memoryview(bytearray(room))
    for chunk in chunks(source, rows):
        made, error = work(chunk, place)
        yield from given_of(chunk, made, place)
        if error is not None:
            raise error


def given_of(chunk: Chunk, made: int | bytes, place: memoryview) -> Iterator[Done]:
    """A chunk's result, in its place or by itself, if there is any."""
    if made:
        yield Done(chunk, place[:made] if isinstance(made, int) else memoryview(made))
