"""compare.json: a trained model and other systems, with the differences between them.

A job of its own evaluates each system (:mod:`psp.evaluation.system`) on the same sets and resamples as the model, and
on each task (:mod:`psp.evaluation.task`); this module gathers the results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast

from psp.core.errors import DataError
from psp.core.files import read_report, write_json
from psp.evaluation.resamples import difference, differences, read
from psp.evaluation.systems import TRAINED
from psp.evaluation.task_files import same_draw, scored_task
from psp.models.scores import FORMAT as EVALUATION_FORMAT
from psp.models.scores import compared_metrics, is_of_every_model, tasks_of

if TYPE_CHECKING:
    from psp.evaluation.evaluate import Evaluation
    from psp.evaluation.task_files import Difference, Scores


class Comparison(TypedDict):
    """A trained model and other systems, on the same test sets and bootstrap resamples."""

    format: int
    model: str
    systems: dict[str, Scores]  # the scores of each system by its name in the config, laid out as in eval.json
    differences: dict[str, dict[str, Difference]]  # for each other system its scores minus the model's
    # for each task of compare.tasks, and each other system, its scores minus the model's
    tasks: dict[str, dict[str, dict[str, dict[str, Difference]]]]


FORMAT: Final = 1
#: The entries of eval.json that are a system's scores.
_BODY = ("conditions", "tasks", "sets", "skipped")


def compare(
    trained: tuple[Path, Path],
    systems: Mapping[str, tuple[Path, Path]],
    out: Path | str,
    *,
    name: str,
    tasks: Sequence[str] = (),
) -> Comparison:
    """Write compare.json.

    Args:
        trained: the model's eval.json, and the file of its scores in each resample.
        systems: the same two files of each system, by name.
        out: path of compare.json; written atomically.
        name: the model's name in the config.
        tasks: further tasks on which they are compared, by name; ``tasks/<task>.json`` and its resamples lie beside
            each eval.json.

    Returns:
        What was written: ``format``, ``model``; ``systems``, a body as in eval.json for each name, the model's own
        under ``trained``; ``differences``, for each other system its figures minus the model's
        (:func:`psp.models.scores.compared_metrics`), each with the paired bootstrap's 95% interval; ``tasks``,
        for each task and other system :func:`task_differences`.

    Raises:
        DataError: a file is missing or damaged, or scored on other sets or resamples.
    """
    model = _body(trained[0])
    drawn = read(trained[1], model["conditions"])
    figures = compared_metrics(model)
    bodies, lost = {TRAINED: model}, {}
    for system, (evaluation, resampled) in systems.items():
        body = _body(evaluation)
        if body["conditions"] != model["conditions"]:
            raise DataError(f"scored on other resamples than {trained[0]}; delete it and make it again", evaluation)
        bodies[system] = body
        lost[system] = differences(figures, drawn, compared_metrics(body), read(resampled, body["conditions"]))
    on_tasks = {
        task: {
            system: task_differences(_task(trained[0], task), _task(evaluation, task))
            for system, (evaluation, _) in systems.items()
        }
        for task in tasks
    }
    result: dict[str, Any] = {
        "format": FORMAT,
        "model": name,
        "systems": bodies,
        "differences": lost,
        "tasks": on_tasks,
    }
    write_json(out, result)
    return cast("Comparison", result)


def _body(path: Path) -> Scores:
    evaluation: Evaluation = read_report(path, EVALUATION_FORMAT)
    kept = {key: value for key, value in evaluation.items() if key in _BODY}
    # The tasks that a config adds are compared from files of their own.
    tasks = {name: task for name, task in tasks_of(evaluation).items() if is_of_every_model(task)}
    return cast("Scores", {**kept, "tasks": tasks})


def _task(evaluation: Path, task: str) -> Path:
    return evaluation.parent / "tasks" / f"{task}.json"


#: For each part of a task and each figure, ``difference`` and its 95% ``interval``.
Differences = dict[str, dict[str, dict[str, Any]]]


def task_differences(own: Path | str, other: Path | str) -> Differences:
    """Subtract one system's figures on a task from another's, with intervals by the paired bootstrap over the items.

    For a task that trains, a figure is the mean over its seeds, and so is its difference: items are resampled, seeds
    are not.

    Args:
        own: the task's JSON of the system that is subtracted.
        other: that of the system that it is subtracted from; the resamples lie beside each.

    Returns:
        For each part and figure ``difference`` (None where either score is undefined) and ``interval`` (None also where
        the items depend on the system, as the mined pairs do); empty where a system cannot do the task.

    Raises:
        DataError: a file is missing or damaged, or of another task, test set or bootstrap than the other.
    """
    (mine, drawn), (theirs, others) = scored_task(own), scored_task(other)
    if why := _apart(mine, theirs):
        raise DataError(f"{why} than {own}, so the two cannot be compared; score both on the same", other)
    return {
        part: {
            figure: difference(
                [score["value"]],
                [drawn.get(f"{part}/{figure}")],
                [theirs["parts"][part]["figures"][figure]["value"]],
                [others.get(f"{part}/{figure}")],
            )
            for figure, score in mine_of_part["figures"].items()
        }
        for part, mine_of_part in mine["parts"].items()
        if part in theirs["parts"]
    }


def _apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """Why two results cannot be subtracted; None if they can."""
    here, there = same_draw(one), same_draw(other)
    if here == there:
        return None
    if here["name"] != there["name"]:
        return f"of another task ({there['name']}, not {here['name']})"
    if here["task"] != there["task"]:
        return f"of another kind ({there['task']}, not {here['task']})"
    for key in sorted(here["settings"].keys() | there["settings"].keys()):
        if (a := here["settings"].get(key)) != (b := there["settings"].get(key)):
            return f"scored by other settings ({key}: {b}, not {a})"
    if here["files"] != there["files"]:
        known = [tuple(file.values()) for file in here["files"]]
        names = [file["name"] for file in there["files"] if tuple(file.values()) not in known]
        return f"scored on another test set ({', '.join(names) or 'fewer files'})"
    return "scored on other resamples (evaluate.resamples, seed)"
