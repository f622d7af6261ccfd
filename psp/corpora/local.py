r"""Read the user's own files of ``source \t target`` lines, optionally compressed.

A third column is the score, a fourth one the translation score (:mod:`psp.corpora.paranmt`).

The suffix tells the compression: .gz, .zst, .zip (one member, .txt or .tsv); anything else is plain text.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from psp.core.errors import DataError, PspError
from psp.core.limits import Unpacked
from psp.corpora.archive import BUFFER_BYTES, only_text_member, open_member, open_zip
from psp.corpora.rows import MAX_BAD_ROWS, Row, parse_rows
from psp.text.lines import read_lines


def read_file(path: Path | str, max_bad_rows: float = MAX_BAD_ROWS) -> Iterator[Row]:
    r"""Yield the rows of a file in order, unmodified; cleaning is left to the filter stage.

    The first row of two to four columns tells how many the file has. A byte order mark is dropped.

    Args:
        path: the file.
        max_bad_rows: as in :func:`psp.corpora.rows.parse_rows`.

    Yields:
        (source, target), with the scores that the file has, or a :class:`psp.corpora.rows.BadRow`.

    Raises:
        DataError: the file is missing, damaged or truncated, a line is not UTF-8, or too many rows are bad; possibly
            after rows were yielded.
        PspError: the package for .zst is not installed.
    """
    yield from parse_rows(lines_of(path), path, columns=(2, 3, 4), max_bad_rows=max_bad_rows)


def lines_of(path: Path | str) -> Iterator[str]:
    """Yield the lines of a file, unpacked, without a byte order mark; errors are those of :func:`read_file`."""
    path = Path(path)
    with _opened(path) as stream:
        lines = read_lines(stream, path)
        for line in lines:
            yield line.removeprefix("\ufeff")
            break
        yield from lines


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path.suffix.lower() == ".zip":
        with (
            open_zip(path) as archive,
            open_member(archive, only_text_member(archive, path, (".txt", ".tsv")), path) as stream,
        ):
            yield stream
    else:
        with opened(path) as (_, stream):
            yield stream


@contextlib.contextmanager
def opened(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open a file other than a zip; yield it and a stream of its unpacked bytes (the same for a plain file).

    Raises:
        DataError: it cannot be read, or the part that the block reads is damaged.
        PspError: the package for .zst is not installed.
    """
    damage: tuple[type[Exception], ...] = (gzip.BadGzipFile, EOFError, zlib.error)
    try:
        with path.open("rb") as file:
            yield file, _unpacked(file, path)
    except damage as error:
        raise DataError(f"truncated or damaged ({error}); make it or download it again", path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path) from error


def _unpacked(file: IO[bytes], path: Path) -> IO[bytes]:
    suffix = path.suffix.lower()
    if suffix not in (".gz", ".zst"):
        return file
    raw = gzip.GzipFile(fileobj=file) if suffix == ".gz" else _Zstd(file, path)
    return io.BufferedReader(Unpacked(raw, file, path), BUFFER_BYTES)


class _Zstd(io.RawIOBase):
    """A stream of the unpacked bytes of a .zst file.

    zstandard's own stream_reader silently accepts a truncated file (seen with 0.25): half a corpus would pass for the
    whole.
    """

    def __init__(self, file: IO[bytes], path: Path) -> None:
        try:
            import zstandard
        except ModuleNotFoundError:
            raise PspError(f"{path}: reading .zst needs zstandard: pip install 'paraphrastic[data]'") from None
        self._file, self._path = file, path
        self._unpacker, self._error = zstandard.ZstdDecompressor(), zstandard.ZstdError
        self._frame: Any = None  # a file may consist of several
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            rest = self._frame.unused_data if self._frame is not None and self._frame.eof else b""
            packed = rest or self._file.read(BUFFER_BYTES)
            if not packed:
                if self._frame is None or not self._frame.eof:
                    raise DataError("truncated; make it or download it again", self._path)
                return 0
            if self._frame is None or self._frame.eof:
                self._frame = self._unpacker.decompressobj()
            try:
                self._left = memoryview(self._frame.decompress(packed))
            except self._error as error:
                raise DataError(f"not a valid .zst file ({error}); make it or download it again", self._path) from None
        count = min(len(buffer), len(self._left))
        memoryview(buffer)[:count] = self._left[:count]
        self._left = self._left[count:]
        return count
