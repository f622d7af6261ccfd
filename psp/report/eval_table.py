"""eval.json as a table: each score with its interval, beside those of other systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from psp.evaluation.systems import BASELINES, TRAINED
from psp.models.scores import Score, by_place, heldout, tasks_of
from psp.models.scores import scores as models_scores
from psp.report.comparison import difference
from psp.report.tables import Cell, Number, Table
from psp.text.published_sets import own_name, same_domain

Body = Mapping[str, Any]


def table(evaluation: Body, compared: Body | None = None, main: bool | None = None) -> Table:
    """eval.json as a table, and the systems of compare.json beside the model.

    Each score has its 95% interval and the number of pairs; a missing score is ``-``. After a system's score is its
    difference to the model's. Data for model selection is marked ``dev``: the English track of SemEval-2017, and the
    retrieval error on the held-out pairs of the training corpora (mean of both directions, without an interval).
    Skipped sets are listed below the whole table.

    Args:
        evaluation: eval.json.
        compared: compare.json; None for the model alone.
        main: only the scores that systems are compared by (True), or only the others, such as those of years.
    """
    systems = {name: by_place(compared["systems"][name]) for name in systems_of(compared)} if compared else {}
    rows: list[list[Cell]] = []
    # The mean over the years first: it is the score that models are known for.
    every = sorted(scores(evaluation), key=lambda row: row.name != "sts")
    for row in every if main is None else [row for row in every if row.compared == main]:
        rows.append([row.test, row.label, row.items, Number(row.value, row.interval)])
        for name, known in systems.items():
            score = known.get((row.task, row.part, row.metric))
            lost = compared["differences"][name].get(row.name) if compared else None
            beside = Number(score.value, score.interval) if score else None
            rows[-1] += [beside, difference(lost, is_error=not row.higher_is_better)]
    none = [] if rows else ["no scores: no test set was given, or none is in the model's languages"]
    head = ["test", "figure", "pairs", str(evaluation.get("model", "model"))]
    head += [name for system in systems for name in (system, "difference")]
    notes = [*none, *_notes(evaluation, bool(systems))]
    skipped = [f"skipped: {one['set']}: {one['why']}" for one in evaluation["skipped"]]
    return Table(head, rows, range(2, len(head)), [*notes, *skipped], small=(1, 2))


def systems_of(compared: Body | None) -> list[str]:
    """The systems compared with the model: trained ones first, since they are the ones to beat."""
    names = [name for name in (compared or {"systems": ()})["systems"] if name != TRAINED]
    return sorted(names, key=lambda name: name in BASELINES)


def scores(evaluation: Body) -> Iterator[Score]:
    """Yield the lines of the table, one for each metric of each test; in the order of eval.json."""
    yield from (score for score in models_scores(evaluation) if not score.mean)
    if (dev := heldout(evaluation)) is not None:
        yield dev


def _notes(body: Body, beside: bool) -> list[str]:
    conditions = body["conditions"]
    lines = [
        "Correlations x 100. In brackets: 95% intervals (correlations: bootstrap over pairs, "
        f"{conditions['resamples']:,} resamples; errors: Wilson).",
    ]
    if beside:
        lines.append(
            "Difference: the system's figure minus the model's, with the 95% interval of the paired bootstrap over the "
            "test pairs; if it contains 0, the difference is not significant."
        )
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
    return lines
