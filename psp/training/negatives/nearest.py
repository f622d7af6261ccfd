"""Exact nearest neighbours: one matrix product, chunk by chunk, serves rows and columns.

On a CPU that multiplies bfloat16 in hardware, the product is computed in that precision, which is 15 times as fast on
AMX and twice as fast on AVX512-BF16. Its rounding error is bounded for the given vectors, so all candidates that might
win in float32 are known: usually one to four per query. Only these are compared in float32. The result is that of a
float32 product, up to ties within float32's own rounding.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from psp.core.jit import compiled, dot

CHUNK_ROWS = 512  # of 12,800 columns: 13 MB in bfloat16; 256 to 2,048 are equally fast
CAPACITY = 32  # candidates per query; one with more (near-copies of one text) is compared with all vectors in float32
RANKED = 1 << 16  # candidates compared at a time by torch alone: 800 MB on a GPU at 1,024 dimensions
BLOCK = 64  # similarities scanned together: 128 or 256 bytes
ROUNDING = 2.0**-9  # relative error of rounding to bfloat16
SLACK = 1e-5  # error of float32 sums of 1,024 products

#: Given row numbers, the excluded places (index into them, column); the relation is symmetric.
Places = Callable[[npt.NDArray[np.int64]], tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]


@dataclass
class Nearest:
    """The cosine (float32) and index (int64) of each query's nearest candidate.

    If all candidates are excluded, the cosine is -inf and the index meaningless. Of equal candidates, the first wins.
    """

    value: npt.NDArray[np.float32]
    index: npt.NDArray[np.int64]

    @staticmethod
    def none(count: int) -> Nearest:
        return Nearest(np.full(count, -np.inf, dtype=np.float32), np.full(count, -1, dtype=np.int64))

    def offer(self, rows: Any, other: Nearest, shift: int = 0) -> None:
        """Update ``rows`` where ``other`` is nearer; ties keep the old candidate."""
        better = other.value > self.value[rows]
        self.value[rows] = np.where(better, other.value, self.value[rows])
        self.index[rows] = np.where(better, other.index + shift, self.index[rows])


def reduced_precision(device: torch.device) -> bool:
    """Whether the device is a CPU with bfloat16 instructions, so that bfloat16 pays."""
    if device.type != "cpu":
        return False
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def nearest(
    rows: Tensor,
    columns: Tensor,
    places: Places,
    *,
    both: bool = True,
    reduced: bool | None = None,
    chunk_rows: int = CHUNK_ROWS,
) -> tuple[Nearest, Nearest]:
    """The nearest column of each row and, from the same product, the nearest row of each column.

    Args:
        rows: unit vectors, float32, shape (m, dim).
        columns: unit vectors, float32, shape (n, dim).
        places: the excluded places, given row numbers.
        both: also find the nearest row of each column (among the given rows).
        reduced: find candidates in bfloat16; None = if the hardware supports it.
        chunk_rows: rows of the product held at a time.

    Returns:
        The nearest of the rows (indices are column numbers) and of the columns (indices are row numbers).
    """
    if reduced is None:
        reduced = reduced_precision(rows.device)
    search = _Search if rows.device.type == "cpu" else _TorchSearch
    return search(rows, columns, places, both, reduced, chunk_rows).run()


class _TorchSearch:
    """Search with torch alone, on any device: in float32, or in bfloat16 with candidates compared in float32.

    bfloat16 makes use of tensor cores. It is not the default on a GPU: there the product is a small part of training
    either way.
    """

    def __init__(
        self, rows: Tensor, columns: Tensor, places: Places, both: bool, reduced: bool, chunk_rows: int
    ) -> None:
        self.rows, self.columns, self.places, self.both = rows, columns, places, both
        self.reduced, self.chunk_rows = reduced, chunk_rows

    def run(self) -> tuple[Nearest, Nearest]:
        of_rows, of_columns = Nearest.none(len(self.rows)), Nearest.none(len(self.columns))
        rows, columns = self.rows, self.columns
        if self.reduced:
            rows, columns = rows.bfloat16(), columns.bfloat16()
            # As in _Search, for the largest possible rounding of both vectors; and tensor cores truncate at each
            # addition, where others round.
            self._error = 2.02 * (2.02 * ROUNDING + rows.shape[1] * 2.0**-22)
        for start in range(0, len(rows), self.chunk_rows):
            these = slice(start, min(start + self.chunk_rows, len(rows)))
            with _sums_in_float32():
                similarity = rows[these] @ columns.T
            self.exclude(similarity, np.arange(these.start, these.stop))
            of_rows.offer(these, self._best(similarity, self.rows[these], self.columns))
            if self.both:
                best_of_columns = self._best(similarity.T, self.columns, self.rows[these])
                of_columns.offer(slice(None), best_of_columns, shift=start)
        return of_rows, of_columns

    def _best(self, similarity: Tensor, queries: Tensor, candidates: Tensor) -> Nearest:
        """The best candidate of each query, given their similarities: -inf if excluded, possibly in bfloat16."""
        largest = similarity.max(dim=1)
        if not self.reduced:
            return _found(largest)
        top = largest.values.float()
        near = (similarity >= (top - 2.02 * ROUNDING * top.abs() - self._error)[:, None]) & similarity.isfinite()
        few = near.sum(dim=1) <= CAPACITY
        query, candidate = (near & few[:, None]).nonzero(as_tuple=True)
        cosine = torch.cat(
            [
                (queries[some] * candidates[other]).sum(dim=1)
                for some, other in zip(query.split(RANKED), candidate.split(RANKED), strict=True)
            ]
        )
        value = torch.full_like(top, -torch.inf).scatter_reduce(0, query, cosine, "amax")
        equal = cosine == value[query]
        index = torch.full_like(largest.indices, len(candidates)).scatter_reduce(
            0, query[equal], candidate[equal], "amin"
        )
        for some in (~few).nonzero()[:, 0].split(self.chunk_rows):  # near-copies of one text
            exact = (queries[some] @ candidates.T).masked_fill_(similarity[some].isneginf(), -torch.inf)
            value[some], index[some] = exact.max(dim=1)
        return Nearest(value.cpu().numpy(), index.cpu().numpy())

    def exclude(self, similarity: Tensor, numbers: npt.NDArray[np.int64]) -> None:
        excluded = tuple(torch.from_numpy(place).to(similarity.device) for place in self.places(numbers))
        similarity[excluded] = -torch.inf


def _found(maxima: Any) -> Nearest:
    return Nearest(maxima.values.float().cpu().numpy(), maxima.indices.cpu().numpy())


class _Search(_TorchSearch):
    """Search with torch's product and compiled scans of it.

    The scans compare 16-bit or 32-bit floats by their bit patterns, as integers, which gives the right order unless
    both are negative. A query whose best similarity is not well above zero is left to :meth:`_all`, which compares it
    with all candidates in float32.
    """

    def run(self) -> tuple[Nearest, Nearest]:
        kind = torch.bfloat16 if self.reduced else torch.float32
        rows, columns = self.rows.to(kind), self.columns.to(kind)
        if self.reduced:
            # |a'b' - ab| <= |a' - a| |b'| + |a| |b' - b| for unit vectors, and |b'| < 1.01.
            error = 1.01 * (_rounded_off(self.rows, rows) + _rounded_off(self.columns, columns)) + SLACK
            self._keep, self._error = 1 - 2.02 * ROUNDING, 2 * error
        else:
            self._keep, self._error = 1.0, 0.0
        m, n = len(rows), len(columns)
        self._integer = np.dtype(np.int16 if self.reduced else np.int32)
        self._largest = 2 ** (8 * self._integer.itemsize - 1) - 1
        self._of_rows, self._of_columns = (
            _Candidates(m, self._integer),
            _Candidates(n if self.both else 0, self._integer),
        )
        buffer = torch.empty(min(self.chunk_rows, m), n, dtype=kind)
        for start in range(0, m, self.chunk_rows):
            stop = min(start + self.chunk_rows, m)
            similarity = torch.mm(rows[start:stop], columns.T, out=buffer[: stop - start])
            self.exclude(similarity, np.arange(start, stop))
            bits = similarity.view(torch.int16 if self.reduced else torch.int32).numpy()
            self._scan(bits, start)
        return (
            self._decide(self._of_rows, self.rows, self.columns),
            self._decide(self._of_columns, self.columns, self.rows) if self.both else Nearest.none(n),
        )

    def _scan(self, bits: npt.NDArray[Any], start: int) -> None:
        candidates = self._of_rows
        these = slice(start, start + len(bits))
        _largest_of_rows(bits, candidates.largest[these])
        thresholds = self._thresholds(candidates.largest[these])
        _collect_from_rows(bits, thresholds, candidates.index[these], candidates.value[these], candidates.count[these])
        if self.both:
            candidates = self._of_columns
            _largest_of_columns(bits, candidates.largest)
            thresholds = self._thresholds(candidates.largest)
            _collect_from_columns(bits, start, thresholds, candidates.index, candidates.value, candidates.count)

    def _thresholds(self, largest: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Bits of the lowest similarity that may be the true maximum; the largest integer if that is not > 0."""
        value = _numbers(largest)
        threshold = (value * np.float32(self._keep) - np.float32(self._error)).astype(np.float32)
        bits = threshold.view(np.int32)
        if self.reduced:
            bits = bits >> 16  # towards zero: never above the threshold
        none = ~((value > 0) & (threshold > 0))
        return np.where(none, self._largest, bits).astype(self._integer)

    def _decide(self, gathered: _Candidates, queries: Tensor, candidates: Tensor) -> Nearest:
        best = Nearest.none(len(queries))
        thresholds = self._thresholds(gathered.largest)
        _compare(
            queries.numpy(),
            candidates.numpy(),
            thresholds,
            gathered.index,
            gathered.value,
            gathered.count,
            best.value,
            best.index,
        )
        left = np.flatnonzero((gathered.count > CAPACITY) | (thresholds == self._largest))
        for start in range(0, len(left), self.chunk_rows):
            some = left[start : start + self.chunk_rows]
            best.offer(some, self._all(some, queries, candidates))
        return best

    def _all(self, some: npt.NDArray[np.int64], queries: Tensor, candidates: Tensor) -> Nearest:
        similarity = queries[torch.from_numpy(some)] @ candidates.T
        row, place = self.places(some)
        similarity[torch.from_numpy(row), torch.from_numpy(place)] = -torch.inf
        return _found(similarity.max(dim=1))


class _Candidates:
    """Candidates of some queries: bits of the largest similarity so far; index and bits of possible winners."""

    def __init__(self, queries: int, integer: np.dtype[Any]) -> None:
        self.largest = np.full(queries, -(2 ** (8 * integer.itemsize - 1)), dtype=integer)
        self.index = np.empty((queries, CAPACITY), dtype=np.int32)
        self.value = np.empty((queries, CAPACITY), dtype=integer)
        self.count = np.zeros(queries, dtype=np.int32)  # CAPACITY + 1: too many


def _numbers(bits: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Convert the bits of bfloat16 or float32 to numbers."""
    if bits.dtype == np.int16:
        return (bits.astype(np.int32) << 16).view(np.float32)
    return bits.view(np.float32)


@contextlib.contextmanager
def _sums_in_float32() -> Iterator[None]:
    """Forbid bfloat16 partial sums on GPUs, which torch allows by default: no error bound would hold."""
    flags = torch.backends.cuda.matmul
    before = flags.allow_bf16_reduced_precision_reduction
    flags.allow_bf16_reduced_precision_reduction = False
    try:
        yield
    finally:
        flags.allow_bf16_reduced_precision_reduction = before


def _rounded_off(exact: Tensor, rounded: Tensor) -> float:
    """The largest norm of a vector's rounding error in bfloat16."""
    squares = np.empty(len(exact), dtype=np.float32)
    _squares_off(exact.numpy(), rounded.view(torch.uint16).numpy(), squares)
    return math.sqrt(float(squares.max()))


@compiled(sums=True)
def _squares_off(exact, rounded, squares):  # type: ignore[no-untyped-def]
    """The squared norm of each vector's rounding error; a bfloat16 is the upper half of a float32."""
    for i in numba.prange(len(exact)):
        row = np.empty(exact.shape[1], dtype=np.uint32)
        for d in range(len(row)):
            row[d] = np.uint32(rounded[i, d]) << np.uint32(16)
        values = row.view(np.float32)
        total = exact.dtype.type(0.0)
        for d in range(len(values)):
            off = exact[i, d] - values[d]
            total += off * off
        squares[i] = total


@compiled()
def _largest_of_rows(bits, largest):  # type: ignore[no-untyped-def]
    for i in numba.prange(len(bits)):
        row = bits[i]
        top = row[0]
        for j in range(1, len(row)):
            top = max(top, row[j])
        largest[i] = top


@compiled()
def _largest_of_columns(bits, largest):  # type: ignore[no-untyped-def]
    width = 16 * BLOCK
    for block in numba.prange((bits.shape[1] + width - 1) // width):
        top = largest[block * width : (block + 1) * width]
        for i in range(len(bits)):
            row = bits[i, block * width : (block + 1) * width]
            for j in range(len(top)):
                if row[j] > top[j]:
                    top[j] = row[j]


@compiled()
def _collect_from_rows(bits, thresholds, index, value, count):  # type: ignore[no-untyped-def]
    for i in numba.prange(len(bits)):
        threshold = thresholds[i]
        filled = 0
        for start in range(0, bits.shape[1], BLOCK):
            some = bits[i, start : start + BLOCK]
            near = False
            for j in range(len(some)):
                near |= some[j] >= threshold
            if not near:
                continue
            for j in range(len(some)):
                if some[j] >= threshold:
                    if filled < CAPACITY:
                        index[i, filled] = start + j
                        value[i, filled] = some[j]
                    filled = min(filled + 1, CAPACITY + 1)
        count[i] = filled


@compiled()
def _collect_from_columns(bits, first, thresholds, index, value, count):  # type: ignore[no-untyped-def]
    """Add candidates from a chunk; from full lists, first remove those now below the threshold."""
    for block in numba.prange((bits.shape[1] + BLOCK - 1) // BLOCK):
        threshold = thresholds[block * BLOCK : (block + 1) * BLOCK]
        for i in range(len(bits)):
            some = bits[i, block * BLOCK : (block + 1) * BLOCK]
            near = False
            for j in range(len(some)):
                near |= some[j] >= threshold[j]
            if not near:
                continue
            for j in range(len(some)):
                if some[j] < threshold[j]:
                    continue
                column = block * BLOCK + j
                if count[column] == CAPACITY:
                    kept = 0
                    for place in range(CAPACITY):
                        if value[column, place] >= threshold[j]:
                            index[column, kept] = index[column, place]
                            value[column, kept] = value[column, place]
                            kept += 1
                    count[column] = kept
                if count[column] < CAPACITY:
                    index[column, count[column]] = first + i
                    value[column, count[column]] = some[j]
                count[column] = min(count[column] + 1, CAPACITY + 1)


@compiled()
def _compare(queries, candidates, thresholds, index, value, count, best_value, best_index):  # type: ignore[no-untyped-def]
    """Find the best of each query's candidates in float32; queries with too many are skipped."""
    for i in numba.prange(len(queries)):
        if count[i] > CAPACITY:
            continue
        query = queries[i]
        for place in range(count[i]):
            if value[i, place] < thresholds[i]:
                continue
            candidate = candidates[index[i, place]]
            cosine = dot(query, candidate)
            # Candidates come in ascending order: of equals, the first wins.
            if cosine > best_value[i]:
                best_value[i] = cosine
                best_index[i] = index[i, place]
