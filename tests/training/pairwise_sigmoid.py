"""An objective that psp has not: pairwise sigmoid (SigLIP, Zhai et al. 2023), with a learnt scale and bias.

Imported by tests and by processes that they start; it is there within :func:`registered`, and in a copy of psp that
has this file among its objectives.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from unittest import mock

from psp.training.objectives.base import OBJECTIVES, MiniBatch, Objective, PairComparison, register

if TYPE_CHECKING:
    from torch import Tensor


class PairwiseSigmoid(Objective):
    name = "sigmoid"
    help = "each pair of texts of a mini-batch is told from the others by itself"
    reads = frozenset({"mask_equal"})
    learning_rate = 0.05

    @classmethod
    def mines(cls, train: Mapping[str, Any]) -> bool:
        return False

    @classmethod
    def title(cls, train: Mapping[str, Any]) -> str:
        return "sigmoid"

    def parameters(self) -> Mapping[str, Tensor]:
        import torch

        return {"scale": torch.tensor(math.log(10.0)), "bias": torch.tensor(-3.0)}

    def compare(self, batch: MiniBatch, **parameters: Tensor) -> PairComparison:
        import torch
        from torch.nn import functional

        from psp.training.negatives.in_batch import masked, without_negative

        count = len(batch.rows)
        mask = masked(batch.pairs, batch.rows, self.train["mask_equal"])
        refused = torch.from_numpy(mask).to(batch.device)

        def loss(vectors: Tensor) -> Tensor:
            source, target = (functional.normalize(side, dim=1) for side in vectors.chunk(2))
            logits = parameters["scale"].exp() * source @ target.T + parameters["bias"]
            signs = 2 * torch.eye(count, device=batch.device) - 1
            return functional.softplus(-signs * logits).masked_fill(refused, 0.0).sum() / count

        return PairComparison([batch.rows, batch.rows + len(batch.pairs)], loss, without_negative(mask))

    def of_equal_vectors(self, pairs: int, **parameters: Tensor) -> float:
        from torch.nn import functional

        logit = (parameters["scale"].exp() + parameters["bias"]).detach()
        return float(functional.softplus(-logit) + (pairs - 1) * functional.softplus(logit))


@contextlib.contextmanager
def registered() -> Iterator[None]:
    with mock.patch.dict(OBJECTIVES):
        register(PairwiseSigmoid)
        yield


if __name__.startswith("psp."):
    register(PairwiseSigmoid)
