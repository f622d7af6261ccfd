"""All scores under ``results/`` as records, and as one table.

A record is a metric of one part of a task, for a model, a system compared with it or a variant. All code that shows or
exports scores is a view of these records.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.core.errors import DataError, PspError
from psp.core.files import atomic_text, read_json
from psp.models.scores import is_of_every_model, tasks_of

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Record:
    """One score.

    Attributes:
        model: the model's name.
        system: the other system that was scored for comparison; None = the model itself.
        variant, seed: of a training with other settings, or another seed; None = the model's own.
        task: the task's name, such as ``stsb``.
        part: the part of it: a year, a track, a language or a direction.
        metric: its key, such as ``pearson``.
        unit: ``correlation x 100`` or ``%``.
        higher_is_better: false for errors.
        value: the score; None where it is undefined.
        low, high: its 95% interval; None without one.
        items: pairs, queries or texts.
    """

    model: str
    system: str | None
    variant: str | None
    seed: int | None
    task: str
    part: str
    metric: str
    unit: str
    higher_is_better: bool
    value: float | None
    low: float | None
    high: float | None
    items: int


def results(folder: Path | str) -> pandas.DataFrame:
    """The scores of a model, or of all models of a folder, as a table with a row for each.

    Args:
        folder: such as ``results/fr``, or ``results``.

    Returns:
        A frame with the attributes of :class:`Record` as its columns; integers may be missing (``Int64``).

    Raises:
        DataError: there are no scores; or a file is damaged.
        PspError: pandas is not installed.
    """
    return frame(list(records(folder)))


def frame(rows: list[Record]) -> pandas.DataFrame:
    """Records as a table.

    Raises:
        PspError: pandas is not installed.
    """
    try:
        import pandas
    except ModuleNotFoundError:  # the extra that has it would install torch as well
        raise PspError("a table of results needs pandas: pip install pandas") from None
    columns = [field.name for field in dataclasses.fields(Record)]
    table = pandas.DataFrame([dataclasses.astuple(record) for record in rows], columns=columns)
    types = {"seed": "Int64", "items": "Int64", "higher_is_better": "boolean", "system": "string", "variant": "string"}
    return table.astype({**types, "value": float, "low": float, "high": float})


def write(folders: Sequence[Path | str], out: Path | str) -> None:
    """Write the scores of several models as CSV, whole or not at all.

    Raises:
        DataError: one has no scores, or a file is damaged.
        PspError: pandas is not installed.
    """
    table = frame([record for folder in folders for record in records(folder)])
    with atomic_text(out) as file:
        file.write(table.to_csv(index=False))


def records(folder: Path | str) -> Iterator[Record]:
    """The scores of a model, or of all models of a folder, with the systems compared with them and variants, by name.

    Raises:
        DataError: there are none; or a file is damaged.
    """
    folder = Path(folder)
    models = [folder] if _has_scores(folder) else sorted(path for path in folder.glob("*") if _has_scores(path))
    if not models:
        raise DataError("has no eval.json or tasks/, nor has a folder in it; make one with snakemake first", folder)
    for model in models:
        yield from _of_model(model)


def _has_scores(folder: Path) -> bool:
    return (folder / "eval.json").is_file() or any((folder / "tasks").glob("*.json"))


def _of_model(folder: Path) -> Iterator[Record]:
    name, seed = folder.resolve().name, None
    if (folder / "eval.json").is_file():
        evaluation = read_json(folder / "eval.json")
        name, seed = evaluation.get("model", name), evaluation.get("train", {}).get("settings", {}).get("seed")
    yield from _scored(folder, name, None, None, seed)
    for system in sorted(path for path in folder.glob("systems/*") if path.is_dir()):
        yield from _scored(system, name, system.name, None, None)
    for path in sorted(folder.glob("variants/*/*/eval.json"), key=lambda path: (path.parts[-3], int(path.parts[-2]))):
        yield from _scored(path.parent, name, None, path.parts[-3], int(path.parts[-2]))


def _scored(folder: Path, model: str, system: str | None, variant: str | None, seed: int | None) -> Iterator[Record]:
    """The scores of a folder with eval.json, tasks/ or both; tasks that eval.json contains come from there."""
    tasks: dict[str, Mapping[str, Any]] = {}
    if (folder / "eval.json").is_file():
        tasks = dict(tasks_of(read_json(folder / "eval.json")))
    for path in sorted((folder / "tasks").glob("*.json")):
        task = read_json(path)
        if not (tasks and is_of_every_model(task)):
            tasks[path.stem] = task
    for task, scores in tasks.items():
        for part, of in scores["parts"].items():
            for metric, score in of["figures"].items():
                low, high = score["interval"] or (None, None)
                yield Record(
                    model, system, variant, seed, task, part, metric, score["unit"], score["higher_is_better"],
                    score["value"], low, high, score.get("items", of["items"]),
                )  # fmt: skip
