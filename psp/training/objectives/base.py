"""The interface of training objectives, and their registry.

Checking a config, planning and tuning use this without torch: an objective's module imports torch where it computes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from psp.core import named
from psp.core.errors import ConfigError, closest

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch
    from torch import Tensor

    from psp.pairs.encoded_pairs import Pairs
    from psp.text.tokenizer import Encoded
    from psp.training.negatives.mining import Negatives

T = TypeVar("T", bound="type[Objective]")


@dataclass(frozen=True)
class MiniBatch:
    """A mini-batch of n pairs.

    Attributes:
        pairs: its mega-batch, of m pairs. Sentences are numbered there: sources from 0 to m - 1, targets from m on.
        rows: the numbers of its pairs, int64, shape (n,).
        negatives: mined for the mega-batch; None where the objective mines none.
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


class Objective(ABC):
    """A function to minimise over mini-batches of pairs; a value of ``train.objective``; see :func:`register`.

    Args:
        train: the settings that it reads, and no others.

    Attributes:
        name: in the config.
        help: a description in a few words, for the settings' page.
        reads: keys of ``train`` that it reads, besides those that the trainer reads for every objective.
        learning_rate: the highest of its own parameters, if it has any.
        takes_negatives_of_targets: whether it also uses mined negatives of targets; if not, only sources get any.
    """

    name: ClassVar[str]
    help: ClassVar[str]
    reads: ClassVar[frozenset[str]]
    learning_rate: ClassVar[float] = 1e-3
    takes_negatives_of_targets: bool = True

    def __init__(self, train: Mapping[str, Any]) -> None:
        self.train = train

    @classmethod
    @abstractmethod
    def mines(cls, train: Mapping[str, Any]) -> bool:
        """Whether negatives are mined from mega-batches, given the keys of ``train``."""

    @classmethod
    @abstractmethod
    def title(cls, train: Mapping[str, Any]) -> str:
        """Its settings, briefly, for the title of a learning curve; "" = none."""

    def parameters(self) -> Mapping[str, Tensor]:
        """Initial values of its own parameters, trained with the encoder's, by name; most have none."""
        return {}

    @abstractmethod
    def compare(self, batch: MiniBatch, **parameters: Tensor) -> PairComparison:
        """The texts compared in a mini-batch, and how, given the parameters' current values."""

    @abstractmethod
    def of_equal_vectors(self, pairs: int, **parameters: Tensor) -> float:
        """The loss of a mini-batch of this many pairs with equal vectors, so that all cosines are 1.

        A training run that ends above it counts as diverged.
        """


#: By name: a value that ``train.objective`` may have.
OBJECTIVES: dict[str, type[Objective]] = {}


def register(objective: T) -> T:
    """Make a class known by its name.

    Raises:
        ValueError: another class has this name.
    """
    named.add(OBJECTIVES, objective.name, objective)
    return objective


def find(name: str) -> type[Objective]:
    """The objective of that name.

    Raises:
        ConfigError: there is none.
    """
    if name not in OBJECTIVES:
        raise ConfigError(
            f"train.objective is {name}, but must be {' or '.join(OBJECTIVES)}{closest(name, OBJECTIVES)}"
        )
    return OBJECTIVES[name]


def mines(train: Mapping[str, Any]) -> bool:
    """Whether a training run with these keys of ``train`` mines negatives."""
    return find(train["objective"]).mines(train)
