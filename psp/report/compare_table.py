"""compare.json as a table: a line for each system, its differences to the model below it, and figures of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psp.evaluation.systems import TRAINED
from psp.models.scores import compared_metrics
from psp.report.comparison import columns, difference, is_error
from psp.report.reported import ReportedScores
from psp.report.table import Cell, Number, Table
from psp.text.published_sets import is_published, same_domain

#: Training is not compared here, and the mean over one language is redundant.
_LEFT_OUT = ("stsb/dev", "development/score", "development/pearson", "development/error")


def table(
    result: Mapping[str, Any], reported: Sequence[ReportedScores] = (), evaluation: Mapping[str, Any] | None = None
) -> Table:
    """compare.json as a table.

    Args:
        result: compare.json.
        reported: figures of others; systems without one of the columns are left out.
        evaluation: the model's eval.json, which knows its corpora.
    """
    figures = {name: compared_metrics(body) for name, body in result["systems"].items()}
    own = result["model"]
    body = result["systems"][TRAINED]
    shown = list(columns(list(figures[TRAINED]), leave_out=_LEFT_OUT, means=True, body=body))
    rows: list[list[Cell]] = []
    for name, scores in figures.items():
        rows.append([own if name == TRAINED else name, *(Number(scores.get(key)) for key, _, _ in shown)])
        if name != TRAINED:
            lost = result["differences"][name]
            cells = (difference(lost.get(key), is_error=is_error(key)) for key, _, _ in shown)
            rows.append([f"{name} - {own}", *cells])
    notes = [
        f"Correlations x 100, errors in %. Below each system its figures minus those of {own}, with the 95% interval "
        "of the paired bootstrap over the test pairs; if it contains 0, the difference is not significant."
    ]
    if evaluation and (domain := same_domain(evaluation)):
        notes.append(domain)
    known = {key for key, _, _ in shown if is_published(body, key)}
    sources: dict[tuple[str, str, str], int] = {}
    for one in reported:
        if known & one.figures.keys():
            number = sources.setdefault((one.source, one.date, one.note), len(sources) + 1)
            cited = (Number(one.figures.get(key) if key in known else None) for key, _, _ in shown)
            rows.append([f"{one.name} (quoted, {number})", *cited])
    if sources:
        notes.append("Quoted figures were not measured here, and their protocols match ours on paper only:")
        notes += [f"({number}) {source}; {date}. {note}" for (source, date, note), number in sources.items()]
    elif reported:
        notes.append("Nothing is quoted: no figure of these is over a whole published set that others were scored on.")
    head = ["system", *(head for _, head, _ in shown)]
    return Table(head, rows, range(1, len(head)), notes)
