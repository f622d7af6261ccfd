"""The tables of example sentences on a model's page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psp.models.scores import direction
from psp.report.run import Run
from psp.report.tables import Cell, Foreign, Number, Table

_FORMATS = {"gold": "{:g}", "found_similarity": "{:.2f}", "similarity": "{:.2f}"}


def tables(run: Run) -> list[tuple[str, list[tuple[str, Table]]]]:
    """What a fold is called, and its tables with their headings; a table is empty where nothing is wrong."""
    examples = run.found.get("examples", {"overrated": [], "underrated": [], "retrieval": {}, "neighbours": []})
    rated = {"set": "set", "first sentence": "a", "second": "b", "people": "gold", "cosine": "similarity"}
    right = {"sentence": "query", "found": "translation", "cosine": "similarity"}
    wrong = {"sentence": "query", "found": "found", "its cosine": "found_similarity"}
    wrong |= {"translation": "translation", "cosine": "similarity"}
    near = {"sentence": "query", "nearest neighbour": "found", "cosine": "similarity"}
    told = [
        ("STS pairs that it finds more alike than people do", rated, examples["overrated"]),
        ("STS pairs that it finds less alike than people do", rated, examples["underrated"]),
        ("Nearest neighbours among the sentences of the STS sets, drawn at random", near, examples["neighbours"]),
    ]
    *above, below = [(about, [("", _table(columns, rows))]) for about, columns, rows in told]
    found = []
    for key, rows in examples["retrieval"].items():
        shown = [("Wrong, the most confident first" if rows["wrong"] else "", _table(wrong, rows["wrong"]))]
        shown += [("Right, drawn at random", _table(right, rows["right"]))] if rows["right"] else []
        found.append((f"Nearest neighbours, {direction(key)}", shown))
    return [*(one for one in above if one[1][0][1]), *found, *([below] if below[1][0][1] else [])]


def _table(columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> Table:
    """A table of these columns, each the value of a key; sentences are of others, and may hold anything."""
    cells = [[_cell(key, row[key]) for key in columns.values()] for row in rows]
    return Table(list(columns), cells, [at for at, key in enumerate(columns.values()) if key in _FORMATS])


def _cell(key: str, value: Any) -> Cell:
    if key in _FORMATS:
        return Number(value, written=_FORMATS[key])
    return str(value) if key == "set" else Foreign(value)
