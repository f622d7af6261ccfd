"""The parts of a combination, from its eval.json, as a table: the scores of each and those of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.models.scores import compared_metrics
from psp.report.comparison import columns, difference, is_error
from psp.report.table import Cell, Number, Table


def table(evaluation: Mapping[str, Any]) -> Table:
    """``parts`` and ``between_parts`` of a combination's eval.json as a table."""
    own, figures = evaluation["model"], compared_metrics(evaluation)
    shown = list(columns(list(figures), means=True, body=evaluation))
    rows: list[list[Cell]] = [[own, "", *(Number(figures[key]) for key, _, _ in shown)]]
    for part in evaluation["parts"]:
        rows.append([part["model"], f"{part['weight']:g}", *(Number(part["scores"].get(key)) for key, _, _ in shown)])
        lost = (difference(part["differences"].get(key), is_error=is_error(key)) for key, _, _ in shown)
        rows.append([f"{part['model']} - {own}", "", *lost])
    notes = [
        f"Correlations x 100, errors in %. Below each part its figures minus those of {own}, with the 95% interval of "
        "the paired bootstrap over the test pairs; if it contains 0, the difference is not significant."
    ]
    notes += [
        f"Mean absolute difference of Pearson between {' and '.join(one['models'])}: "
        f"{one['mean_absolute_difference']:.1f}, over {one['sets']} STS sets."
        for one in evaluation["between_parts"]
        if one["mean_absolute_difference"] is not None
    ]
    head = ["model", "weight", *(head for _, head, _ in shown)]
    return Table(head, rows, range(1, len(head)), notes)
