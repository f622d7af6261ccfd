"""The paper's objective (Eq. 1): a pair is nearer than its mined negative, by a margin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from psp.training.objectives.base import MiniBatch, Objective, PairComparison, register

if TYPE_CHECKING:
    from torch import Tensor


@register
class Margin(Objective):
    """The negatives that were mined, pair by pair.

    ``margin`` is the paper's delta. With ``directions: source`` sources are the anchors; with ``both`` targets too.
    """

    name = "margin"
    help = "the paper's loss with one mined negative"
    reads = frozenset({"margin", "directions"})

    def __init__(self, train: Mapping[str, Any]) -> None:
        super().__init__(train)
        self._margin, self._directions = train["margin"], 2 if train["directions"] == "both" else 1
        self.takes_negatives_of_targets = train["directions"] == "both"

    @classmethod
    def mines(cls, train: Mapping[str, Any]) -> bool:
        return True

    @classmethod
    def title(cls, train: Mapping[str, Any]) -> str:
        return f"margin {train['margin']:g}"

    def compare(self, batch: MiniBatch, **parameters: Tensor) -> PairComparison:
        import torch

        from psp.training.losses.margin import margin_objective

        assert batch.negatives is not None
        rows = batch.rows
        negatives = [side[rows] for side in (batch.negatives.source, batch.negatives.target)[: self._directions]]
        counts = [int((side >= 0).sum()) for side in negatives]
        valid = [torch.from_numpy(side >= 0).to(batch.device) for side in negatives]
        return PairComparison(
            [rows, rows + len(batch.pairs), *(side.clip(min=0) for side in negatives)],
            lambda vectors: margin_objective(vectors, valid, self._margin, counts),
            sum(len(rows) - count for count in counts),
        )

    def of_equal_vectors(self, pairs: int, **parameters: Tensor) -> float:
        return float(self._margin * self._directions)
