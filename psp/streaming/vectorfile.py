"""Files of vectors, written in the order of the rows, for more of them than memory holds.

- npy: what ``numpy.load`` reads, also with ``mmap_mode="r"``. The number of rows is known last: the header's place is
  kept free with zeros, which no reader takes for a header, and filled in the end.
- parquet: columns ``text`` (string) and ``vector`` (a fixed-size list). Its index comes last by itself.
- raw: the numbers, row by row, little-endian, and nothing else.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from psp.errors import ConfigError, DataError, PspError
from psp.files import atomic

FORMATS = ("npy", "parquet", "raw")
DTYPES = ("float32", "float16")
#: Names' ends that tell the format, and of raw numbers which they are.
_SUFFIXES = {
    ".npy": ("npy", None),
    ".parquet": ("parquet", None),
    ".f32": ("raw", "float32"),
    ".f16": ("raw", "float16"),
}
STDOUT = "-"

_HEADER = 128  # bytes; numpy wants a multiple of 64, and its own files have the same
_GROUP_BYTES = 64 << 20  # of a row group of parquet: it is in memory as a whole
_CACHE_BYTES = 64 << 20


class Writer(Protocol):
    """Takes rows until its file is complete."""

    def write(self, vectors: memoryview, text: bytes) -> None:
        r"""Add rows: their numbers, and their texts with ``\n`` between them."""


def settings(out: str, form: str | None, dtype: str | None) -> tuple[str, str]:
    """The format and the dtype of a file, by its name and by what was asked for.

    Raises:
        ConfigError: they contradict each other, or nothing tells the format.
    """
    named, fixed = ("raw", None) if out == STDOUT else _SUFFIXES.get(Path(out).suffix.lower(), (None, None))
    found = form or named
    if found is None:
        raise ConfigError(f"--out {out}: end the name in .npy, .parquet, .f32 or .f16, or write --format as well")
    if named not in (None, found):
        where = "standard output" if out == STDOUT else f"{out}'s name"
        raise ConfigError(f"--format {form}: {where} says {named}; leave --format out, or choose another name")
    if dtype and fixed and dtype != fixed:
        raise ConfigError(f"--dtype {dtype}: {out}'s name says {fixed}; leave --dtype out, or choose another name")
    return found, dtype or fixed or "float32"


@contextlib.contextmanager
def vector_file(out: str, form: str, dim: int, dtype: str) -> Iterator[Writer]:
    """A file of vectors, there as a whole when the block has ended well, and else as it was before.

    Args:
        out: its path; of raw numbers also a pipe or a device.
        form: of :data:`FORMATS`.
        dim: numbers in a row.
        dtype: of :data:`DTYPES`.

    Raises:
        ConfigError: it cannot be written in this format to such a place.
        DataError: the disk is full, or nothing can be written there.
        PspError: pyarrow is not installed.
        BrokenPipeError: nobody reads the pipe any more.
    """
    path = Path(out)
    if path.is_dir():
        raise ConfigError(f"--out {out}: is a folder; name a file in it")
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):  # /dev/null must not be replaced by a file
        if form != "raw":
            raise ConfigError(f"--out {out}: is no ordinary file, and takes --format raw alone")
        with _device(path) as file:
            yield _Raw(file)
        return
    make = {"npy": _npy, "parquet": _parquet, "raw": _raw}[form]
    if form == "parquet":
        _pyarrow()  # before a folder is made
    with atomic(path) as temporary, make(temporary, dim, dtype) as writer:
        yield writer


@contextlib.contextmanager
def _device(path: Path) -> Iterator[IO[bytes]]:
    try:
        with path.open("wb") as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path) from None


class _Cache:
    """Keeps a file that is being written from filling the system's memory: it is written out and forgotten on the way.

    This is also faster where memory that was not in use costs time (a virtual machine, 4.1 GB: 2 s, and 7 to 11 s
    without it). Files below some 100 MB stay in memory, for whoever reads them next.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._start = file, 0

    def forget(self) -> None:
        """Let go of all but the last part of what was written."""
        if not hasattr(os, "posix_fadvise"):  # there is none on macOS
            return
        number, end = self._file.fileno(), self._file.tell()
        while end - self._start >= 2 * _CACHE_BYTES:
            # Of what is not on disk yet, this starts the writing, and no more; the part before has got there meanwhile.
            for start in (self._start + _CACHE_BYTES, self._start):
                os.posix_fadvise(number, start, _CACHE_BYTES, os.POSIX_FADV_DONTNEED)
            self._start += _CACHE_BYTES


class _Raw:
    def __init__(self, file: IO[bytes], cache: _Cache | None = None) -> None:
        self._file, self._cache = file, cache
        self.written = 0  # bytes

    def write(self, vectors: memoryview, text: bytes) -> None:
        self._file.write(vectors)
        self.written += vectors.nbytes
        if self._cache is not None:
            self._cache.forget()


@contextlib.contextmanager
def _raw(path: Path, dim: int, dtype: str) -> Iterator[Writer]:
    with path.open("wb") as file:
        yield _Raw(file, _Cache(file))


@contextlib.contextmanager
def _npy(path: Path, dim: int, dtype: str) -> Iterator[Writer]:
    with path.open("wb") as file:
        file.write(bytes(_HEADER))
        writer = _Raw(file, _Cache(file))
        yield writer
        file.seek(0)
        file.write(npy_header(writer.written // (dim * np.dtype(dtype).itemsize), dim, dtype))


def npy_header(rows: int, dim: int, dtype: str) -> bytes:
    """What stands before the numbers of a .npy file (format 1.0): always 128 bytes."""
    described = np.dtype(dtype).newbyteorder("<").str
    text = f"{{'descr': '{described}', 'fortran_order': False, 'shape': ({rows}, {dim}), }}"
    return b"\x93NUMPY\x01\x00" + (_HEADER - 10).to_bytes(2, "little") + text.encode().ljust(_HEADER - 11) + b"\n"


def _pyarrow() -> Any:
    try:
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError:
        raise PspError("a .parquet file needs a package: pip install 'psp[parquet]'") from None
    return pyarrow


class _Parquet:
    """Row groups of some size: each chunk by itself would make a file of small pieces."""

    def __init__(self, file: Any, cache: _Cache, schema: Any, dtype: str) -> None:
        self._file, self._cache, self._schema, self._dtype = file, cache, schema, dtype
        self._vectors: list[bytes] = []
        self._texts: list[bytes] = []
        self._bytes = 0

    def write(self, vectors: memoryview, text: bytes) -> None:
        self._vectors.append(bytes(vectors))  # the memory is the next chunk's
        self._texts.append(text)
        self._bytes += vectors.nbytes + len(text)
        if self._bytes >= _GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        if not self._texts:
            return
        pyarrow = _pyarrow()
        numbers = np.frombuffer(b"".join(self._vectors), self._dtype)
        texts = pyarrow.array(b"\n".join(self._texts).decode().split("\n"), pyarrow.string())
        vectors = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(numbers), type=self._schema.field("vector").type)
        group = pyarrow.Table.from_arrays([texts, vectors], schema=self._schema)
        self._file.write_table(group, row_group_size=len(texts))
        self._vectors, self._texts, self._bytes = [], [], 0
        self._cache.forget()


@contextlib.contextmanager
def _parquet(path: Path, dim: int, dtype: str) -> Iterator[Writer]:
    pyarrow = _pyarrow()
    number = pyarrow.float32() if dtype == "float32" else pyarrow.float16()
    vector = pyarrow.list_(pyarrow.field("element", number, nullable=False), dim)
    schema = pyarrow.schema(
        [pyarrow.field("text", pyarrow.string(), nullable=False), pyarrow.field("vector", vector, nullable=False)]
    )
    with path.open("wb") as file:
        # Vectors are noise to a compressor and to a dictionary: both would cost time and gain nothing.
        inner = pyarrow.parquet.ParquetWriter(
            file, schema, use_dictionary=False, compression={"text": "snappy", "vector.list.element": "none"}
        )
        try:
            writer = _Parquet(inner, _Cache(file), schema, dtype)
            yield writer
            writer.flush()
            inner.close()
        except BaseException:
            file.close()  # first, so that half a file gets no index
            with contextlib.suppress(Exception):
                inner.close()
            raise
