"""Checkpoints that transformers' trainer writes: which are whole, and of which run."""

from __future__ import annotations

import contextlib
import csv
import json
import logging
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.core.files import atomic_text, write_json

log = logging.getLogger(__name__)

#: The folder that the library writes them in, beside metrics.csv.
CHECKPOINTS = "checkpoints"
#: In it: what the run depends on. In a checkpoint: the file that the library writes last.
RUN, LAST = "run.json", "trainer_state.json"
#: Checkpoints that are kept: the previous one is used if the last is incomplete.
KEPT = 2


def last_checkpoint(folder: Path, identity: Mapping[str, Any]) -> Path | None:
    """The last whole checkpoint of this run; others, of other runs or left by a killed process, are removed.

    Args:
        folder: where the library writes them, ``checkpoint-<step>/``. The next call compares ``identity``, too.
        identity: what the run depends on.
    """
    identity = json.loads(json.dumps(identity))
    was = _read(folder / RUN)
    if was != identity:
        if was:
            changed = [key for key in identity if was.get(key) != identity[key]]
            log.warning("%s: checkpoints of another training (%s), removed", folder, ", ".join(changed))
        shutil.rmtree(folder, ignore_errors=True)
        write_json(folder / RUN, identity)
    checkpoints = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.removeprefix("checkpoint-")))
    while checkpoints and not _read(checkpoints[-1] / LAST):
        log.warning("%s: an unfinished checkpoint, removed", checkpoints[-1])
        shutil.rmtree(checkpoints.pop())
    return checkpoints[-1] if checkpoints else None


def _read(path: Path) -> dict[str, Any]:
    """A JSON file, or nothing: there is none, or half of one."""
    with contextlib.suppress(OSError, ValueError):
        found: dict[str, Any] = json.loads(path.read_text())
        return found
    return {}


def write_metrics(path: Path, history: Sequence[Mapping[str, Any]], columns: Sequence[str], score: str) -> None:
    """Write the rows of a trainer's history as CSV.

    Args:
        path: metrics.csv.
        history: the library's ``log_history``; rows with a loss or the score are written.
        columns: the columns; other figures are left out.
        score: the name of the validation score.
    """
    with atomic_text(path) as file:
        rows = csv.DictWriter(file, columns, restval="", extrasaction="ignore", lineterminator="\n")
        rows.writeheader()
        rows.writerows(row for row in history if "loss" in row or score in row)
