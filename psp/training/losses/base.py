"""What every loss has in common: the texts of a mini-batch are chosen, encoded, and compared.

The trainer knows a :class:`Loss` and no more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from psp.training.objectives import MiniBatch, Objective, PairComparison, find

#: Encodes sentences of the mega-batch by their numbers, int64 (k,); their numbers in the mini-batch, int64 (k,), choose
#: their noise. Third, where a loss compares others too (:attr:`PairComparison.further`), these. Returns vectors, shape
#: (k, dim).
Encode = Callable[..., Tensor]


class Loss(torch.nn.Module, ABC):
    """The function minimised: an objective's, a teacher's, or both.

    Attributes:
        learning_rate: the highest of its own parameters.
        takes_negatives: whether it uses negatives that its objective mines; if not, none are mined.
        takes_negatives_of_targets: whether it also uses those of targets; if not, only sources get any.
    """

    learning_rate: float
    takes_negatives: bool
    takes_negatives_of_targets: bool

    @abstractmethod
    def compare(self, batch: MiniBatch) -> PairComparison:
        """The texts compared in a mini-batch, and how."""

    @abstractmethod
    def of_equal_vectors(self, pairs: int) -> float:
        """As :meth:`Objective.of_equal_vectors`."""

    def forward(self, batch: MiniBatch, encode: Encode, lengths: Sequence[int] = ()) -> tuple[Tensor, int]:
        """A mini-batch's loss, and the number of sentences without a negative.

        With ``lengths`` (those of ``matryoshka``) the loss is the mean over the vectors and over their beginnings of
        these lengths.
        """
        compared = self.compare(batch)
        texts = np.concatenate(compared.texts)
        further = () if compared.further is None else (compared.further,)
        vectors = encode(texts, np.arange(len(texts)), *further)
        if not lengths:
            return compared.loss(vectors), compared.without_negative
        parts = [vectors, *(vectors[:, :length].contiguous() for length in lengths)]
        return torch.stack([compared.loss(part) for part in parts]).mean(), compared.without_negative


class ObjectiveLoss(Loss):
    """The loss of an objective, with the objective's parameters as this module's."""

    def __init__(self, objective: Objective) -> None:
        super().__init__()
        self._objective = objective
        self.learning_rate = objective.learning_rate
        self.takes_negatives, self.takes_negatives_of_targets = True, objective.takes_negatives_of_targets
        for name, value in objective.parameters().items():
            self.register_parameter(name, torch.nn.Parameter(value))

    def compare(self, batch: MiniBatch) -> PairComparison:
        return self._objective.compare(batch, **dict(self.named_parameters()))

    def of_equal_vectors(self, pairs: int) -> float:
        return self._objective.of_equal_vectors(pairs, **dict(self.named_parameters()))


def make_loss(train: Mapping[str, Any]) -> Loss:
    """The loss of a training run with these keys of ``train``; it gets those that its objective reads."""
    objective = find(train["objective"])
    return ObjectiveLoss(objective({key: train[key] for key in objective.reads}))
