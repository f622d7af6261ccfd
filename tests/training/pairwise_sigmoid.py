"""A loss that psp has not: pairwise sigmoid (SigLIP, Zhai et al. 2023), with a learnt scale and bias.

Named in a config as ``train: {objective: "pairwise_sigmoid:PairwiseSigmoid", loss: {scale: 20}}``, this file being in
the working directory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from psp.config.blocks.base import Block
from psp.config.blocks.fields import setting
from psp.training.losses.base import Loss, MiniBatch, PairComparison
from psp.training.losses.infonce import masked, without_negative

OBJECTIVE = f"{__name__}:PairwiseSigmoid"


class PairwiseSigmoid(Loss):
    """Each pair of texts of a mini-batch is told from the others by itself."""

    class Settings(Block):
        """The keys of `train.loss`."""

        scale: float = setting(10.0, "what cosines are multiplied by at the start", gt=0)
        bias: float = setting(-3.0, "what is added to them then")

    reads = frozenset({"mask_equal"})
    learning_rate = 0.05

    def __init__(self, train: Mapping[str, Any]) -> None:
        super().__init__(train)
        self._mask_equal = train["mask_equal"]
        self.scale = torch.nn.Parameter(torch.tensor(math.log(self.settings["scale"])))
        self.bias = torch.nn.Parameter(torch.tensor(self.settings["bias"]))

    def compare(self, batch: MiniBatch) -> PairComparison:
        count = len(batch.rows)
        mask = masked(batch.pairs, batch.rows, self._mask_equal)
        refused = torch.from_numpy(mask).to(batch.device)

        def loss(vectors: Tensor) -> Tensor:
            source, target = (functional.normalize(side, dim=1) for side in vectors.chunk(2))
            logits = self.scale.exp() * source @ target.T + self.bias
            signs = 2 * torch.eye(count, device=batch.device) - 1
            return functional.softplus(-signs * logits).masked_fill(refused, 0.0).sum() / count

        return PairComparison([batch.rows, batch.rows + len(batch.pairs)], loss, without_negative(mask))

    def of_equal_vectors(self, pairs: int) -> float:
        logit = (self.scale.exp() + self.bias).detach()
        return float(functional.softplus(-logit) + (pairs - 1) * functional.softplus(logit))
