"""Symmetric InfoNCE with an additive margin: every other pair of the mini-batch is a negative.

For a source, the candidates are the targets of the mini-batch; its own target's cosine is lowered by the margin before
the softmax, and so has to win by that much. Targets choose among sources likewise. The paper's margin loss has one
negative per sentence, mined from a mega-batch; this loss has all others in the mini-batch.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from psp.core.jit import compiled, dot
from psp.pairs.encoded_pairs import Pairs
from psp.training.losses.base import Loss, MiniBatch, PairComparison
from psp.training.losses.margin import EPSILON
from psp.training.negatives.mining import text_hashes
from psp.training.negatives.nearest import reduced_precision

#: The largest x for which e**-x is taken: a normal float32.
LARGEST = 80
#: Columns that are added up together.
_COLUMNS = 64
#: 1 / ln 2; and ln 2 as the sum of two float32, of which the first has so few digits that its products are exact.
_PER_OCTAVE, _OCTAVE, _REST = 1.442695040888963, 0.693145751953125, 1.428606765330187e-06
#: Coefficients of e**x for |x| <= ln 2 / 2, from x**7 on: 1 / n!.
_SERIES = tuple(1 / math.factorial(n) for n in range(7, 1, -1))
#: Multiplications in a matrix product from which bfloat16 is worth its conversions.
_LARGE = 1 << 25


class InfoNCE(Loss):
    """The negatives are the other pairs of the mini-batch.

    ``margin`` and ``scale`` are as for :func:`infonce_objective`; with ``mask_equal`` pairs that share a text are never
    each other's negatives.
    """

    def __init__(self, train: Mapping[str, Any]) -> None:
        super().__init__(train)
        self._margin, self._scale, self._mask_equal = train["margin"], train["scale"], train["mask_equal"]

    def compare(self, batch: MiniBatch) -> PairComparison:
        rows = batch.rows
        mask = masked(batch.pairs, rows, self._mask_equal)
        refused = torch.from_numpy(mask).to(batch.device) if mask.any() else None

        def loss(vectors: Tensor) -> Tensor:
            return infonce_objective(vectors, self._margin, self._scale, refused)

        return PairComparison([rows, rows + len(batch.pairs)], loss, without_negative(mask))

    def of_equal_vectors(self, pairs: int) -> float:
        return math.log1p((pairs - 1) * math.exp(self._scale * self._margin))


def infonce_objective(
    vectors: Tensor,
    margin: float,
    scale: float,
    masked: Tensor | None = None,
    reduced: bool | None = None,
) -> Tensor:
    """The loss of a mini-batch by three matrix products.

    It is the mean over both directions of -log softmax of a sentence's own partner among its candidates. Torch's own
    operations compute it in tests/training/losses/reference.py.

    Args:
        vectors: shape (2n, dim): n sources and their targets.
        margin: taken off the cosine of a pair's own two sides.
        scale: cosines are multiplied by it; the inverse of the softmax's temperature.
        masked: bool (n, n): true where source i and target j must not be each other's
            negatives; None: nowhere. The diagonal is ignored.
        reduced: compute the products in bfloat16, with sums in float32; None = on processors that multiply it, and on
            a GPU under autocast (``precision: mixed``).

    Returns:
        A scalar.
    """
    return _InfoNCE.apply(vectors, margin, scale, masked, _reduced(vectors, reduced))


def _reduced(vectors: Tensor, wanted: bool | None) -> bool:
    if wanted is not None:
        return wanted
    kind = vectors.device.type
    return torch.is_autocast_enabled(kind) if kind == "cuda" else reduced_precision(vectors.device)


class _InfoNCE(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        vectors: Tensor,
        margin: float,
        scale: float,
        masked: Tensor | None,
        reduced: bool,
    ) -> Tensor:
        units, lengths = _unit_rows(vectors.detach())
        pairs = len(units) // 2
        plain = vectors.device.type == "cpu" and vectors.dtype == torch.float32
        if plain and _once(margin, scale):
            return _InfoNCE._compiled(ctx, units, lengths, margin, scale, masked, reduced)
        source, target = units.chunk(2)
        with _products(reduced):
            logits = source @ target.T
            diagonal = logits.diagonal()
            diagonal -= margin
            logits *= scale
            if masked is not None:
                held = diagonal.clone()
                logits.masked_fill_(masked, -torch.inf)
                diagonal.copy_(held)
            held = diagonal.clone()
            by_source, by_target = logits.logsumexp(1), logits.logsumexp(0)
            loss = (by_source + by_target - 2 * held).sum() / (2 * pairs)
            # The gradient with respect to the cosines: both softmaxes, less one for each on the diagonal.
            slope = (logits - by_source[:, None]).exp_()
            slope += logits.sub_(by_target).exp_()
            slope.diagonal().sub_(2)
            slope *= scale / (2 * pairs)
            gradient = torch.empty_like(units)
            _product(slope, target, gradient[:pairs], reduced)
            _product(slope.T, source, gradient[pairs:], reduced)
        ctx.gradient = _by_vectors(gradient, units, lengths)
        return loss

    @staticmethod
    def _compiled(
        ctx: Any, units: Tensor, lengths: Tensor, margin: float, scale: float, masked: Tensor | None, reduced: bool
    ) -> Tensor:
        source, target = units.chunk(2)
        slope = torch.empty(len(source), len(target))
        with _products(reduced):
            _product(source, target.T, slope, reduced)
        mask = None if masked is None else masked.numpy()
        by_source, by_target = softmaxes(slope.numpy(), mask, margin, scale)
        gradient = torch.empty_like(units)
        with _products(reduced):
            _product(slope, target, gradient[: len(source)], reduced)
            _product(slope.T, source, gradient[len(source) :], reduced)
        ctx.gradient = _by_vectors(gradient, units, lengths)
        return units.new_tensor((by_source.mean() + by_target.mean()) / 2)

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        gradient: Tensor = ctx.gradient
        return gradient if upstream == 1 else gradient * upstream, None, None, None, None


def _once(margin: float, scale: float) -> bool:
    """Whether one exponential serves both directions, without subtracting a maximum: none can underflow."""
    return scale * (2 + margin) < LARGEST


def _unit_rows(vectors: Tensor) -> tuple[Tensor, Tensor]:
    """The vectors divided by their lengths, but by no less than EPSILON, and the lengths, shape (n,).

    Compiled: 0.36 ms for 1,024 vectors of 1,024 numbers, and 0.28 ms for what _by_vectors does.
    """
    # Not psp.models.text_model.unit: the gradient needs the lengths, and a kernel should read each vector once.
    if vectors.device.type != "cpu":
        lengths = torch.linalg.vector_norm(vectors, dim=1)
        return vectors / lengths.clamp(min=EPSILON)[:, None], lengths
    units, lengths = torch.empty_like(vectors), vectors.new_empty(len(vectors))
    _divide_rows(vectors.numpy(), EPSILON, units.numpy(), lengths.numpy())
    return units, lengths


def _by_vectors(gradient: Tensor, units: Tensor, lengths: Tensor) -> Tensor:
    """The gradient with respect to the vectors, from that with respect to their units, whose memory it reuses."""
    # A unit vector turns, and does not grow. A length at its lower limit is a constant.
    if gradient.device.type == "cpu":
        _turn_rows(gradient.numpy(), units.numpy(), lengths.numpy(), EPSILON)
        return gradient
    along = (gradient * units).sum(dim=1) * (lengths > EPSILON)
    gradient -= units * along[:, None]
    gradient /= lengths.clamp(min=EPSILON)[:, None]
    return gradient


@compiled()
def _divide_rows(vectors, least, units, lengths):  # type: ignore[no-untyped-def]
    for i in numba.prange(len(vectors)):
        vector, unit = vectors[i], units[i]
        lengths[i] = math.sqrt(dot(vector, vector))
        inverse = vectors.dtype.type(1.0 / max(lengths[i], least))
        for d in range(len(vector)):
            unit[d] = vector[d] * inverse


@compiled()
def _turn_rows(gradient, units, lengths, least):  # type: ignore[no-untyped-def]
    number = gradient.dtype.type
    for i in numba.prange(len(gradient)):
        row, unit = gradient[i], units[i]
        along = dot(row, unit) if lengths[i] > least else number(0.0)
        inverse = number(1.0 / max(lengths[i], least))
        for d in range(len(row)):
            row[d] = (row[d] - unit[d] * along) * inverse


def _product(left: Tensor, right: Tensor, out: Tensor, reduced: bool) -> None:
    """A matrix product; ``reduced``, large and on a CPU, via tensors of bfloat16.

    512 pairs at 1,024 dimensions, 2 cores of an AMD EPYC with AVX512-BF16: 0.57 ms with the conversions, 1.06 ms with
    float32 tensors, whose products oneDNN computes in float32 there. The rounding hardly changes the result: `fr`
    after 6 epochs, seed 1, has P 69.837 and T 5.90 with it in all three products, 69.836 and 5.85 without.
    """
    if reduced and left.device.type == "cpu" and left.numel() * right.shape[1] >= _LARGE:
        out.copy_(left.bfloat16() @ right.bfloat16())
    else:
        torch.mm(left, right, out=out)


@contextlib.contextmanager
def _products(reduced: bool) -> Iterator[None]:
    """Let float32 products be computed in bfloat16, with sums in float32.

    For products that :func:`_product` leaves: on a GPU, or small.
    """
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium" if reduced else "highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def masked(pairs: Pairs, rows: npt.NDArray[np.int64], mask_equal: bool) -> npt.NDArray[np.bool_]:
    """Whether two pairs of a mini-batch must not be each other's negatives: bool (n, n), false on the diagonal.

    Masked are pairs of the other kind, as in mining: for a French sentence, an English one's paraphrase would be
    a candidate of the wrong language. So are, with ``mask_equal``, pairs that share a text, on whichever sides.

    Args:
        pairs: the mega-batch.
        rows: the mini-batch's pairs of it, int64, shape (n,).
        mask_equal: as in :class:`psp.training.negatives.mining.Excluded`.
    """
    kinds = pairs.paraphrase[rows]
    mask = np.zeros((len(rows), len(rows)), np.bool_)
    if kinds.any() and not kinds.all():
        np.not_equal(kinds[:, None], kinds, out=mask)
    if mask_equal:
        whole = len(rows) == len(pairs) and bool((rows == np.arange(len(pairs))).all())
        chosen = pairs if whole else pairs.take(rows)
        keys = np.concatenate([text_hashes(chosen.source), text_hashes(chosen.target)])
        _mask_equal(keys, np.argsort(keys), mask)
    np.fill_diagonal(mask, False)
    return mask


def without_negative(mask: npt.NDArray[np.bool_]) -> int:
    """Sentences of a mini-batch, two of a pair, whose every candidate but their own is masked: they have no loss."""
    others = len(mask) - 1
    if others and not mask.any():
        return 0
    return int(sum((np.count_nonzero(mask, axis=axis) == others).sum() for axis in (0, 1)))


@compiled(parallel=False)
def _mask_equal(keys, order, masked):  # type: ignore[no-untyped-def]
    """Mask the columns of pairs that have a text of the row's; texts are the pairs' sources, then their targets."""
    pairs = len(masked)
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and keys[order[stop]] == keys[order[start]]:
            stop += 1
        for first in range(start, stop):
            for second in range(start, stop):
                masked[order[first] % pairs, order[second] % pairs] = True
        start = stop


def softmaxes(
    cosines: npt.NDArray[np.float32], masked: npt.NDArray[np.bool_] | None, margin: float, scale: float
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Replace cosines by the gradient of the loss with respect to them; the loss is the mean over both directions.

    For the CPU, in float32, in three compiled passes: torch's operations, each over the whole matrix, took three times
    as long for 512 pairs, mostly waking threads.

    Args:
        cosines: float32 (n, n), of sources (rows) and targets; overwritten by the gradient.
        masked: bool (n, n), as for :func:`infonce_objective`.
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
