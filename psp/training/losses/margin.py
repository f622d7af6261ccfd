"""The margin loss (paper, Eq. 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numba
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from psp.core.jit import compiled, dot
from psp.training.losses.base import Loss, MiniBatch, PairComparison

EPSILON = 1e-8  # each norm is at least this, as in torch's own cosine similarity


class Margin(Loss):
    """The paper's objective: a pair is nearer than its mined negative, by a margin, the paper's delta.

    With ``directions: source`` sources are the anchors; with ``both`` targets too.
    """

    def __init__(self, train: Mapping[str, Any]) -> None:
        super().__init__(train)
        self._margin, self._directions = train["margin"], 2 if train["directions"] == "both" else 1
        self.of_targets = train["directions"] == "both"

    def compare(self, batch: MiniBatch) -> PairComparison:
        assert batch.negatives is not None
        rows = batch.rows
        negatives = [side[rows] for side in (batch.negatives.source, batch.negatives.target)[: self._directions]]
        valid = [torch.from_numpy(side >= 0).to(batch.device) for side in negatives]
        return PairComparison(
            [rows, rows + len(batch.pairs), *(side.clip(min=0) for side in negatives)],
            lambda vectors: margin_objective(vectors, valid, self._margin),
            sum(int((side < 0).sum()) for side in negatives),
        )

    def of_equal_vectors(self, pairs: int) -> float:
        return float(self._margin * self._directions)


def margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float, valid: Tensor) -> Tensor:
    """Mean of max(0, margin - cos(anchor, positive) + cos(anchor, negative)) over the pairs that have a negative.

    One direction of the loss: with sources as anchors it is Eq. 1; the published code adds the same term with
    targets as anchors.

    Args:
        anchor, positive, negative: one row per pair, shape (n, dim).
        valid: bool, shape (n,); False where the pair has no allowed negative. Its row of ``negative`` is ignored.

    Returns:
        A scalar; 0 (with zero gradients) when no pair has a negative.
    """
    near = functional.cosine_similarity(anchor, positive, dim=1, eps=EPSILON)
    far = functional.cosine_similarity(anchor, negative, dim=1, eps=EPSILON)
    terms = (margin - near + far).clamp(min=0)
    return torch.where(valid, terms, 0.0).sum() / max(int(valid.sum()), 1)


def margin_objective(vectors: Tensor, valid: list[Tensor], margin: float) -> Tensor:
    """The margin loss of a mini-batch, one or both directions of it added up.

    Args:
        vectors: shape ((2 + directions) * n, dim): n sources, their n targets, a negative for each source and, where
            there are two directions, one for each target.
        valid: for each direction which pairs have a negative, bool, shape (n,).
        margin: the paper's delta.

    Returns:
        A scalar. On a CPU it and its gradient come from one compiled pass over the vectors (a tenth of the time of
        torch's dozen small operations, which took as long as the rest of a step); elsewhere from :func:`margin_loss`.
    """
    if vectors.device.type == "cpu":
        masks = [mask.numpy() for mask in valid]
        return _Margin.apply(vectors, masks, margin)
    source, target, *negatives = vectors.chunk(2 + len(valid))
    ends = ((source, target), (target, source))
    return torch.stack(
        [
            margin_loss(anchor, positive, negative, margin, mask)
            for (anchor, positive), negative, mask in zip(ends, negatives, valid, strict=False)
        ]
    ).sum()


class _Margin(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, vectors: Tensor, valid: list[np.ndarray], margin: float) -> Tensor:
        data = vectors.detach().numpy()
        gradient, losses = np.zeros_like(data), np.zeros(len(valid) * len(valid[0]), dtype=data.dtype)
        shares = np.concatenate([mask / max(int(mask.sum()), 1) for mask in valid]).astype(data.dtype)
        number = data.dtype.type
        _margin_terms(data, len(valid[0]), shares, number(margin), number(EPSILON), losses, gradient)
        ctx.gradient = torch.from_numpy(gradient)
        return torch.from_numpy(losses).sum()

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        gradient: Tensor = ctx.gradient
        return gradient if upstream == 1 else gradient * upstream, None, None


@compiled()
def _margin_terms(vectors, pairs, shares, margin, eps, losses, gradient):  # type: ignore[no-untyped-def]
    """Terms of the loss, weighted with ``shares``, and their gradient; each pair's rows are its own."""
    for i in numba.prange(pairs):
        for direction in range(len(shares) // pairs):
            share = shares[direction * pairs + i]
            a, p, n = direction * pairs + i, (1 - direction) * pairs + i, (2 + direction) * pairs + i
            anchor, positive, negative = vectors[a], vectors[p], vectors[n]
            length_a = max(math.sqrt(dot(anchor, anchor)), eps)
            length_p = max(math.sqrt(dot(positive, positive)), eps)
            length_n = max(math.sqrt(dot(negative, negative)), eps)
            near = dot(anchor, positive) / (length_a * length_p)
            far = dot(anchor, negative) / (length_a * length_n)
            term = margin - near + far
            if share == 0 or not term > 0:
                continue
            losses[direction * pairs + i] = term * share
            to_p, to_n = share / (length_a * length_p), share / (length_a * length_n)
            # A length at its lower limit is a constant: the part of the gradient that it gives is left out.
            own_a = share * (near - far) / (length_a * length_a) if length_a > eps else share - share
            own_p = share * near / (length_p * length_p) if length_p > eps else share - share
            own_n = share * far / (length_n * length_n) if length_n > eps else share - share
            for d in range(len(anchor)):
                # One product is added at a time: see psp.core.jit.
                to_anchor = gradient[a, d] + to_n * negative[d]
                to_anchor -= to_p * positive[d]
                gradient[a, d] = to_anchor + own_a * anchor[d]
                to_positive = gradient[p, d] + own_p * positive[d]
                gradient[p, d] = to_positive - to_p * anchor[d]
                to_negative = gradient[n, d] + to_n * anchor[d]
                gradient[n, d] = to_negative - own_n * negative[d]
