"""Variants of a model's training: the same pairs, vocabulary and development data, other settings, several seeds.

They are how recipes are compared: on what is otherwise one and the same, and with the deviation over the seeds. The
model's own settings are the first of them, under the name of its recipe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from psp.errors import ConfigError

#: Names become folders in results/<model>/variants.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
#: Keys of a variant's entry that are not keys of the block ``train``.
_OWN = ("recipe", "seeds")


@dataclass(frozen=True)
class Variant:
    """One way to train a model.

    Attributes:
        name: its folder's name.
        recipe: whose values its training takes where the config gives none.
        seeds: of its trainings.
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
    """All variants of a model by name, its own settings first.

    A variant's value comes from, last wins: the model's block ``train``; where the variant names a recipe, that
    recipe's values for all keys that change what is learned and kept; its own keys. How a training runs (its threads,
    say, or when it is evaluated) is the model's. A search's winner is for the model's own settings alone.

    Args:
        entries: the config's ``variants``; None stands for one of the extended model's that is left out.
        recipe, seeds, train: the model's.
        defaults: the block ``train`` as a recipe has it.
        of_recipe: the keys of ``train`` that a recipe decides on.
        where: the model's place in the config, for the error.

    Raises:
        ConfigError: a name cannot be a folder's, or is that of the model's own settings; or two variants are the same.
    """
    found = {recipe: Variant(recipe, recipe, tuple(seeds), train, base=True)}
    for name, entry in entries.items():
        if entry is None:
            continue
        if not _NAME.fullmatch(name):
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
        if other.train == block:  # not so where a search decides the model's own settings: nobody knows them yet
            raise ConfigError(
                f"{where}.variants.{name}: its settings are those of {other.name}, so that both would be the same "
                "training; leave it out, or give it a key of its own"
            )
