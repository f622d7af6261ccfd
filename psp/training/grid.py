"""A grid of training settings: its points, each a training of its own, and the best of them on development data.

The paper (section 5.1) tries dropout {0, 0.1, 0.3} and mega-batches of at most {60, 100, 140}; ParaNMT-50M (Table 6)
tries mega-batches of {1, 20, 40}. A point has one value for each key of the grid. A key with a single value, such as
``epochs: [2]``, holds for the points alone; the others are searched.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from psp.config.blocks.training import OBJECTIVES
from psp.core.errors import ConfigError, DataError
from psp.core.files import read_report
from psp.training.losses import reads

if TYPE_CHECKING:
    from psp.evaluation.variants import GridPoint, GridReport


#: By the value of ``train.init``.
INIT = {"normal": frozenset[str](), "zipf": frozenset({"init_smoothing"})}
#: By the value of ``train.schedule``.
SCHEDULE = {"constant": frozenset[str](), "linear": frozenset({"warmup"})}


def unused(train: Mapping[str, Any]) -> frozenset[str]:
    """The keys of ``train`` that a training run with these settings never reads.

    Raises:
        ConfigError: a user's own objective does not exist.
    """
    read = reads(train["objective"]) | INIT[train["init"]] | SCHEDULE[train["schedule"]]
    return frozenset().union(*OBJECTIVES.values(), *INIT.values(), *SCHEDULE.values()) - read


def searched(grid: Mapping[str, Sequence[Any]]) -> list[str]:
    """The keys with several values."""
    return [key for key, values in grid.items() if len(values) > 1]


def points(grid: Mapping[str, Sequence[Any]]) -> dict[str, dict[str, Any]]:
    """All points by name (``dropout=0.1+megabatch=60``); the grid's last key changes fastest.

    Names are valid file names without commas: Snakemake cannot pass a wildcard with a comma to a cluster job.
    """
    choices = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values()) if values]
    names = searched(grid)
    return {"+".join(f"{key}={_text(point[key])}" for key in names): point for point in choices}


def check(where: str, grid: Mapping[str, Sequence[Any]], trained: Sequence[Mapping[str, Any]]) -> None:
    """Check that a grid searches something, and only what trainings read.

    Args:
        where: its place in the config, such as ``models.fr.variants.grid``.
        trained: the block ``train`` of each point.

    Raises:
        ConfigError: it does not.
    """
    if not searched(grid):
        raise ConfigError(f"{where}: no key has several values; write e.g. `grid: {{dropout: [0, 0.1, 0.3]}}`")
    unread = frozenset.intersection(*map(unused, trained))
    if stray := [key for key in searched(grid) if key in unread]:
        raise ConfigError(f"{where}.{stray[0]}: training with these settings does not use {stray[0]}; leave it out")


def report(trained: Mapping[str, Path | str], searched: Mapping[str, Mapping[str, Any]]) -> GridReport:
    """The points and the best of them.

    Args:
        trained: the train.json of each point, by name.
        searched: the values of the keys that are searched, by name.

    Raises:
        DataError: a file is missing or damaged, has no validation score, or belongs to another point.
    """
    found: list[GridPoint] = []
    for name, values in searched.items():
        path = trained[name]
        body: dict[str, Any] = read_report(path, 1)
        if wrong := [key for key, value in values.items() if body["settings"][key] != value]:
            other = " and ".join(f"{key} {body['settings'][key]}, not {values[key]}" for key in wrong)
            raise DataError(f"is of a training with {other}; delete it and make it again", path)
        if (best := body["best"]) is None:
            raise DataError("has no validation score; give the model development data", path)
        score = float(body.get("final", best)["score"])
        about = {"name": name, "settings": dict(values), "score": score, "epoch": best["epoch"], "steps": body["steps"]}
        found.append(cast("GridPoint", about))
    return {"points": found, "best": max(found, key=lambda point: point["score"])["name"]}


def differences(known: Mapping[str, Any], recipe: Mapping[str, Any], used: Mapping[str, Any]) -> dict[str, Any]:
    """What eval.json says about a model with settings from its grid: the keys that differ from its recipe.

    Args:
        known: the differences known from the config alone (dotted keys), without those of the grid.
        recipe: the recipe's value for each key that is searched; empty for another model.
        used: the settings that the model was trained with.
    """
    return {**known, **{f"train.{key}": used[key] for key, value in recipe.items() if used[key] != value}}


def _text(value: Any) -> str:
    """Format a value for a file name: 0 for 0.0, so that both spellings in a config are one point."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "+".join(f"{key}={_text(one)}" for key, one in value.items()) or "none"
    if isinstance(value, list | tuple):
        return "-".join(map(_text, value)) or "none"
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)
