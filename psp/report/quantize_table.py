"""quantized.json as a table: the scores of each smaller model, and what it loses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.models.scores import main_metrics
from psp.report.comparison import difference, is_error
from psp.report.table import Cell, Number, Table

_MB = 1e6


def table(result: Mapping[str, Any]) -> Table:
    """quantized.json as a table: one line per model, and after each score its difference from the first line."""
    whole, smaller = result["whole"], result["smaller"]
    names = [name for name in main_metrics(whole["scores"]) if not name.startswith("semeval2017/")]  # en is development
    rows = []
    for one in (whole, *smaller):
        scores, lost = main_metrics(one["scores"]), one.get("differences", {})
        cells: list[Cell] = [one["dtype"], one["dim"], f"{one['bytes'] / _MB:,.1f}"]
        for name in names:
            cells += [
                Number(scores[name], written="{:.2f}"),
                difference(lost.get(name), "{:.2f}", is_error=is_error(name)),
            ]
        rows.append(cells)
    head = ["numbers", "dimensions", "MB", *(word for name in names for word in (name, "difference"))]
    note = (
        "Correlations x 100 (Pearson), tatoeba: error in %. In brackets: 95% interval of the difference from the first "
        "line (paired bootstrap)."
    )
    return Table(head, rows, range(1, len(head)), [note])
