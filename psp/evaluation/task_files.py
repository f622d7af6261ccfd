"""Write and read a task's scores and their resamples: results/<model>/tasks/<task>.json and the file beside it.

The other file, with the same name and the ending of :data:`RESAMPLES`, has each figure in each bootstrap resample. Its
conditions name the items drawn, so that only scores on the same items are subtracted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NotRequired, Required, TypedDict

from psp.core.files import read_report, write_json
from psp.evaluation import resamples
from psp.evaluation.scorers import Floats
from psp.evaluation.tasks.base import Task


class Conditions(TypedDict):
    """How the intervals were computed."""

    confidence: float  # the confidence level of all intervals, 0.95
    resamples: int  # bootstrap resamples for the interval of a correlation
    seed: int  # seed of the resamples


class Skipped(TypedDict):
    set: str  # the test set
    why: str  # the reason


class TaskFile(TypedDict):
    name: str  # the file's name, without its folder
    sha256: str  # its SHA-256


class Overlap(TypedDict):
    """What the set and the model's training pairs share (the same letters and digits, ignoring case)."""

    sentences: int  # distinct sentences of the set
    in_training: int  # those that are a side of a training pair
    pairs: int  # the training pairs with such a side


class Figure(TypedDict, total=False):
    value: Required[float | None]  # the score; null if it is undefined
    interval: Required[list[float] | None]  # its 95% bootstrap interval; null if the score is undefined
    why: str  # why the score is undefined
    items: int  # how many it is over, if not all of its part
    label: str
    unit: Literal["correlation x 100", "%"]  # the unit of value and interval
    higher_is_better: bool  # false for errors
    compared: Literal[False]  # systems are not compared by it


class PartScores(TypedDict, total=False):
    items: Required[int]  # number of items that the bootstrap draws from (pairs, queries, texts)
    figures: Required[dict[str, Figure]]  # each score; correlations times 100, shares in %
    further: Required[dict[str, Any]]  # what else is worth knowing, such as a threshold that was chosen
    test: str  # what people call it; of the tasks of every model alone
    detail: bool  # whether it is a part of another part, shown beside it but not compared
    mean_of: list[str]  # the parts whose mean it is
    development: bool  # whether models are chosen by it, so that it is no test


class ScoredTask(TypedDict, total=False):
    task: str  # the kind of task, such as retrieval
    settings: dict[str, Any]  # the task's settings but the paths
    # the files of the set, in the order in which they are read; scores on others cannot be subtracted
    files: list[TaskFile]
    overlap: Overlap
    unknown_languages: list[str]  # languages of the task that the model does not have
    why: str  # why a system cannot do the task; it has no parts then
    parts: Required[dict[str, PartScores]]  # the scores of each part of the set, such as a direction of retrieval


class Scores(TypedDict, total=False):
    # the scores on each task, those of every model first, in the order in which they are shown
    tasks: Required[dict[str, ScoredTask]]
    conditions: Required[Conditions]
    # the checksum of each set's sentences and gold scores (psp.text.published_sets)
    sets: dict[str, str]
    skipped: Required[list[Skipped]]  # what was not run, and why


class Difference(TypedDict):
    difference: float | None  # the difference (correlations x 100, shares in %); null if either score is undefined
    # its 95% interval by the paired bootstrap; null if undefined, or if the items depend on the system
    interval: list[float] | None


#: The formats that are read; psp.evaluation.task writes the last.
FORMAT = 1


class TaskScores(TypedDict):
    """A model's scores on one task."""

    format: int
    model: str
    name: str  # the task's name in the config
    task: str  # the kind of task, such as retrieval
    settings: dict[str, Any]  # the task's settings, defaults included
    # the files of the set, in the order in which they are read; scores on others cannot be subtracted
    files: list[TaskFile]
    conditions: Conditions
    overlap: NotRequired[Overlap]
    unknown_languages: NotRequired[list[str]]  # languages of the task that the model does not have
    why: NotRequired[str]  # why a system cannot do the task; it has no parts then
    # the checksum of each set's sentences and gold scores (psp.text.published_sets)
    sets: NotRequired[dict[str, str]]
    skipped: NotRequired[list[Skipped]]  # what was not run, and why
    parts: dict[str, PartScores]  # the scores of each part of the set, such as a direction of retrieval


#: Ending of the file of resamples beside the scores.
RESAMPLES = ".safetensors"


def same_draw(result: Mapping[str, Any]) -> dict[str, Any]:
    """What two files of scores must have in common for their resamples to be of the same items.

    These are the task's ``name``, its kind (``task``), its ``settings`` but the paths, its ``files``, and the
    bootstrap's ``conditions``.

    Args:
        result: the JSON of a task.
    """
    kind = Task.classes.get(result["task"], Task)
    settings = {key: value for key, value in result["settings"].items() if key not in kind.paths}
    return {**{key: result[key] for key in ("name", "task", "files", "conditions")}, "settings": settings}


def conditions(result: Mapping[str, Any]) -> dict[str, Any]:
    """The conditions in the file of resamples: the bootstrap's, and a hash of :func:`same_draw`."""
    drawn = json.dumps(same_draw(result), sort_keys=True)
    return {**result["conditions"], "drawn_from": hashlib.sha256(drawn.encode()).hexdigest()}


def write(out: Path | str, result: Mapping[str, Any], resampled: Mapping[str, Floats]) -> None:
    """Write the scores on a task, and their resamples beside them, each atomically."""
    # The resamples first: scores without them would count as finished.
    resamples.write(Path(out).with_suffix(RESAMPLES), resampled, conditions(result))
    write_json(out, result)


def scored_task(path: Path | str) -> tuple[TaskScores, dict[str, Floats]]:
    """Read the scores on a task, and each figure in each resample, float64 (resamples,), by ``<part>/<figure>``.

    Raises:
        DataError: a file is missing or damaged.
    """
    scores: TaskScores = read_report(path, FORMAT)
    return scores, resamples.read(Path(path).with_suffix(RESAMPLES), conditions(scores))
