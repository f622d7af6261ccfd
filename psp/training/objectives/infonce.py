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
    """The negatives are the other pairs of the mini-batch and, if any, mined ones.

    ``margin`` and ``scale`` are as for :func:`psp.training.losses.infonce.infonce_objective`; with ``mask_equal`` pairs
    that share a text are never each other's negatives.
    """

    name = "infonce"
    help = "a softmax over `candidates`"
    reads = frozenset({"margin", "scale", "candidates", "mask_equal"})

    @classmethod
    def mines(cls, train: Mapping[str, Any]) -> bool:
        return bool(train["candidates"] == "mined")

    @classmethod
    def rate(cls, train: Mapping[str, Any]) -> int:
        # On two cores over 6 epochs (psp/config/plan.py); 44,000 with bfloat16 multiplication.
        return 9_000 if cls.mines(train) else 30_000

    @classmethod
    def title(cls, train: Mapping[str, Any]) -> str:
        return f"margin {train['margin']:g}, scale {train['scale']:g}"

    def compare(self, batch: MiniBatch, **parameters: Tensor) -> PairComparison:
        import torch

        from psp.training.losses.infonce import infonce_objective
        from psp.training.negatives.candidates import candidates

        rows, margin, scale = batch.rows, self.train["margin"], self.train["scale"]
        further = candidates(batch.pairs, rows, batch.negatives, self.train["mask_equal"])
        masked = torch.from_numpy(further.masked).to(batch.device) if further.masked.any() else None
        extra = None if batch.negatives is None else (len(further.source), len(further.target))

        def loss(vectors: Tensor) -> Tensor:
            return infonce_objective(vectors, margin, scale, masked, extra=extra)

        return PairComparison(
            [rows, rows + len(batch.pairs), further.source, further.target], loss, further.without_negative
        )

    def of_equal_vectors(self, pairs: int, **parameters: Tensor) -> float:
        return math.log1p((pairs - 1) * math.exp(self.train["scale"] * self.train["margin"]))
