"""Files under results/<model>/tasks/ as one table: each part's scores, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from psp.report.comparison import difference
from psp.report.tables import Cell, Number, Table


def table(results: Sequence[Mapping[str, Any]], compared: Mapping[str, Any] | None = None) -> Table:
    """The scores on tasks as a table: one line per part, metric and system.

    Args:
        results: files of tasks, of a model and of systems compared with it; those of one task are adjacent.
        compared: compare.json; where it has tasks, there is a column of the systems' differences.
    """
    with_differences = bool(compared and compared["tasks"])
    minus = [f"minus {compared['model']}"] if compared and with_differences else []
    head = ["task", "kind", "part", "items", "figure", "system", "value", *minus, "in training"]
    rows: list[list[Cell]] = []
    notes = [
        "Correlations x 100; all others in %. In training: sentences of the set that are a side of a training pair "
        "(the same letters and digits, ignoring case)."
    ]
    if minus:
        notes.append(
            "Differences have the 95% interval of the paired bootstrap over the items; if it contains 0, the "
            "difference is not significant."
        )
    for result in results:
        unknown = ", ".join(result.get("unknown_languages", ()))
        name = f"{result['name']} (language not known to the model: {unknown})" if unknown else result["name"]
        # Of the model itself there are none.
        lost = compared["tasks"].get(result["name"], {}).get(result["model"], {}) if compared else {}
        for part, scored in result["parts"].items():
            for figure, score in scored["figures"].items():
                beside = difference(lost.get(part, {}).get(figure), is_error=not score["higher_is_better"])
                rows.append(
                    [
                        name,
                        result["task"],
                        part,
                        scored["items"],
                        figure,
                        result["model"],
                        Number(score["value"], score["interval"]),
                        *([beside] if minus else []),
                        _shared(result),
                    ]
                )
                if score["value"] is None:
                    notes.append(f"{result['name']}, {result['model']}, {part}, {figure}: {score['why']}")
            if scored["further"].get("threshold_chosen_on") == "the scored set itself":
                notes.append(f"{result['name']}: the threshold of accuracy was chosen on the scored set itself")
            if bm25 := scored["further"].get("bm25"):
                figures = ", ".join(f"{figure} {value:.1f}" for figure, value in bm25.items())
                notes.append(f"{result['name']}: BM25 has {figures}")
            notes += [f"{result['name']}: {note}" for note in _published(scored["further"])]
        if "why" in result:
            notes.append(f"{result['name']}, {result['model']}: {result['why']}")
    return Table(head, rows, (3, *range(6, len(head) - 1)), list(dict.fromkeys(notes)))


def _published(further: Mapping[str, Any]) -> Iterator[str]:
    """Faults of a set or its protocol, which is scored anyway."""
    if shared := further.get("sentences_in_train"):
        yield f"scored as published, though {shared:,} of its sentences are also in its own training part"
    if below := further.get("train_scores_below_1"):
        count = f"{below:,} of {further['train_items']:,} scores"
        yield f"trained as published, though {count} are below 1, whose soft labels do not sum to one"


def _shared(result: Mapping[str, Any]) -> str | None:
    """How many of the set's sentences are in training pairs."""
    if "overlap" not in result:
        return None
    overlap = result["overlap"]
    return f"{overlap['in_training']:,} of {overlap['sentences']:,}"
