"""Grid search over training settings: each point of the grid is a short training run, and the best one wins.

The paper (section 5.1) tries dropout {0, 0.1, 0.3} and mega-batches of at most {60, 100, 140}; ParaNMT-50M (Table 6)
tries mega-batches of {1, 20, 40}. A point assigns one value to each key of the grid. Points whose runs would be
identical step by step are rejected: they cost as much as others and tell nothing, and a user who asked for M = 140
should learn that no mega-batch became that large.
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, cast

from psp.core.errors import ConfigError
from psp.core.files import read_report, write_json
from psp.core.settings import Section, Setting, integer, list_of
from psp.training.objectives import OBJECTIVES, find, mines
from psp.training.schedule import megabatch_size
from psp.training.settings import NOT_TUNABLE, TrainSettings
from psp.training.validated import validated


class TuneWinner(TypedDict):
    """The point with the highest score, the first if tied; used for training if `train.tune` is true."""

    name: str  # the point's name, and that of its folder in results/<model>/tune
    settings: dict[str, Any]  # the value for each key of the grid
    # the validation score: the mean over the sets of scored pairs minus the error, each with its weight; a null
    # counts as 0; higher is better
    score: float


class TunePoint(TuneWinner):
    epoch: int  # the epoch, from 1, in which the score was reached
    steps: int  # total mini-batches
    largest_megabatch: int  # mini-batches of the largest mega-batch


class TuneReport(TypedDict):
    """A grid search over training settings, and the point with the best validation score."""

    format: int
    model: str
    grid: dict[str, Any]  # the values tried for each key of the config's train block, in all combinations
    epochs: int  # passes over the pairs for each point, unless epochs is in the grid
    anneal: int  # mini-batches after which the mega-batch grows by one, for each point, unless anneal is in the grid
    points: list[TunePoint]  # all points, the grid's last key varying fastest
    winner: TuneWinner


#: Keys that only shape mega-batches: they are compared by the resulting mega-batches.
SHAPE = ("epochs", "batch_size", "megabatch", "anneal")
#: The settings that mining reads, for every objective.
MINING = frozenset({"megabatch", "anneal", "negatives", "mask_equal"})
#: By the value of ``train.init``.
INIT = {"normal": frozenset[str](), "zipf": frozenset({"init_smoothing"})}
#: By the value of ``train.schedule``.
SCHEDULE = {"constant": frozenset[str](), "linear": frozenset({"warmup"})}
#: Where weights are averaged.
AVERAGE = frozenset({"average_part"})


def unused(train: Mapping[str, Any]) -> frozenset[str]:
    """The keys of ``train`` that a training run with these settings never reads.

    Raises:
        ConfigError: there is no such objective.
    """
    read = set(find(train["objective"]).reads) | INIT[train["init"]] | SCHEDULE[train["schedule"]]
    if mines(train):
        read |= MINING
    if train["average"] >= 2:
        read |= AVERAGE
    some_read = [objective.reads for objective in OBJECTIVES.values()]
    return MINING.union(AVERAGE, *some_read, *INIT.values(), *SCHEDULE.values()) - read


@dataclass(frozen=True)
class Course:
    """The mega-batches of a training, in order.

    Attributes:
        runs: (pairs in a mega-batch, number of consecutive mega-batches of that size).
        batch_size: pairs in a mini-batch, at most those of the largest mega-batch.
        steps: the total number of mini-batches.
        largest: mini-batches in the largest mega-batch.
    """

    runs: tuple[tuple[int, int], ...]
    batch_size: int
    steps: int
    largest: int


def course(pairs: int, settings: Mapping[str, Any]) -> Course:
    """The mega-batches of a training run with these settings over a store of ``pairs`` pairs.

    The last mega-batch of an epoch may be shorter; one of a single pair is skipped.
    """
    epochs, batch_size, megabatch, anneal = (settings[key] for key in SHAPE)
    return _course(pairs, epochs, batch_size, 1 if "megabatch" in unused(settings) else megabatch, anneal)


@functools.cache
def _course(pairs: int, epochs: int, batch_size: int, megabatch: int, anneal: int) -> Course:
    runs: list[list[int]] = []
    step = largest = 0
    for _ in range(epochs):
        left = pairs
        while left:
            taken = min(left, megabatch_size(step, anneal, megabatch) * batch_size)
            left -= taken
            if taken > 1:
                step += -(-taken // batch_size)
                largest = max(largest, taken)
            if runs and runs[-1][0] == taken:
                runs[-1][1] += 1
            else:
                runs.append([taken, 1])
    return Course(
        tuple((size, count) for size, count in runs), min(batch_size, largest), step, -(-largest // batch_size)
    )


def tunable() -> dict[str, dict[str, Any]]:
    """For each key of the block ``train`` that affects what is learned, a reference to its place in the schema."""
    keys = [key for key in TrainSettings.declared() if key not in NOT_TUNABLE]
    return {key: {"$ref": f"#/$defs/train/properties/{key}"} for key in keys}


def _grid() -> dict[str, Any]:
    # Values in the grid are validated like the key of `train` that they are for.
    properties = {
        key: list_of(items=place, at_least=1, distinct=True, help="the values to try").node
        for key, place in tunable().items()
    }
    return {"type": "object", "minProperties": 1, "properties": properties, "additionalProperties": False}


SECTION = Section(
    "the search for training settings behind results/<model>/tune.json; each point is a separate training run",
    {
        "grid": Setting(
            _grid,
            "a mapping",
            default={"token_dropout": [0, 0.15, 0.3], "scale": [10, 20, 40]},
            recipes={
                **{recipe: {"dropout": [0, 0.1, 0.3], "megabatch": [60, 100, 140]} for recipe in ("paper", "code")},
                "paranmt": {"megabatch": [1, 20, 40]},
            },
            help="values to try for keys of `train`, in all combinations; your own grid replaces this one entirely",
        ),
        "epochs": integer(
            2,
            at_least=1,
            recipes={"paranmt": 5},
            help="passes over the pairs for each point, unless the grid has epochs",
        ),
        "anneal": integer(
            30,
            at_least=0,
            recipes={"paranmt": 0},
            help="anneal for each point, unless the grid has it; small enough to reach the largest mega-batch",
        ),
    },
)


@dataclass(frozen=True)
class Tuning:
    """A search, as configured in the block ``tune``.

    Attributes:
        grid: the values to try for each key of the block ``train`` that is searched.
        epochs, anneal: those of each point, unless they are keys of the grid.
    """

    grid: Mapping[str, Sequence[Any]]
    epochs: int = SECTION["epochs"].default
    anneal: int = SECTION["anneal"].default

    @property
    def points(self) -> dict[str, dict[str, Any]]:
        """All points by name (``dropout=0.1+megabatch=60``); the grid's last key changes fastest.

        Names are valid file names without commas: Snakemake cannot pass a wildcard with a comma to a cluster job.
        """
        choices = [dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())]
        return {"+".join(f"{key}={_text(value)}" for key, value in point.items()): point for point in choices}

    def settings(self, train: Mapping[str, Any], name: str) -> dict[str, Any]:
        """The training settings of a point: the block ``train``, overridden by the point's values.

        Raises:
            ConfigError: the point does not exist.
        """
        if name not in self.points:
            raise ConfigError(f"tune.grid: {name} is not a point of it; there are {', '.join(self.points)}")
        return {**train, "epochs": self.epochs, "anneal": self.anneal, **self.points[name]}

    def check(
        self,
        train: Mapping[str, Any],
        *,
        pairs: int | None = None,
        paraphrase: Collection[bool] = (False, True),
        where: str = "tune",
    ) -> None:
        """Check that no two points are the same training run.

        Args:
            train: the settings of the block ``train``.
            pairs: the number of pairs in the store; None = not known yet, and sizes of mega-batches are compared only
                if they cannot depend on it.
            paraphrase: the kinds of pairs in the data: with only one, ``negatives: auto`` equals the value it means.
            where: the block's place in the config, for the error.

        Raises:
            ConfigError: two points are the same run.
        """
        seen: dict[str, str] = {}
        for name in self.points:
            same = _same_for_same_training(self.settings(train, name), pairs, paraphrase)
            if (other := seen.setdefault(same, name)) != name:
                raise ConfigError(self._say(train, other, name, pairs, paraphrase, where))

    def _say(
        self,
        train: Mapping[str, Any],
        one: str,
        other: str,
        pairs: int | None,
        paraphrase: Collection[bool],
        where: str,
    ) -> str:
        first, second = self.points[one], self.points[other]
        keys = [key for key in self.grid if first[key] != second[key]]
        why = f"{' and '.join(keys)} cannot tell them apart"
        settings = self.settings(train, one)
        if set(keys) <= set(SHAPE) - unused(settings) and pairs is not None:
            reached = course(pairs, settings)
            why = (
                f"their mega-batches are the same: in the {reached.steps:,} mini-batches of the run (epochs: "
                f"{settings['epochs']}, pairs: {pairs:,}) the largest M reached is {reached.largest}"
            )
        elif all(set(keys) <= unused(self.settings(train, name)) for name in (one, other)):
            why = f"which does not use {' and '.join(keys)}"
        elif "negatives" in keys:
            why = f"`auto` is `{_negatives('auto', paraphrase)}` for these corpora"
        key = keys[-1]
        left = [value for value in self.grid[key] if value != second[key]]
        if len(keys) == 1:  # other values may be redundant too
            values = {
                _same_for_same_training({**self.settings(train, one), key: value}, pairs, paraphrase): value
                for value in reversed(self.grid[key])
            }
            left = [value for value in self.grid[key] if value in values.values()]
        write = f"leave one out, `grid: {{{key}: {_list(left)}}}`"
        if pairs is not None and "anneal" not in self.grid and (anneal := self._smaller_anneal(train, pairs)):
            write += f", or let them grow faster, `anneal: {anneal}`"
        return f"{where}.grid: {one} and {other} would be the same training, {why}; {write}"

    def _smaller_anneal(self, train: Mapping[str, Any], pairs: int) -> int | None:
        """An ``anneal`` for which all points differ, found by halving; None if none exists."""
        anneal = min(self.anneal, course(pairs, self.settings(train, next(iter(self.points)))).steps)
        while anneal := anneal // 2:
            faster = Tuning(self.grid, self.epochs, anneal)
            if len({_same_for_same_training(faster.settings(train, name), pairs) for name in self.points}) == len(
                self.points
            ):
                return anneal
        return None

    def gather(self, reports: Mapping[str, Path], out: Path, *, model: str) -> TuneReport:
        """Choose the winner, the point with the highest ``final.score`` (the first of equals), and write tune.json.

        Args:
            reports: the train.json of each point, by the point's name.
            out: tune.json.
            model: the model's name, to be recorded.

        Returns:
            The content of tune.json.

        Raises:
            DataError: a report is missing or damaged, has no validation score, or belongs to another point.
        """
        points: list[TunePoint] = []
        for name, values in self.points.items():
            report, score = validated(reports[name], {"epochs": self.epochs, "anneal": self.anneal, **values})
            used = report["settings"]
            points.append(
                {
                    "name": name,
                    "settings": {key: used[key] for key in values},
                    "score": score,
                    "epoch": report["best"]["epoch"],
                    "steps": report["steps"],
                    "largest_megabatch": course(report["store_pairs"], used).largest,
                }
            )
        winner = max(points, key=lambda point: point["score"])
        result: dict[str, Any] = {
            "format": 1,
            "model": model,
            "grid": {key: list(values) for key, values in self.grid.items()},
            "epochs": self.epochs,
            "anneal": self.anneal,
            "points": points,
            "winner": {key: winner[key] for key in ("name", "settings", "score")},
        }
        write_json(out, result)
        return cast("TuneReport", result)


def winner(tune_json: Path | str) -> dict[str, Any]:
    """The winning values of the grid's keys.

    Raises:
        DataError: the file is missing, or of another format.
    """
    return dict(read_report(tune_json, 1)["winner"]["settings"])


def differences(known: Mapping[str, Any], recipe: Mapping[str, Any], used: Mapping[str, Any]) -> dict[str, Any]:
    """What eval.json says about a tuned model: the keys that differ from its recipe, with the values found.

    Args:
        known: the differences known from the config alone (dotted keys), without those of the grid.
        recipe: the recipe's value for each key of the grid; empty for a model that is not tuned.
        used: the settings that the model was trained with.
    """
    return {**known, **{f"train.{key}": used[key] for key, value in recipe.items() if used[key] != value}}


def _same_for_same_training(settings: Mapping[str, Any], pairs: int | None, kinds: Collection[bool] = ()) -> str:
    """A string that is equal for two settings if and only if, as far as is known, they train identically."""
    shape: Any = {key: settings[key] for key in SHAPE}
    if pairs is not None:
        whole = course(pairs, settings)
        shape = (whole.runs, whole.batch_size)
    elif settings["megabatch"] == 1:
        shape["anneal"] = None  # nothing grows
    others = {key: value for key, value in settings.items() if key not in SHAPE}
    others["negatives"] = _negatives(settings["negatives"], kinds)
    for key in unused(settings):
        if key not in SHAPE:
            others[key] = None
        elif pairs is None:
            shape[key] = None
    return json.dumps([others, shape], sort_keys=True)


def _negatives(name: str, paraphrase: Collection[bool]) -> str:
    if name == "auto" and len(set(paraphrase)) == 1:
        return "any" if set(paraphrase) == {True} else "opposite"
    return name


def _text(value: Any) -> str:
    """Format a value for a file name: 0 for 0.0, so that both spellings in a config are one point."""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return "-".join(map(_text, value)) or "none"
    return json.dumps(int(value) if isinstance(value, float) and value.is_integer() else value)


def _list(values: Sequence[Any]) -> str:
    """Format a list as in a config."""
    return f"[{', '.join(_list(value) if isinstance(value, list | tuple) else _text(value) for value in values)}]"
