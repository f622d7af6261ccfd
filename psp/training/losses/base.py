"""What every loss has in common: it chooses the texts of a mini-batch, and compares their vectors.

The trainer knows a :class:`Loss` and no more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from psp.config.blocks.base import Block
from psp.config.blocks.training import OBJECTIVES
from psp.pairs.encoded_pairs import Pairs
from psp.text.tokenizer import Encoded
from psp.training.negatives.mining import Negatives


@dataclass(frozen=True)
class MiniBatch:
    """A mini-batch of n pairs.

    Attributes:
        pairs: its mega-batch, of m pairs. Sentences are numbered there: sources from 0 to m - 1, targets from m on.
        rows: the numbers of its pairs, int64, shape (n,).
        negatives: mined for the mega-batch; None where the loss reads no ``negatives``.
        device: of the vectors.
        step: mini-batches before it, in the whole training.
    """

    pairs: Pairs
    rows: npt.NDArray[np.int64]
    negatives: Negatives | None
    device: torch.device
    step: int = 0


class PairComparison(NamedTuple):
    """The texts that a loss compares in one mini-batch.

    Attributes:
        texts: parts, each the numbers of sentences of the mega-batch, int64, shape (k,).
        loss: the loss, a scalar, from the vectors of all parts, shape (sum of k, dim).
        without_negative: sentences that have no negative at all, and so no loss.
        further: sentences from outside the mega-batch, numbered after its own, from 2m on; None = none.
    """

    texts: Sequence[npt.NDArray[np.int64]]
    loss: Callable[[Tensor], Tensor]
    without_negative: int = 0
    further: Encoded | None = None


class Loss(torch.nn.Module, ABC):
    """The function minimised. Its parameters, if it has any, are trained with the encoder's.

    Args:
        train: the keys of the block ``train``.

    Attributes:
        Settings: of a user's own: the keys of ``train.loss``.
        settings: their values.
        reads: of a user's own: the keys of ``train`` that it reads, besides those that training reads for each; with
            "negatives", they are mined. Of psp's own: :data:`psp.config.blocks.training.OBJECTIVES`.
        mines: whether it uses negatives mined from mega-batches.
        of_targets: whether it also uses mined negatives of targets; if not, only sources get any.
        learning_rate: the highest of its own parameters.
    """

    Settings: ClassVar[type[Block]] = Block
    reads: ClassVar[frozenset[str]] = frozenset()
    mines: bool
    of_targets: bool = True
    learning_rate: float = 1e-3

    def __init__(self, train: Mapping[str, Any]) -> None:
        super().__init__()
        self.settings = self.Settings.at("train.loss", train["loss"]).as_dict()
        self.mines = "negatives" in OBJECTIVES.get(train["objective"], self.reads)

    @abstractmethod
    def compare(self, batch: MiniBatch) -> PairComparison:
        """The texts compared in a mini-batch, and how."""

    @abstractmethod
    def of_equal_vectors(self, pairs: int) -> float:
        """The loss of a mini-batch of this many pairs with equal vectors, so that all cosines are 1.

        A training run that ends above it counts as diverged.
        """
