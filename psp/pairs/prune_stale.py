"""Remove the files of corpora that a model no longer has, so that its folder describes the current model."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Any

from psp.core.errors import DataError
from psp.core.files import read_json

log = logging.getLogger(__name__)

#: Stage -> the endings of its files for each corpus; the report is removed last, since it identifies the others.
STAGES = {
    "filter": (".tsv", ".dropped.tsv", ".json"),
    **dict.fromkeys(("rank", "dedupe", "pivot"), (".tsv", ".json")),
}
#: Keys that identify a stage's report.
TELLING = {"filter": "filters", "rank": "deciles", "dedupe": "capped"}


def prune_stale(pairs: Path | str, labels: Collection[str]) -> list[Path]:
    """Remove what stages wrote into ``results/<model>/pairs`` for corpora not in ``labels``.

    Removes only files beside a report of the same name that is one of the stage's; everything else in these folders
    stays.

    Returns:
        The removed files.
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
            bitext = report.with_name(label)  # that it was mined from
            removed += [path for path in sorted(bitext.glob("*")) if path.is_file()] if stage == "pivot" else []
            if stage == "pivot":
                shutil.rmtree(bitext, ignore_errors=True)
            log.info("%s is no longer a corpus of the model: removed its files in %s", label, report.parent)
    return removed


def _is_report(path: Path, label: str) -> bool:
    """Whether a file is a report of filters, ranking, deduplication or mining for the corpus with that label."""
    try:
        report: Any = read_json(path)
    except DataError:
        return False
    if path.parent.name == "pivot":
        return isinstance(report, dict) and {"format", "through", "by_corpus"} <= report.keys()
    # The report of deduplication does not name the languages.
    return (
        isinstance(report, dict)
        and report.get("format") == 1
        and isinstance(report.get("corpus"), str)
        and label.startswith(f"{report['corpus']}.")
        and {"kept", TELLING[path.parent.name]} <= report.keys()
    )
