"""Write and read a task's scores and their resamples: results/<model>/tasks/<task>.json and the file beside it.

The other file, with the same name and the ending of :data:`RESAMPLES`, has each figure in each bootstrap resample. Its
conditions name the items drawn, so that only scores on the same items are subtracted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.core import schemas
from psp.core.files import read_json, write_json
from psp.evaluation import resamples
from psp.evaluation.scorers import Floats
from psp.evaluation.tasks.base import Task

if TYPE_CHECKING:
    from psp.core.schemas.scores import TaskScores

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
    scores: TaskScores = read_json(path)
    schemas.check(scores, "task", path)
    return scores, resamples.read(Path(path).with_suffix(RESAMPLES), conditions(scores))
