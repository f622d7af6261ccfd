"""Variants of a model's training: the same pairs, vocabulary and development data, other settings, several seeds.

They compare recipes with everything else equal, and give the standard deviation over seeds. The model's own settings
are the first variant, named after its recipe. Each point of a grid (:mod:`psp.training.grid`) is one, with one seed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from psp.config.blocks.fields import NAME
from psp.core.errors import ConfigError
from psp.training.grid import points, searched

#: The key of ``variants`` that is no variant's name.
GRID = "grid"
#: Keys of a variant's entry that are not keys of its model's block, ``train`` or ``transformer``.
_OWN = ("recipe", "seeds", "transformer")


@dataclass(frozen=True)
class VariantEntry:
    """One way to train a model.

    Attributes:
        name: the name of its folder.
        recipe: the recipe, for values not set in the config.
        seeds: its training seeds.
        train: the whole block ``train``.
        base: whether these are the model's own settings.
        point: of a point of the model's grid, the values that it has of what the grid searches.
    """

    name: str
    recipe: str
    seeds: tuple[int, ...]
    train: Mapping[str, Any]
    base: bool = False
    point: Mapping[str, Any] | None = None


def resolve(
    entries: Mapping[str, Mapping[str, Any] | None],
    *,
    recipe: str,
    seed: int,
    seeds: Collection[int],
    train: Mapping[str, Any],
    defaults: Callable[[str], Mapping[str, Any]],
    of_recipe: Collection[str],
    where: str,
) -> dict[str, VariantEntry]:
    """Resolve all variants of a model, by name, its own settings first.

    A variant's value comes from these, each overriding the one before: the model's block ``train``; if the variant
    names a recipe, that recipe's values for all keys that change what is learned and kept; its own keys. How a training
    runs (such as its threads, or how often it is validated) follows the model. The points of the grid come last; what
    is the best of them applies only to the model's own settings.

    Args:
        entries: the config's ``variants``; None removes a variant of the extended model.
        recipe, seed, seeds, train: the model's.
        defaults: returns a recipe's block ``train``.
        of_recipe: the keys of ``train`` that a recipe sets.
        where: the model's location in the config, for errors.

    Raises:
        ConfigError: a name is not usable for a folder, or is that of the model's own settings; a recipe differs from
            the model's in what all variants share; or two variants are equal.
    """
    ours = defaults(recipe)
    alone = {"settings_from": None} if "settings_from" in train else {}
    variants = {recipe: VariantEntry(recipe, recipe, tuple(seeds), train, base=True)}
    for name, entry in entries.items():
        if entry is None or name == GRID:
            continue
        if not re.fullmatch(NAME, name):
            raise ConfigError(
                f"{where}.variants.{name}: not a usable name (it becomes a folder under results/); "
                "use letters, digits, '.', '_' or '-', such as no-zipf"
            )
        if name in variants:
            raise ConfigError(
                f"{where}.variants.{name}: this is the name of the model's own settings, which are always a variant; "
                f"choose another, or `{name}: null` if it comes from a model that this one extends"
            )
        named = entry.get("recipe")
        of_named = defaults(named) if named else {}
        if beyond := sorted(key for key, value in of_named.items() if key not in of_recipe and value != ours[key]):
            raise ConfigError(
                f"{where}.variants.{name}: recipe {named} differs from the model's, {recipe}, in {', '.join(beyond)}, "
                "which all variants of a model share; write a separate model, with `extends:` and `recipe:`, or "
                f"`{name}: null` if it comes from a model that this one extends"
            )
        values = {key: value for key, value in of_named.items() if key in of_recipe}
        own = {key: value for key, value in entry.items() if key not in _OWN} | entry.get("transformer", {})
        block = {**train, **values, **own, **alone}
        # None if the grid decides the model's own settings, which are not known yet.
        if same := next((other.name for other in variants.values() if other.train == block), None):
            raise ConfigError(
                f"{where}.variants.{name}: its settings equal those of {same}, so both would train the same model; "
                "leave it out, or change a key"
            )
        variants[name] = VariantEntry(name, named or recipe, tuple(entry.get("seeds", seeds)), block)
    grid = entries.get(GRID) or {}
    for name, values in points(grid).items():
        own = {key: values[key] for key in searched(grid)}
        variants[name] = VariantEntry(name, recipe, (seed,), {**train, **values, **alone}, point=own)
    return variants
