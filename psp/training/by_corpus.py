"""Find which of a model's corpora is worth most: ``results/<model>/by_corpus.json``.

The paper "ParaNMT-50M" does this in its table 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from psp.core.files import read_json
from psp.core.settings import Section, list_of
from psp.training.samples import DECLARED, Points, SampleScores, StudyReport, compare


class ByCorpusCorpus(SampleScores):
    label: str


class ByCorpusReport(StudyReport):
    """Trainings on each corpus of a model, with the same number of pairs."""

    corpora: list[ByCorpusCorpus]  # the corpora, in the order of the config


SECTION = Section(
    "the study results/<model>/by_corpus.json: the same number of pairs of each corpus, scored on the development STS "
    "set; trained from scratch, without a teacher or a search for settings",
    {
        "corpora": list_of(
            None,
            items={"type": "string"},
            at_least=1,
            distinct=True,
            null=True,
            help="the corpora to compare, by their names; null: all of the model's",
        ),
        **DECLARED,
    },
    inert=True,
)


def gather(points: Points, reports: Mapping[str, Path | str], out: Path, **about: Any) -> ByCorpusReport:
    """Write by_corpus.json; return its content.

    Args:
        points: the train.json of each corpus (by its label), encoder and seed.
        reports: the report of deduplication of each corpus.
        out: by_corpus.json.
        about: as for :func:`psp.training.samples.compare`, with its errors.
    """

    def of(samples: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        return {"corpora": [{"label": label, **samples[label]} for label in reports]}

    result = compare(points, distinct(reports), out, of, block="by_corpus", **about)
    return cast("ByCorpusReport", result)


def distinct(reports: Mapping[str, Path | str]) -> dict[str, int]:
    """The number of distinct pairs of each corpus, from the reports of deduplication."""
    return {label: int(read_json(path)["kept"]) for label, path in reports.items()}
