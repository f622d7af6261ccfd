"""translator.json as a table: the scores of each held-out set and of each corpus in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.report.tables import Cell, Number, Table

_SCORES = {"bleu": "BLEU", "chrf": "chrF", "lower_bleu": "BLEU, lower-cased", "lower_chrf": "chrF, lower-cased"}


def table(result: Mapping[str, Any], form: str = "text") -> str:
    """translator.json, as ``text`` or ``markdown``."""
    faults = ("copies", "empty", "overlong")
    head = ["held-out pairs", "pairs", *(f"{name}, int8" for name in _SCORES.values()), "BLEU, float32", *faults]
    rows: list[list[Cell]] = []
    for name, one in result["sets"].items():
        rows.append([name, *_cells(one), *(one["int8"][key] for key in faults)])
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
    return f"{summary}\n\n{Table(head, rows, range(1, len(head)), notes).write(form)}"


def _cells(one: Mapping[str, Any]) -> list[Cell]:
    return [one["pairs"], *(Number(one["int8"][key]) for key in _SCORES), Number(one["float32"]["bleu"])]
