"""What every loss has in common: the texts of a mini-batch are chosen, encoded, and compared.

The trainer knows a :class:`Loss` and no more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from psp.pairs.encoded_pairs import Pairs
from psp.text.encoded import Encoded
from psp.training.negatives.mining import Negatives
from psp.training.process_group import ProcessGroup

#: Encodes sentences of the mega-batch by their numbers, int64 (k,); their numbers in the mini-batch, int64 (k,), choose
#: their noise. Third, where a loss compares others too (:attr:`Comparison.further`), these. Returns vectors, shape
#: (k, dim).
Encode = Callable[..., Tensor]


@dataclass(frozen=True)
class MiniBatch:
    """A mini-batch of n pairs.

    Attributes:
        pairs: its mega-batch, of m pairs. Sentences are numbered there: sources from 0 to m - 1, targets from m on.
        rows: the numbers of its pairs, int64, shape (n,).
        negatives: mined for the mega-batch; None where the objective mines none.
        device: of the vectors.
        group: the processes that share it; None = this one alone.
        step: mini-batches before it, in the whole training.
    """

    pairs: Pairs
    rows: npt.NDArray[np.int64]
    negatives: Negatives | None
    device: torch.device
    group: ProcessGroup | None = None
    step: int = 0

    def share(self, count: int) -> slice:
        """The part of ``count`` things that falls to this process."""
        return slice(*((0, count) if self.group is None else self.group.share(count)))


class Comparison(NamedTuple):
    """What a loss compares in one mini-batch.

    Attributes:
        texts: parts, each the numbers of sentences of the mega-batch, int64, shape (k,). A process encodes its share
            (:meth:`MiniBatch.share`) of each part.
        loss: this process's share of the loss, a scalar, from the vectors of its shares of all parts, shape
            (sum of k, dim). All shares add up to the loss.
        without_negative: sentences that have no negative at all, and so no loss; in all processes together.
        further: sentences from outside the mega-batch, numbered after its own, from 2m on; None = none.
    """

    texts: Sequence[npt.NDArray[np.int64]]
    loss: Callable[[Tensor], Tensor]
    without_negative: int = 0
    further: Encoded | None = None


class Loss(torch.nn.Module, ABC):
    """The loss of an objective; its own parameters, if it has any, are trained beside the encoder's.

    Attributes:
        learning_rate: the highest of its own parameters.
        takes_negatives: whether it uses negatives that its objective mines; if not, none are mined.
        takes_negatives_of_targets: whether it also uses those of targets; if not, only sources get any.
    """

    learning_rate: ClassVar[float] = 1e-3
    takes_negatives: bool = True
    takes_negatives_of_targets: bool = True

    @abstractmethod
    def compare(self, batch: MiniBatch) -> Comparison:
        """What is compared in a mini-batch, and how."""

    @abstractmethod
    def of_equal_vectors(self, pairs: int) -> float:
        """The loss of a mini-batch of so many pairs whose vectors are all the same, so that all cosines are 1.

        A training that ends above it is said to have diverged.
        """

    def forward(self, batch: MiniBatch, encode: Encode, lengths: Sequence[int] = ()) -> tuple[Tensor, int]:
        """This process's share of a mini-batch's loss, and the number of sentences without a negative.

        With ``lengths`` (those of ``matryoshka``) the loss is the mean over the vectors and over their beginnings of
        these lengths.
        """
        compared = self.compare(batch)
        shares = [batch.share(len(part)) for part in compared.texts]
        starts = np.cumsum([0, *map(len, compared.texts)])
        numbers = [np.arange(start + own.start, start + own.stop) for start, own in zip(starts, shares, strict=False)]
        texts = [part[own] for part, own in zip(compared.texts, shares, strict=True)]
        further = () if compared.further is None else (compared.further,)
        vectors = encode(np.concatenate(texts), np.concatenate(numbers), *further)
        if not lengths:
            return compared.loss(vectors), compared.without_negative
        parts = [vectors, *(vectors[:, :length].contiguous() for length in lengths)]
        return torch.stack([compared.loss(part) for part in parts]).mean(), compared.without_negative
