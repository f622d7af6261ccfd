"""Mean pooling of embeddings in compiled code: three to five times as fast as NumPy, and bitwise equal.

Four rows are read at a time, so that memory or cache delivers four streams in parallel, and the sum is loaded and
stored once instead of four times. On one core (Xeon, 2 MB of L2) with 1024 dimensions and 13.8 pieces per sentence:
float32 490,000 sentences/s, or 28 GB/s of embeddings (a plain copy reads and writes 14.5 GB/s); float16 680,000; int8
with a scale per row 690,000, per dimension 960,000; NumPy 172,000.

Multiplications and additions are not fused (``fuse=False``), since NumPy does not fuse them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from psp.core.jit import compiled, converts_float16
from psp.models.table import EmbeddingMatrix


def pool(table: EmbeddingMatrix, ids: np.ndarray, offsets: np.ndarray, out: np.ndarray) -> None:
    """See :func:`psp.models.static.write_means`."""
    ids = np.ascontiguousarray(ids, np.int32)
    if table.scale is not None and not table.by_row:
        _in_whole_numbers(table.values, table.scale, ids, offsets, out)
        return
    values = table.values.view(np.uint16) if table.dtype == "float16" else table.values
    _in_floats(values, table.scale, ids, offsets, out)


def fits(table: EmbeddingMatrix) -> bool:
    """Whether compiled code reads such a table on this processor; if not, NumPy does."""
    return table.dtype != "float16" or converts_float16()


@compiled(parallel=False)
def fit(ids, offsets, rows):  # type: ignore[no-untyped-def]
    """Check that offsets rise from 0 to the number of ids, and that all ids are valid: in 1 us; NumPy takes 15."""
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(ids):
        return False
    good = True
    for i in range(len(offsets) - 1):
        good &= offsets[i + 1] >= offsets[i]
    for i in range(len(ids)):
        good &= (ids[i] >= 0) & (ids[i] < rows)
    return good


@intrinsic
def _float(typing: Any, number: Any) -> Any:
    """Convert a float32 (unchanged), an int8, or a float16, given as its 16 bits, to float32.

    numba has no float16 type on CPUs; one instruction converts many numbers.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if number == types.float32:
            return arguments[0]
        if number == types.int8:
            return builder.sitofp(arguments[0], ir.FloatType())
        return builder.fpext(builder.bitcast(arguments[0], ir.HalfType()), ir.FloatType())

    return types.float32(number), generate


@compiled(parallel=False)
def _scale(scales, row):  # type: ignore[no-untyped-def]
    # The type decides at compile time, and a product with 1 is optimised away.
    return np.float32(1) if scales is None else scales[row]


@compiled(parallel=False, fuse=False)
def _in_floats(table, scales, ids, offsets, out):  # type: ignore[no-untyped-def]
    """Average rows; each int8 row is multiplied by its scale."""
    dim = table.shape[1]
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        total = out[i]
        if last == first:
            total[:] = np.float32(0)
            continue
        a, p = table[ids[first]], _scale(scales, ids[first])
        for d in range(dim):
            total[d] = p * _float(a[d])
        k = first + 1
        while k + 4 <= last:
            a, b, c, e = table[ids[k]], table[ids[k + 1]], table[ids[k + 2]], table[ids[k + 3]]
            p, q = _scale(scales, ids[k]), _scale(scales, ids[k + 1])
            r, s = _scale(scales, ids[k + 2]), _scale(scales, ids[k + 3])
            for d in range(dim):
                total[d] = (((total[d] + p * _float(a[d])) + q * _float(b[d])) + r * _float(c[d])) + s * _float(e[d])
            k += 4
        while k < last:
            a, p = table[ids[k]], _scale(scales, ids[k])
            for d in range(dim):
                total[d] += p * _float(a[d])
            k += 1
        count = np.float32(last - first)
        for d in range(dim):
            total[d] /= count


@compiled(parallel=False, fuse=False)
def _in_whole_numbers(table, scale, ids, offsets, out):  # type: ignore[no-untyped-def]
    """Sum int8 rows as integers, multiply by the scale of each dimension, and average."""
    dim = table.shape[1]
    total = np.empty(dim, np.int32)
    for i in range(len(offsets) - 1):
        first, last = offsets[i], offsets[i + 1]
        total[:] = 0
        k = first
        while k + 4 <= last:
            a, b, c, e = table[ids[k]], table[ids[k + 1]], table[ids[k + 2]], table[ids[k + 3]]
            for d in range(dim):
                total[d] += np.int32(a[d]) + np.int32(b[d]) + np.int32(c[d]) + np.int32(e[d])
            k += 4
        while k < last:
            a = table[ids[k]]
            for d in range(dim):
                total[d] += np.int32(a[d])
            k += 1
        count = np.float32(max(last - first, 1))
        for d in range(dim):
            out[i, d] = (np.float32(total[d]) * scale[d]) / count
