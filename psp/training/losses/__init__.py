"""Losses: vectors of pairs in, a scalar and its gradient out. What a config's check asks needs no torch.

A loss of one's own is ``train: {objective: my_module:MyLoss}``, a subclass of :class:`psp.training.losses.base.Loss` in
my_module.py; ``tests/training/pairwise_sigmoid.py`` is a complete example, with parameters of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from psp.config.blocks.training import OBJECTIVES
from psp.core import user_code
from psp.core.errors import ConfigError

if TYPE_CHECKING:
    from psp.training.losses.base import Loss

PLACE = "train.objective"


def find(objective: str) -> type[Loss]:
    """The class of a value of ``train.objective``.

    Raises:
        ConfigError: a user's own does not exist, its module cannot be imported, or it is no loss.
    """
    if objective == "infonce":
        from psp.training.losses.infonce import InfoNCE

        return InfoNCE
    if objective == "margin":
        from psp.training.losses.margin import Margin

        return Margin
    from psp.training.losses.base import Loss

    return user_code.subclass(objective, PLACE, Loss)


def reads(objective: str) -> frozenset[str]:
    """The keys of ``train`` that a loss reads, besides those that training reads for each.

    Raises:
        ConfigError: as :func:`find`.
    """
    return OBJECTIVES[objective] if objective in OBJECTIVES else find(objective).reads


def check(train: Mapping[str, Any]) -> None:
    """Check that the loss of these keys of ``train`` exists and has its settings.

    Raises:
        ConfigError: as :func:`find`; or ``loss`` does not fit it.
    """
    if train["objective"] not in OBJECTIVES:
        find(train["objective"]).Settings.at("train.loss", train["loss"])
    elif train["loss"]:
        raise ConfigError(
            f"train.loss: has settings of a class of your own, but objective is {train['objective']}; leave it out, or "
            "write `loss: {}` in a variant"
        )


def mines(objective: str) -> bool:
    """Whether a loss has negatives mined from mega-batches.

    Raises:
        ConfigError: as :func:`find`.
    """
    return "negatives" in reads(objective)


def make_loss(train: Mapping[str, Any]) -> Loss:
    """The loss of a training run with these keys of ``train``."""
    return find(train["objective"])(train)
