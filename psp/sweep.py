"""What stages wrote for corpora that a model has no longer is removed, so that its folder tells of its own alone."""

from __future__ import annotations

import logging
from collections.abc import Collection
from pathlib import Path
from typing import Any

from psp.errors import DataError
from psp.files import read_json

log = logging.getLogger(__name__)

#: Stage -> the endings of what it writes for each corpus; the report is the last to go, since it is what others go by.
STAGES = {"filter": (".tsv", ".dropped.tsv", ".json"), "dedupe": (".tsv", ".json")}


def sweep(pairs: Path | str, labels: Collection[str]) -> list[Path]:
    """Remove what stages wrote into ``results/<model>/pairs`` for other corpora than those of ``labels``.

    Only files beside a report of the same name are touched, and only where that is one of the stage's: whatever else
    is in these folders stays.

    Returns:
        The files that were removed.
    """
    removed = []
    for stage, endings in STAGES.items():
        for report in sorted((Path(pairs) / stage).glob("*.json")):
            label = report.name.removesuffix(".json")
            if label in labels or not _is_report(report, label):
                continue
            for path in (report.with_name(f"{label}{ending}") for ending in endings):
                if path.is_file():
                    path.unlink()
                    removed.append(path)
            log.info("%s is no corpus of the model any more: its files in %s are removed", label, report.parent)
    return removed


def _is_report(path: Path, label: str) -> bool:
    """Whether a file is what the filters or deduplication write of the corpus with that label."""
    try:
        report: Any = read_json(path)
    except DataError:
        return False
    # That of deduplication does not tell the languages.
    return (
        isinstance(report, dict)
        and report.get("format") == 1
        and isinstance(report.get("corpus"), str)
        and label.startswith(f"{report['corpus']}.")
        and {"kept", "filters" if path.parent.name == "filter" else "capped"} <= report.keys()
    )
