"""Checkpoints that transformers' trainer writes: which are whole, and of which run."""

from __future__ import annotations

import contextlib
import csv
import json
import logging
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.core.files import atomic_text, write_json

log = logging.getLogger(__name__)

RUN, WHOLE = "run.json", "whole"
#: Checkpoints that are kept: the previous one is used if the last is incomplete.
KEPT = 2


class TrainerCheckpoints:
    """The folder of the library's checkpoints, of one training run.

    Args:
        folder: ``checkpoint-<step>/`` of the library, and run.json.
        identity: what the run depends on; checkpoints of other runs are removed.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        self.folder = folder
        self._identity = json.loads(json.dumps(identity))

    def prepare(self) -> dict[str, Any]:
        """Prepare the folder for this run; return the state that :meth:`keep` kept, empty at the start of a run."""
        run: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError):  # none, or half of one
            run = json.loads((self.folder / RUN).read_text())
        if run.get("identity") != self._identity:
            if run:
                was = run.get("identity", {})
                changed = [key for key in self._identity if was.get(key) != self._identity[key]]
                log.warning("%s: checkpoints of another training (%s), removed", self.folder, ", ".join(changed))
            shutil.rmtree(self.folder, ignore_errors=True)
            run = {}
            self.keep({})
        kept: dict[str, Any] = run.get("kept", {})
        return kept

    def keep(self, what: Mapping[str, Any]) -> None:
        """Save state of the run besides its checkpoints."""
        write_json(self.folder / RUN, {"identity": self._identity, "kept": dict(what)})

    def latest(self) -> Path | None:
        """The last checkpoint that is whole; others, left by a killed process, are removed."""
        folders: dict[int, Path] = {}
        for path in self.folder.glob("checkpoint-*"):
            if not (match := re.fullmatch(r"checkpoint-(\d+)", path.name)):
                continue
            if (path / WHOLE).is_file():
                folders[int(match[1])] = path
            else:
                log.warning("%s: an unfinished checkpoint, removed", path)
                shutil.rmtree(path, ignore_errors=True)
        return folders[max(folders)] if folders else None

    def clear(self) -> None:
        """Remove all: training has succeeded."""
        shutil.rmtree(self.folder, ignore_errors=True)


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
