"""Tables of scores: of the files under results/<model>/tasks/, as one; and of translator.json."""

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


_TRANSLATOR_SCORES = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "lower_bleu": "BLEU, lower-cased",
    "lower_chrf": "chrF, lower-cased",
}


def translator(result: Mapping[str, Any], form: str = "text") -> str:
    """translator.json, as ``text`` or ``markdown``."""
    faults = ("copies", "empty", "overlong")
    head = [
        "held-out pairs",
        "pairs",
        *(f"{name}, int8" for name in _TRANSLATOR_SCORES.values()),
        "BLEU, float32",
        *faults,
    ]
    rows: list[list[Cell]] = []
    for name, one in result["sets"].items():
        rows.append([name, *_translated(one), *(one["int8"][key] for key in faults)])
        if len(one["corpora"]) > 1:
            rows += [[f"{name}: {corpus}", *_translated(of), "", "", ""] for corpus, of in one["corpora"].items()]
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


def _translated(one: Mapping[str, Any]) -> list[Cell]:
    return [one["pairs"], *(Number(one["int8"][key]) for key in _TRANSLATOR_SCORES), Number(one["float32"]["bleu"])]
