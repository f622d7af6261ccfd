"""Sets of scored pairs that choose models, besides SemEval-2017: the entries of ``development.sets``.

An entry has the settings of a task with scored pairs (:attr:`psp.evaluation.tasks.Task.chosen_by`), the language of
its sentences and a weight; ``path`` may be a list, such as a training and a trial part, which then form one set.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from psp.core.errors import ConfigError
from psp.evaluation.tasks import Task, make
from psp.evaluation.testsets import StsSet

#: The keys of an entry that are not its task's; ``metric`` is filled in when the config is resolved.
_OWN = ("language", "weight", "metric")


def tasks_of(entry: Mapping[str, Any], place: str) -> list[Task]:
    """The tasks of an entry of ``development.sets``: one for each of its files.

    Raises:
        ConfigError: a setting is missing, unknown or not allowed.
    """
    own = {key: value for key, value in entry.items() if key not in _OWN}
    paths = own.get("path")
    if not isinstance(paths, list):
        return [make(own, place)]
    if not paths:
        raise ConfigError(f"{place}.path: an empty list; name at least one file")
    return [make({**own, "path": path}, place) for path in paths]


def metric(entry: Mapping[str, Any]) -> str:
    """The metric by which a system is scored on it."""
    return str(Task.classes[entry["task"]].chosen_by)


def files(entry: Mapping[str, Any], place: str) -> list[Path]:
    """The files that it reads, in order."""
    return [file for task in tasks_of(entry, place) for file in task.files()]


def read(entry: Mapping[str, Any], place: str) -> StsSet:
    """All scored pairs of an entry.

    Raises:
        ConfigError: as :func:`tasks_of`.
        DataError: a file is missing or malformed (file and line are named).
    """
    sets = [task.judged() for task in tasks_of(entry, place)]
    return StsSet(
        place.rpartition(".")[2],
        [text for data in sets for text in data.a],
        [text for data in sets for text in data.b],
        np.concatenate([data.gold for data in sets]),
    )
