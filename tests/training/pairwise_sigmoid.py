"""An objective that psp has not: pairwise sigmoid (SigLIP, Zhai et al. 2023), with a learnt scale and bias.

Imported by tests and by processes that they start; it is there within :func:`registered`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from unittest import mock

import torch
from torch import Tensor
from torch.nn import functional

from psp.training.losses.base import Comparison, Loss, MiniBatch
from psp.training.losses.make import LOSSES
from psp.training.losses.objective import OBJECTIVES, Objective
from psp.training.negatives.candidates import candidates


class PairwiseSigmoid(Loss):
    learning_rate = 0.05

    def __init__(self, mask_equal: bool) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(math.log(10.0)))
        self.bias = torch.nn.Parameter(torch.tensor(-3.0))
        self._mask_equal = mask_equal

    def compare(self, batch: MiniBatch) -> Comparison:
        count = len(batch.rows)
        own = batch.share(count)
        found = candidates(batch.pairs, batch.rows, None, self._mask_equal)
        masked = torch.from_numpy(found.masked)

        def of(source: Tensor, target: Tensor, scale: Tensor, bias: Tensor) -> Tensor:
            logits = scale.exp() * functional.normalize(source, dim=1) @ functional.normalize(target, dim=1).T + bias
            signs = 2 * torch.eye(count) - 1
            terms = functional.softplus(-signs * logits).masked_fill(masked, 0.0)
            return terms / count

        def loss(vectors: Tensor) -> Tensor:
            source, target = vectors.chunk(2)
            if batch.group is None:
                return of(source, target, self.scale, self.bias).sum()
            # The vectors' gradient is that of the whole loss; the parameters' is this process's share, added up later.
            sides = []
            for side in (source, target):
                whole = torch.cat(batch.group.gather_tensors(side.detach()))
                whole[own] = side
                sides.append(whole)
            by_vectors = of(*sides, self.scale.detach(), self.bias.detach()).sum()
            share = of(*(side.detach() for side in sides), self.scale, self.bias)[own].sum()
            return share + by_vectors - by_vectors.detach()

        return Comparison([batch.rows, batch.rows + len(batch.pairs)], loss, found.without_negative)

    def of_equal_vectors(self, pairs: int) -> float:
        logit = (self.scale.exp() + self.bias).detach()
        return float(functional.softplus(-logit) + (pairs - 1) * functional.softplus(logit))


@contextlib.contextmanager
def registered() -> Iterator[None]:
    with (
        mock.patch.dict(OBJECTIVES, sigmoid=Objective(frozenset({"mask_equal"}), mines=lambda train: False)),
        mock.patch.dict(LOSSES, sigmoid=lambda train: PairwiseSigmoid(train["mask_equal"])),
    ):
        yield
