"""Figures that others have published, shown beside ours: not measured by us, and always marked as quoted.

A file of quoted figures is YAML, a list of sources: each with ``source``, ``date``, a ``note`` on the protocol, and
``systems`` (``name`` and ``figures``). Ours is reported.yaml beside this module.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from psp.core.errors import DataError


@dataclass(frozen=True)
class ReportedScores:
    """A system's figures from one source.

    Attributes:
        name: what the source calls the system.
        figures: by the names of :func:`psp.models.scores.compared_metrics` where ours has the same.
        source, date: where they are from, and when that was published or computed.
        note: how they were measured.
    """

    name: str
    figures: dict[str, float]
    source: str
    date: str
    note: str


def load(path: Path | str | None = None) -> list[ReportedScores]:
    """Read a file of quoted figures; None: ours.

    Raises:
        DataError: the file cannot be read, is not such a list, or figures have no source, date or value.
    """
    import yaml  # `psp show`, which needs no extra, imports this module

    if path is None:
        path = Path(str(resources.files("psp.report").joinpath("reported.yaml")))
    path = Path(path)
    try:
        entries = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(f"cannot be read: {' '.join(str(error).split())}", path) from None
    if not isinstance(entries, list):
        raise DataError("must be a list of sources, each with source, date and systems", path)
    return [one for number, entry in enumerate(entries, start=1) for one in _systems(path, number, entry)]


def _systems(path: Path, number: int, entry: Any) -> Iterator[ReportedScores]:
    if not isinstance(entry, dict):
        raise DataError(f"item {number} is not a mapping with source, date and systems", path)
    for key, why in (("source", "quoted figures must say where they are from"), ("date", "and when they were said")):
        if not str(entry.get(key) or "").strip():
            raise DataError(f"item {number} has no `{key}`; {why}", path)
    if not isinstance(entry.get("systems"), list) or not entry["systems"]:
        raise DataError(f"item {number} ({entry['source']}) has no `systems`", path)
    for system in entry["systems"]:
        if not isinstance(system, dict) or not system.get("name") or not isinstance(system.get("figures"), dict):
            raise DataError(f"item {number} ({entry['source']}): a system needs `name` and `figures`", path)
        for figure, value in system["figures"].items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise DataError(f"item {number}, {system['name']}: {figure} is {value!r}, not a number", path)
        yield ReportedScores(
            str(system["name"]),
            {str(figure): float(value) for figure, value in system["figures"].items()},
            str(entry["source"]),
            str(entry["date"]),
            str(entry.get("note") or ""),
        )
