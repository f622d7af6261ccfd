"""Protect the results of a finished training run from the next one."""

from __future__ import annotations

from pathlib import Path

from psp.core.errors import DataError
from psp.models.files import CONFIG

REPORT = "train.json"  # written last, into the folder of the metrics


def check_unfinished(out_dir: Path | None, train_dir: Path) -> None:
    """Make sure that a training run replaces no finished one; an unfinished one may be resumed.

    Raises:
        DataError: there is a model in ``out_dir``, or the metrics of a whole training in ``train_dir``.
    """
    for folder, file, what in ((out_dir, CONFIG, "model"), (train_dir, REPORT, "training's metrics")):
        if folder is not None and (folder / file).exists():
            raise DataError(
                f"holds a finished {what} ({file}); name another folder, or write --force to replace it", folder
            )
