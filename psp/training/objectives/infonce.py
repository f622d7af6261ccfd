"""Symmetric InfoNCE with an additive margin (:mod:`psp.training.losses.infonce`)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from psp.training.objectives.base import MiniBatch, Objective, PairComparison, register

if TYPE_CHECKING:
    from torch import Tensor


@register
class InfoNCE(Objective):
    """The negatives are the other pairs of the mini-batch.

    ``margin`` and ``scale`` are as for :func:`psp.training.losses.infonce.infonce_objective`; with ``mask_equal`` pairs
    that share a text are never each other's negatives.
    """

    name = "infonce"
    help = "a softmax over the pairs of the mini-batch"
    reads = frozenset({"margin", "scale", "mask_equal"})

    @classmethod
    def mines(cls, train: Mapping[str, Any]) -> bool:
        return False

    @classmethod
    def title(cls, train: Mapping[str, Any]) -> str:
        return f"margin {train['margin']:g}, scale {train['scale']:g}"

    def compare(self, batch: MiniBatch, **parameters: Tensor) -> PairComparison:
        import torch

        from psp.training.losses.infonce import infonce_objective
        from psp.training.negatives.in_batch import masked, without_negative

        rows, margin, scale = batch.rows, self.train["margin"], self.train["scale"]
        mask = masked(batch.pairs, rows, self.train["mask_equal"])
        refused = torch.from_numpy(mask).to(batch.device) if mask.any() else None

        def loss(vectors: Tensor) -> Tensor:
            return infonce_objective(vectors, margin, scale, refused)

        return PairComparison([rows, rows + len(batch.pairs)], loss, without_negative(mask))

    def of_equal_vectors(self, pairs: int, **parameters: Tensor) -> float:
        return math.log1p((pairs - 1) * math.exp(self.train["scale"] * self.train["margin"]))
