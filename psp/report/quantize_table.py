"""quantized.json as a table: the scores of each smaller model, and what it loses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.models.scores import main_figures
from psp.report.layout import layout

_MB = 1e6


def table(result: Mapping[str, Any], form: str = "text") -> str:
    """Lay out quantized.json, in one of :data:`psp.report.layout.FORMS`: one line per model."""
    whole, smaller = result["whole"], result["smaller"]
    own = main_figures(whole["scores"])
    names = [name for name in own if not name.startswith("semeval2017/")]  # the English one is for model selection
    rows = [["numbers", "dimensions", "MB", *names]]
    for one in (whole, *smaller):
        scores, lost = main_figures(one["scores"]), one.get("differences")
        cells = [_cell(scores[name], None if lost is None else lost[name]) for name in names]
        rows.append([one["dtype"], f"{one['dim']:,}", f"{one['bytes'] / _MB:,.1f}", *cells])
    return (
        f"{layout(rows, form, right=(1, 2))}\n"
        "Correlations x 100 (Pearson), tatoeba: error in %. In brackets: 95% interval of the difference from the first "
        "line (paired bootstrap).\n"
    )


def _cell(score: float | None, lost: Mapping[str, Any] | None) -> str:
    if score is None:
        return "-"
    interval = None if lost is None else lost["interval"]
    return f"{score:.2f}" + ("" if interval is None else f" [{interval[0]:+.2f}, {interval[1]:+.2f}]")
