"""Variants of a model's training: the same pairs, vocabulary and development data, other settings, several seeds.

They compare recipes with everything else equal, and give the deviation over seeds. The model's own settings are the
first variant, named after its recipe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from psp.core.errors import ConfigError
from psp.core.settings import NAME

#: Keys of a variant's entry that are not keys of the block ``train``.
_OWN = ("recipe", "seeds")


@dataclass(frozen=True)
class Variant:
    """One way to train a model.

    Attributes:
        name: its folder's name.
        recipe: gives its training the values that the config does not.
        seeds: the seeds of its trainings.
        train: the whole block ``train``.
        base: whether these are the model's own settings.
    """

    name: str
    recipe: str
    seeds: tuple[int, ...]
    train: Mapping[str, Any]
    base: bool = False


def resolve(
    entries: Mapping[str, Mapping[str, Any] | None],
    *,
    recipe: str,
    seeds: Collection[int],
    train: Mapping[str, Any],
    defaults: Callable[[str], Mapping[str, Any]],
    of_recipe: Collection[str],
    where: str,
) -> dict[str, Variant]:
    """Resolve all variants of a model, by name, its own settings first.

    A variant's value comes from the following, where the last wins: the model's block ``train``; if the variant names
    a recipe, that recipe's values for all keys that change what is learned and kept; its own keys. How a training runs
    (its threads, say, or when it is evaluated) follows the model. A search's winner applies only to the model's own
    settings.

    Args:
        entries: the config's ``variants``; None leaves out a variant of the extended model.
        recipe, seeds, train: the model's.
        defaults: gives a recipe's block ``train``.
        of_recipe: the keys of ``train`` that a recipe decides on.
        where: the model's place in the config, for the error.

    Raises:
        ConfigError: a name is not usable for a folder, or is that of the model's own settings; or two variants agree.
    """
    found = {recipe: Variant(recipe, recipe, tuple(seeds), train, base=True)}
    for name, entry in entries.items():
        if entry is None:
            continue
        if not re.fullmatch(NAME, name):
            raise ConfigError(
                f"{where}.variants.{name}: not a usable name (it becomes a folder under results/); "
                "use letters, digits, '.', '_' or '-', such as no-zipf"
            )
        if name in found:
            raise ConfigError(
                f"{where}.variants.{name}: this is the name of the model's own settings, which are always a variant; "
                f"write another, or `{name}: null` if it comes from a model that this one extends"
            )
        named = entry.get("recipe")
        values = {key: value for key, value in defaults(named).items() if key in of_recipe} if named else {}
        own = {key: value for key, value in entry.items() if key not in _OWN}
        block = {**train, **values, **own, "tune": False}
        _check_distinct(name, block, found.values(), where)
        found[name] = Variant(name, named or recipe, tuple(entry.get("seeds", seeds)), block)
    return found


def _check_distinct(name: str, block: Mapping[str, Any], others: Collection[Variant], where: str) -> None:
    for other in others:
        if other.train == block:  # never if a search decides the model's own settings: they are not known yet
            raise ConfigError(
                f"{where}.variants.{name}: its settings are those of {other.name}, so both would be the same "
                "training; leave it out, or give it a key of its own"
            )
