"""The validation score of a training run that has ended, for what compares several."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psp.core.errors import DataError
from psp.core.files import read_report


def validated(path: Path | str, wanted: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
    """The content of a train.json, and the validation score of its model.

    Args:
        path: the file.
        wanted: settings that it must be of, and ``store_pairs`` if the number of pairs matters.

    Raises:
        DataError: it is missing or damaged, of another training run, or has no validation score.
    """
    report: dict[str, Any] = read_report(path, 1)
    used = {**report["settings"], "store_pairs": report["store_pairs"]}
    if wrong := [key for key, value in wanted.items() if used[key] != value]:
        differences = " and ".join(f"{key} {used[key]}, not {wanted[key]}" for key in wrong)
        raise DataError(f"is of a training with {differences}; delete it and make it again", path)
    if report["best"] is None:
        raise DataError("has no validation score; give the model development data", path)
    return report, float(report.get("final", report["best"])["score"])
