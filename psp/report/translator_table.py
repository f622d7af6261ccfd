"""translator.json as a table: the scores of each held-out set and of each corpus in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.report.layout import layout

_SCORES = {"bleu": "BLEU", "chrf": "chrF", "lower_bleu": "BLEU, lower-cased", "lower_chrf": "chrF, lower-cased"}


def table(result: Mapping[str, Any], form: str = "text") -> str:
    """Lay out translator.json, in one of :data:`psp.report.layout.FORMS`."""
    rows = [
        ["held-out pairs", "pairs", *(f"{name}, int8" for name in _SCORES.values()), "BLEU, float32", "copies", "empty",
         "overlong"]
    ]  # fmt: skip
    for name, one in result["sets"].items():
        faults = [f"{one['int8'][key]:,}" for key in ("copies", "empty", "overlong")]
        rows.append([name, *_cells(one), *faults])
        if len(one["corpora"]) > 1:
            rows += [[f"{name}: {corpus}", *_cells(of), "", "", ""] for corpus, of in one["corpora"].items()]
    summary = (
        f"{result['languages']['source']} to {result['languages']['target']}: {result['steps']:,} steps on "
        f"{result['pairs_seen']:,} pairs of {result['data']['pairs']:,} (ended by {result['ended_by']}), "
        f"{result['parameters']:,} weights; the best at step {result['best']['step']:,}, BLEU {result['best']['bleu']} "
        f"on {result['development']['pairs']:,} development pairs, greedily."
    )
    notes = [
        f"Beam {result['settings']['beam']}, one reference; by sacrebleu: {result['signatures']['bleu']}, "
        f"{result['signatures']['chrf']}.",
        "Faults in int8: translations that equal their source, that are empty, or that did not end by themselves.",
    ]
    bullet = "- " if form == "markdown" else ""
    parts = [summary, "", layout(rows, form, right=range(1, len(rows[0]))), *(f"{bullet}{note}" for note in notes)]
    return "\n".join(parts) + "\n"


def _cells(one: Mapping[str, Any]) -> list[str]:
    return [f"{one['pairs']:,}", *(f"{one['int8'][key]:.1f}" for key in _SCORES), f"{one['float32']['bleu']:.1f}"]
