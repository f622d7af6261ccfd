"""eval.json as a table: each score with its interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from psp.models.scores import Score, heldout, tasks_of
from psp.models.scores import scores as models_scores
from psp.report.layout import Cell, Number, Table
from psp.text.published_sets import own_name, same_domain

Body = Mapping[str, Any]


def table(evaluation: Body) -> Table:
    """eval.json as a table.

    Each score has its 95% interval and the number of pairs; a missing score is ``-``. Data for model selection is
    marked ``dev``: the English track of SemEval-2017, and the retrieval error on the held-out pairs of the training
    corpora (mean of both directions, without an interval). Skipped sets are listed below.
    """
    rows: list[list[Cell]] = [
        [row.test, row.label, row.items, Number(row.value, row.interval)] for row in scores(evaluation)
    ]
    none = [] if rows else ["no scores: no test set was given, or none is in the model's languages"]
    head = ["test", "figure", "pairs", str(evaluation.get("model", "model"))]
    return Table(head, rows, (2,), [*none, *_notes(evaluation)])


def scores(evaluation: Body) -> Iterator[Score]:
    """Yield the lines of the table, one for each metric of each test; in the order of eval.json."""
    yield from (score for score in models_scores(evaluation) if not score.mean)
    if (dev := heldout(evaluation)) is not None:
        yield dev


def _notes(body: Body) -> list[str]:
    conditions = body["conditions"]
    lines = [
        "Correlations x 100. In brackets: 95% intervals (correlations: bootstrap over pairs, "
        f"{conditions['resamples']:,} resamples; errors: Wilson).",
    ]
    tasks = tasks_of(body)
    if any(score.development for score in models_scores(body)):
        lines.append("dev: used for model selection, so not a test set; most other tracks are translations of it.")
    parts = tasks.get("stsb", {"parts": {}})["parts"]
    shared = {
        name: part["further"]["in_semeval2017_en"]
        for name, part in parts.items()
        if "in_semeval2017_en" in part["further"]
    }
    if any(shared.values()):
        counts = " and ".join(f"{count} of {name}" for name, count in shared.items())
        lines.append(f"STS Benchmark: {counts} are pairs of SemEval-2017's English track, used for model selection.")
    if heldout(body) is not None:
        lines.append("held-out pairs (dev): from the training corpora, not trained on; used for model selection.")
    if any(own_name(body, figure) for figure in body.get("sets", {}) if not figure.startswith("files/")):
        lines.append("own set: in the place of a published test set, but with other sentences.")
    if note := same_domain(body):
        lines.append(note)
    return [*lines, *(f"skipped: {one['set']}: {one['why']}" for one in body["skipped"])]
