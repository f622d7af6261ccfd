"""A matrix of subword embeddings in 32, 16, 8 or 4 bits, and its file."""

from __future__ import annotations

import contextlib
import json
import math
import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from psp.core.errors import DataError
from psp.core.files import atomic, open_regular

DTYPES = ("float32", "float16", "int8", "int4")

#: Rows processed at a time in passes over the whole matrix, so that it is never copied as a whole.
CHUNK = 1024


class EmbeddingMatrix:
    """An embedding matrix.

    Args:
        values: float32, float16 or int8, (rows, dim); neither copied nor written to.
        scale: for int8, float32 (rows,) or (dim,): multiplies each row or dimension.
        by_row: for int8, whether the scale is per row.
        four_bits: for int8 with a scale per row, whether all values are from -7 to 7; a byte of the file has two.

    Attributes:
        dim: the number of dimensions of a row.
        dtype: one of :data:`DTYPES`.

    Raises:
        ValueError: the dtype is not supported, or the shapes do not match.
    """

    def __init__(
        self, values: np.ndarray, scale: np.ndarray | None = None, *, by_row: bool = True, four_bits: bool = False
    ) -> None:
        self.values, self.scale, self.by_row = values, scale, by_row
        self.dtype = "int4" if four_bits else str(values.dtype)
        if self.dtype not in DTYPES or values.ndim != 2 or (scale is None) != (values.dtype != np.int8):
            raise ValueError(f"a table of {self.dtype} with {values.ndim} axes, scale {scale is not None}")
        if scale is not None and scale.shape != (values.shape[0 if by_row else 1],):
            raise ValueError(f"a scale of {scale.shape} for a table of {values.shape}")
        self.dim = int(values.shape[1])

    def __len__(self) -> int:
        return len(self.values)

    @property
    def nbytes(self) -> int:
        """Bytes of the rows and their scales in a file; in memory four bits take a byte."""
        rows = len(self) * ((self.dim + 1) // 2) if self.dtype == "int4" else int(self.values.nbytes)
        return rows + (0 if self.scale is None else int(self.scale.nbytes))

    def rows(self, which: slice | np.ndarray = slice(None)) -> np.ndarray:
        """Rows as float32, (rows, dim), all by default; a view if they are a slice and the matrix is float32."""
        part = self.values[which]
        if self.scale is None:
            return part.astype(np.float32, copy=False)
        return part * (self.scale[which, None] if self.by_row else self.scale)

    def finite(self) -> bool:
        """Whether all numbers are finite, and so are their squares and sums of these; and scales are above 0."""
        if self.scale is not None:
            return usable(self.scale) and bool((self.scale > 0).all())
        return all(usable(self.values[start : start + CHUNK]) for start in range(0, len(self), CHUNK))

    def converted(self, dtype: str | None = None, dim: int | None = None) -> EmbeddingMatrix:
        """Convert to ``dtype`` and the first ``dim`` dimensions; returns itself if nothing changes.

        For int8, the scale is per row or per dimension, whichever has the smaller squared error; for int4 it is per
        row, the one with the smallest squared error of those tried.

        Raises:
            ValueError: ``dtype`` or ``dim`` is not available, or a number is too large for float16.
        """
        dtype, dim = dtype or self.dtype, self.dim if dim is None else dim
        if dtype not in DTYPES:
            raise ValueError(f"dtype is {dtype!r}; there are {', '.join(DTYPES)}")
        if not 1 <= dim <= self.dim:
            raise ValueError(f"dim is {dim}; the table has {self.dim} dimensions")
        if (dtype, dim) == (self.dtype, self.dim):
            return self
        if dtype == "int4":
            return _four_bits(self.rows()[:, :dim])
        if dtype == "int8":
            rows = self.rows()[:, :dim]
            made = [_whole_numbers(rows, by_row=by_row) for by_row in (True, False)]
            return min(made, key=lambda one: one[0])[1]
        values = np.empty((len(self), dim), dtype)
        with np.errstate(over="raise"):
            try:
                for start in range(0, len(self), CHUNK):
                    values[start : start + CHUNK] = self.rows(slice(start, start + CHUNK))[:, :dim]
            except FloatingPointError:
                raise ValueError("a number of the table is too large for float16 (65,504 at most)") from None
        return EmbeddingMatrix(values)


def _whole_numbers(rows: np.ndarray, by_row: bool) -> tuple[float, EmbeddingMatrix]:
    """Convert rows to int8; return the squared error and the matrix."""
    largest = np.zeros(len(rows) if by_row else rows.shape[1], np.float32)
    for start in range(0, len(rows), CHUNK):
        part = np.abs(rows[start : start + CHUNK])
        if by_row:
            largest[start : start + CHUNK] = part.max(axis=1)
        else:
            np.maximum(largest, part.max(axis=0), out=largest)
    scale: np.ndarray[Any, np.dtype[np.float32]] = largest / np.float32(127)
    scale[scale == 0] = 1  # zeros, or numbers so small that the scale is zero
    table = EmbeddingMatrix(np.empty(rows.shape, np.int8), scale, by_row=by_row)
    error = 0.0
    for start in range(0, len(rows), CHUNK):
        some = slice(start, start + CHUNK)
        part = rows[some]
        table.values[some] = np.clip(np.rint(part / (scale[some, None] if by_row else scale)), -127, 127)
        error += float(np.square(table.rows(some) - part, dtype=np.float64).sum())
    return error, table


#: The shares of a row's largest value that become 7, as larger ones do; each row takes its best.
SHARES = np.linspace(0.4, 1, 25, dtype=np.float32)


def _four_bits(rows: np.ndarray) -> EmbeddingMatrix:
    """Convert rows to four bits, whole numbers from -7 to 7 with a scale per row."""
    values, scale = np.empty(rows.shape, np.int8), np.empty(len(rows), np.float32)
    for start in range(0, len(rows), CHUNK):
        part = np.ascontiguousarray(rows[start : start + CHUNK], np.float32)
        largest, best = np.abs(part).max(axis=1, keepdims=True), np.full(len(part), np.inf, np.float32)
        for share in SHARES:
            step = largest * share / 7
            step[step == 0] = 1  # zeros, or numbers so small that the scale is zero
            whole = np.clip(np.rint(part / step), -7, 7)
            error = np.square(whole * step - part).sum(axis=1)
            better = error < best
            best[better] = error[better]
            values[start : start + CHUNK][better] = whole[better]
            scale[start : start + CHUNK][better] = step[better, 0]
    return EmbeddingMatrix(values, scale, four_bits=True)


def packed(values: np.ndarray) -> np.ndarray:
    """Pack four-bit values, int8 (rows, dim), into bytes, uint8 (rows, dim / 2 rounded up): each value plus 8, that of
    dimension 2i in the lower half of byte i, that of 2i + 1 in the upper.
    """
    halves = np.pad(values + np.int8(8), ((0, 0), (0, values.shape[1] % 2))).view(np.uint8)
    return halves[:, ::2] | halves[:, 1::2] << 4


def unpacked(halves: np.ndarray, dim: int) -> np.ndarray:
    """The values of :func:`packed`, int8 (rows, dim), where ``dim`` fits the bytes."""
    values = np.empty((len(halves), 2 * halves.shape[1]), np.uint8)
    np.bitwise_and(halves, 15, out=values[:, ::2])
    np.right_shift(halves, 4, out=values[:, 1::2])
    values -= 8
    return np.ascontiguousarray(values[:, : values.shape[1] - (dim % 2)]).view(np.int8)


def write_table(path: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """Write a safetensors file.

    Raises:
        DataError: the disk is full, or the folder cannot be written to.
    """
    with atomic(path) as temporary:
        temporary.touch()
        mode = temporary.stat().st_mode
        try:
            safetensors.numpy.save_file(
                {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, temporary
            )
        except safetensors.SafetensorError as error:  # raised instead of OSError when the disk is full
            raise DataError(f"cannot be written: {error}; free space or choose another folder", path) from error
        temporary.chmod(mode)  # safetensors gives access to the owner alone


#: Numbers of models are below: sums of their squares do not overflow in float32.
LARGEST = 1e15
#: Bytes of the header of a model's weights; a transformer's hundreds of tensors take some 0.1 MiB.
HEADER_BYTES = 16 << 20


#: What :meth:`EmbeddingMatrix.finite` denies, in errors.
NOT_FINITE = "values that are not numbers below 1e15, or scales that are not above 0"


def usable(values: np.ndarray) -> bool:
    """Whether all numbers are finite and at most :data:`LARGEST`."""
    # Comparisons with NaN are false.
    return not values.size or (float(values.min()) >= -LARGEST and float(values.max()) <= LARGEST)


_POPULATE_READ = 22  # Linux 5.14 and later; Python 3.11 has no constant for it
_FORMATS = {"F32": np.float32, "F16": np.float16, "I8": np.int8, "U8": np.uint8}


def read_table(path: Path) -> dict[str, np.ndarray]:
    """Memory-map the float32, float16, int8 and uint8 tensors of a safetensors file, read-only.

    Processes that map the same file share its pages; safetensors' own reader makes a copy. Our files are replaced,
    never overwritten, so mapped tensors do not change.

    Raises:
        DataError: the file does not exist, or is truncated or damaged.
    """
    try:
        with open_regular(path) as raw:
            length = int.from_bytes(raw.read(8), "little")
            if length > HEADER_BYTES:
                raise DataError(f"a header of {length:,} bytes, where {HEADER_BYTES:,} are allowed", path)
            with safetensors.safe_open(path, framework="numpy") as file:  # checks the header and the file's length
                names = list(file.keys())
            header = json.loads(raw.read(length))
            mapped = mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise DataError("no such file; copy the model's whole folder", path) from None
    except (OSError, safetensors.SafetensorError, ValueError, RecursionError) as error:
        raise DataError(f"truncated or damaged ({error}); copy it again", path) from None
    with contextlib.suppress(OSError, AttributeError):  # an older kernel, or another system
        # Map all pages at once, 20 times as fast as one page fault for every few of them (2 against 40 ms for 205 MB).
        mapped.madvise(_POPULATE_READ)
    tensors = {}
    for name in names:
        kind, shape, place = (header[name][key] for key in ("dtype", "shape", "data_offsets"))
        if kind in _FORMATS and 0 not in shape:
            values = np.frombuffer(mapped, _FORMATS[kind], math.prod(shape), 8 + length + place[0])
            tensors[name] = values.reshape(shape)
    return tensors
