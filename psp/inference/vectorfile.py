"""Write files of vectors row by row, in constant memory.

- npy: for ``numpy.load``, also with ``mmap_mode="r"``. Since the number of rows is known last, zeros, which no
  reader accepts, take the header's place until the end. ``x.npy.json`` has the SHA-256 of the rows, by which
  :func:`check_rows` finds a changed bit.
- parquet: columns ``text`` (string) and ``vector`` (a fixed-size list).
- raw: only the numbers, row by row, little-endian.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np

from psp.core.errors import ConfigError, DataError, from_extra
from psp.core.files import atomic, read_json, write_json

#: The format implied by a file's suffix, and for raw numbers their dtype.
_SUFFIXES = {
    ".npy": ("npy", None),
    ".parquet": ("parquet", None),
    ".f32": ("raw", "float32"),
    ".f16": ("raw", "float16"),
}
STDOUT = "-"

KIND = "psp-vectors"
#: Rows hashed at a time.
_HASHED = 8192
_HEADER = 128  # bytes, as NumPy writes; must be a multiple of 64
_GROUP_BYTES = 64 << 20  # size of a parquet row group, which is held in memory
_CACHE_BYTES = 64 << 20


class Writer(Protocol):
    """Writes rows to a file."""

    def write(self, vectors: memoryview, text: bytes) -> None:
        r"""Add rows: their vectors, and their texts joined by ``\n``."""


def settings(out: str, form: str | None, dtype: str | None) -> tuple[str, str]:
    """Determine the format and dtype of a file from its name and the options.

    Raises:
        ConfigError: they contradict each other, or the format is unknown.
    """
    named, fixed = ("raw", None) if out == STDOUT else _SUFFIXES.get(Path(out).suffix.lower(), (None, None))
    chosen = form or named
    if chosen is None:
        raise ConfigError(f"--out {out}: unknown format; end the name in .npy, .parquet, .f32 or .f16, or add --format")
    if named not in (None, chosen):
        where = "standard output" if out == STDOUT else f"the name {out}"
        raise ConfigError(f"--format {form}: {where} implies {named}; leave out --format, or choose another name")
    if dtype and fixed and dtype != fixed:
        raise ConfigError(f"--dtype {dtype}: the name {out} implies {fixed}; leave out --dtype, or choose another name")
    return chosen, dtype or fixed or "float32"


@contextlib.contextmanager
def vector_file(out: str, form: str, dim: int, dtype: str) -> Iterator[Writer]:
    """Open a file of vectors for writing; it appears only when the block succeeds.

    Args:
        out: its path; for raw numbers also a pipe or a device.
        form: npy, parquet or raw.
        dim: dimensions of a vector.
        dtype: float32 or float16.

    Raises:
        ConfigError: this place does not support the format.
        DataError: the disk is full, or the place is not writable.
        PspError: pyarrow is not installed.
        BrokenPipeError: the pipe's reader has gone away.
    """
    path = Path(out)
    if path.is_dir():
        raise ConfigError(f"--out {out}: is a folder; name a file in it")
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):  # /dev/null must not be replaced by a file
        if form != "raw":
            raise ConfigError(f"--out {out}: is not a regular file; use --format raw")
        with _device(path) as file:
            yield _Raw(file, cached=True)
        return
    if form == "parquet":
        _pyarrow()  # fail before creating a folder
    with atomic(path) as temporary, temporary.open("wb") as file:
        if form == "raw":
            yield _Raw(file)
        elif form == "parquet":
            with _parquet(file, dim, dtype) as parquet:
                yield parquet
        else:
            with ThreadPoolExecutor(1) as hashing:
                file.write(bytes(_HEADER))
                npy = _Npy(file, hashing)
                yield npy
                rows = npy.written // (dim * np.dtype(dtype).itemsize)
                file.seek(0)
                write_npy_header(file, (rows, dim), dtype)
                _record(path).unlink(missing_ok=True)  # of an older file
    if form == "npy":
        about = {"format": 1, "kind": KIND, "rows": rows, "dim": dim, "dtype": dtype, "sha256": npy.sha256()}
        write_json(_record(path), about)


@contextlib.contextmanager
def _device(path: Path) -> Iterator[IO[bytes]]:
    try:
        with path.open("wb") as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", path) from None


class _Raw:
    """Writes rows, and unless they are to stay ``cached`` drops their pages along the way.

    A file being written would else fill the page cache. This is also faster where fresh memory is slow to get (a
    virtual machine, 4.1 GB: 2 s, against 7 to 11 s without). Files below about 100 MB stay cached for a next reader.
    """

    def __init__(self, file: IO[bytes], cached: bool = False) -> None:
        self._file, self._start = file, 0
        self._cached = cached or not hasattr(os, "posix_fadvise")  # macOS has none
        self.written = 0  # bytes

    def write(self, vectors: memoryview, text: bytes) -> None:
        self._file.write(vectors)
        self.written += vectors.nbytes
        self._forget()

    def _forget(self) -> None:
        """Drop all but the last part of the output."""
        while not self._cached and self._file.tell() - self._start >= 2 * _CACHE_BYTES:
            # For pages not yet on disk this only starts writing them; those of the part before are on disk by now.
            for start in (self._start + _CACHE_BYTES, self._start):
                os.posix_fadvise(self._file.fileno(), start, _CACHE_BYTES, os.POSIX_FADV_DONTNEED)
            self._start += _CACHE_BYTES


class _Npy(_Raw):
    """Hashes rows in a thread, while the next ones are embedded: a second per GB."""

    def __init__(self, file: IO[bytes], hashing: ThreadPoolExecutor) -> None:
        super().__init__(file)
        self._hashing, self._digest = hashing, hashlib.sha256()
        self._pending: Future[Any] = hashing.submit(bytes)

    def write(self, vectors: memoryview, text: bytes) -> None:
        self._pending.result()
        self._pending = self._hashing.submit(self._digest.update, bytes(vectors))  # the next chunk reuses the buffer
        super().write(vectors, text)

    def sha256(self) -> str:
        """The SHA-256 of all rows."""
        self._pending.result()
        return self._digest.hexdigest()


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def check_rows(path: Path, table: np.ndarray) -> None:
    """Check the rows of a .npy file by the SHA-256 that ``psp embed`` wrote beside it, if that is still there.

    Args:
        path: the file.
        table: its rows, memory-mapped.

    Raises:
        DataError: they are others.
    """
    if not _record(path).exists():
        return
    about, digest = read_json(_record(path)), hashlib.sha256()
    for start in range(0, len(table), _HASHED):
        digest.update(np.ascontiguousarray(table[start : start + _HASHED]).data)
    if not isinstance(about, dict) or about.get("kind") != KIND or about.get("sha256") != digest.hexdigest():
        raise DataError(f"not the rows that {_record(path).name} records; make both again with psp embed", path)


def write_npy_header(file: IO[bytes], shape: tuple[int, ...], dtype: str) -> None:
    """Write the header of a .npy file (format 1.0), which NumPy makes of 128 bytes for any number of rows."""
    header = {"descr": np.dtype(dtype).newbyteorder("<").str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)


def _pyarrow() -> Any:
    with from_extra("parquet", "writing .parquet needs pyarrow"):
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    return pyarrow


class _Parquet(_Raw):
    """Collects chunks into row groups of reasonable size."""

    def __init__(self, file: IO[bytes], writer: Any, schema: Any, dtype: str) -> None:
        super().__init__(file)
        self._writer, self._schema, self._dtype = writer, schema, dtype
        self._vectors: list[bytes] = []
        self._texts: list[bytes] = []
        self._bytes = 0

    def write(self, vectors: memoryview, text: bytes) -> None:
        self._vectors.append(bytes(vectors))  # copied, since the next chunk reuses the buffer
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
        self._writer.write_table(group, row_group_size=len(texts))
        self._vectors, self._texts, self._bytes = [], [], 0
        self._forget()


@contextlib.contextmanager
def _parquet(file: IO[bytes], dim: int, dtype: str) -> Iterator[_Parquet]:
    pyarrow = _pyarrow()
    number = pyarrow.float32() if dtype == "float32" else pyarrow.float16()
    vector = pyarrow.list_(pyarrow.field("element", number, nullable=False), dim)
    schema = pyarrow.schema(
        [pyarrow.field("text", pyarrow.string(), nullable=False), pyarrow.field("vector", vector, nullable=False)]
    )
    # Neither compression nor a dictionary helps with vectors.
    inner = pyarrow.parquet.ParquetWriter(
        file, schema, use_dictionary=False, compression={"text": "snappy", "vector.list.element": "none"}
    )
    try:
        writer = _Parquet(file, inner, schema, dtype)
        yield writer
        writer.flush()
        inner.close()
    except BaseException:
        file.close()  # first, so that an incomplete file gets no footer
        with contextlib.suppress(Exception):
            inner.close()
        raise
