"""The softmaxes of both directions over one matrix of cosines, and their gradient, in three compiled passes.

For the CPU, in float32. torch's operations, each over the whole matrix, took three times as long for 512 pairs, mostly
waking threads.
"""

from __future__ import annotations

import math

import numba
import numpy as np
import numpy.typing as npt

from psp.core.jit import compiled

#: The largest x for which e**-x is taken: a normal float32.
LARGEST = 80
#: Columns that are added up together.
_COLUMNS = 64
#: 1 / ln 2; and ln 2 as the sum of two float32, of which the first has so few digits that its products are exact.
_PER_OCTAVE, _OCTAVE, _REST = 1.442695040888963, 0.693145751953125, 1.428606765330187e-06
#: Coefficients of e**x for |x| <= ln 2 / 2, from x**7 on: 1 / n!.
_SERIES = tuple(1 / math.factorial(n) for n in range(7, 1, -1))


def softmaxes(
    cosines: npt.NDArray[np.float32], masked: npt.NDArray[np.bool_] | None, margin: float, scale: float
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Replace cosines by the gradient of the loss with respect to them; the loss is the mean over both directions.

    Args:
        cosines: float32 (n, n), of sources (rows) and targets; overwritten by the gradient.
        masked: bool (n, n), as for :func:`psp.training.losses.infonce.infonce_objective`.
        margin, scale: as there; ``scale * (2 + margin)`` must be at most :data:`LARGEST`.

    Returns:
        -log softmax of each source's own target, and of each target's own source, float32 (n,).
    """
    pairs = len(cosines)
    own = cosines.diagonal() - np.float32(margin)
    by_source, by_target = np.empty(pairs, np.float32), np.empty(pairs, np.float32)
    mask = np.zeros((0, 0), np.bool_) if masked is None else masked
    number = np.float32
    _raise(cosines, mask, number(margin), number(scale), by_source)
    _add_columns(cosines, by_target)
    _slopes(cosines, 1 / by_source, 1 / by_target, number(scale / (2 * pairs)))
    left = number(scale) * (1 - own)
    return np.log(by_source) + left, np.log(by_target) + left


@compiled(parallel=False)
def _raise_row(row, power, factors, scale):  # type: ignore[no-untyped-def]
    """Replace x by e**(scale * (x - 1)); ``factors`` is the memory of ``power``, as float32."""
    number = row.dtype.type
    half, one = number(0.5), number(1.0)
    per_octave, octave, rest = number(_PER_OCTAVE), number(_OCTAVE), number(_REST)
    a7, a6, a5, a4, a3, a2 = _SERIES
    c7, c6, c5, c4, c3, c2 = number(a7), number(a6), number(a5), number(a4), number(a3), number(a2)
    for j in range(len(row)):
        x = row[j] * scale - scale
        octaves = math.floor(x * per_octave + half)
        x = (x - octaves * octave) - octaves * rest
        power[j] = (np.int32(octaves) + np.int32(127)) << np.int32(23)
        row[j] = ((((((c7 * x + c6) * x + c5) * x + c4) * x + c3) * x + c2) * x + one) * x + one
    for j in range(len(row)):
        row[j] *= factors[j]


@compiled(parallel=False, sums=True)
def _total(row):  # type: ignore[no-untyped-def]
    total = row[0]
    for j in range(1, len(row)):
        total += row[j]
    return total


@compiled()
def _raise(cosines, masked, margin, scale, sums):  # type: ignore[no-untyped-def]
    for i in numba.prange(len(cosines)):
        row = cosines[i]
        power = np.empty(len(row), np.int32)
        row[i] -= margin
        _raise_row(row, power, power.view(np.float32), scale)
        if len(masked):
            own = row[i]
            for j in range(len(row)):
                if masked[i, j]:
                    row[j] = 0
            row[i] = own
        sums[i] = _total(row)


@compiled()
def _add_columns(raised, sums):  # type: ignore[no-untyped-def]
    count = raised.shape[1]
    for block in numba.prange((count + _COLUMNS - 1) // _COLUMNS):
        start, stop = block * _COLUMNS, min((block + 1) * _COLUMNS, count)
        part = sums[start:stop]
        part[:] = 0
        for i in range(len(raised)):
            row = raised[i, start:stop]
            for j in range(len(part)):
                part[j] += row[j]


@compiled()
def _slopes(raised, of_source, of_target, factor):  # type: ignore[no-untyped-def]
    for i in numba.prange(len(raised)):
        row, own = raised[i], of_source[i]
        for j in range(len(row)):
            row[j] = row[j] * (own + of_target[j]) * factor
        row[i] -= factor + factor
