"""The registry of objectives: what each is called, which settings it reads, and whether it mines.

Checking a config, planning and tuning ask here, and need no torch for it. An objective is an entry here, a subclass of
:class:`psp.training.losses.base.Loss` in a file of its own in this folder, and an entry in
:mod:`psp.training.losses.make`. (The two registries are apart so that no fingerprint of what only asks reaches losses.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from psp.core.errors import ConfigError


@dataclass(frozen=True)
class Objective:
    """What is known of an objective without computing it.

    Attributes:
        reads: keys of ``train`` that it reads, beside those that the trainer reads for every objective. Its loss is
            given no others.
        mines: whether negatives are mined from mega-batches, given the keys of ``train``.
    """

    reads: frozenset[str]
    mines: Callable[[Mapping[str, Any]], bool]


#: By the value of ``train.objective``.
OBJECTIVES: dict[str, Objective] = {
    "margin": Objective(
        reads=frozenset({"margin", "directions"}),
        mines=lambda train: True,
    ),
    "infonce": Objective(
        reads=frozenset({"margin", "scale", "candidates", "mask_equal"}),
        mines=lambda train: train["candidates"] == "mined",
    ),
}


def names() -> tuple[str, ...]:
    """The values that ``train.objective`` may have."""
    return tuple(OBJECTIVES)


def find(name: str) -> Objective:
    """The objective of that name.

    Raises:
        ConfigError: there is none.
    """
    if name not in OBJECTIVES:
        raise ConfigError(f"train.objective: {name!r} is not allowed; allowed is {' or '.join(names())}")
    return OBJECTIVES[name]


def mines(train: Mapping[str, Any]) -> bool:
    """Whether a training with these keys of ``train`` mines negatives."""
    return find(train["objective"]).mines(train)
