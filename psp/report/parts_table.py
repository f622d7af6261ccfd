"""The parts of a combination, from its eval.json, as a table: the scores of each beside those of the whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.models.scores import compared_figures
from psp.report.comparison import columns, difference
from psp.report.layout import layout

_WRITTEN = "{:.1f}"


def table(evaluation: Mapping[str, Any], form: str = "text") -> str:
    """Lay out ``parts`` and ``between_parts`` of a combination's eval.json, in a form of :mod:`psp.report.layout`."""
    own, figures = evaluation["model"], compared_figures(evaluation)
    shown = list(columns(list(figures), means=True))
    rows = [["model", "weight", *(head for _, head, _ in shown)]]
    rows.append([own, "", *(_cell(figures[key]) for key, _, _ in shown)])
    for part in evaluation["parts"]:
        rows.append([part["model"], f"{part['weight']:g}", *(_cell(part["scores"][key]) for key, _, _ in shown)])
        lost = part["differences"]
        rows.append([f"{part['model']} - {own}", "", *(difference(lost.get(key), _WRITTEN) for key, _, _ in shown)])
    notes = [
        f"Correlations x 100, errors in %. Below each part its figures minus those of {own}, with the 95% interval of "
        "the paired bootstrap over the test pairs; an interval that holds 0 separates nothing."
    ]
    notes += [
        f"Mean absolute difference of Pearson between {' and '.join(one['models'])}: "
        f"{one['mean_absolute_difference']:.1f}, over {one['sets']} STS sets."
        for one in evaluation["between_parts"]
        if one["mean_absolute_difference"] is not None
    ]
    return f"{layout(rows, form)}\n" + "".join(f"{'- ' if form == 'markdown' else ''}{note}\n" for note in notes)


def _cell(value: float | None) -> str:
    return "-" if value is None else _WRITTEN.format(value)
