"""The losses of the objectives, made of the settings that each declares that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from psp.training.losses.base import Loss
from psp.training.losses.infonce import InfoNCELoss
from psp.training.losses.margin import MarginLoss
from psp.training.losses.objective import find

#: By the value of ``train.objective``: from the keys of ``train`` that the objective reads to its loss.
LOSSES: dict[str, Callable[[Mapping[str, Any]], Loss]] = {
    "margin": lambda train: MarginLoss(train["margin"], train["directions"]),
    "infonce": lambda train: InfoNCELoss(train["margin"], train["scale"], train["mask_equal"]),
}


def make_loss(train: Mapping[str, Any]) -> Loss:
    """The loss of a training with these keys of ``train``, of which it is given those that its objective reads."""
    name = train["objective"]
    return LOSSES[name]({key: train[key] for key in find(name).reads})
