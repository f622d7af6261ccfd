"""speed.json as a table, a chart on a page, and a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.evaluation.speed.systems import OWN, PEERS
from psp.report import charts
from psp.report.tables import Cell, Number, Stacked, Table

#: Keys of speed.json -> what they are.
RATES = {"warm": "text in, warm", "cold": "text in, cold", "forward": "ids in"}


def table(result: Mapping[str, Any]) -> Table:
    """One row for each system and number of cores."""
    rows: list[list[Cell]] = [
        [
            Stacked(row["name"], f"{_cores(row['cores'])}, {row['dim']:,} dimensions"),
            *(Number(row[key] and row[key]["median"], written="{:,.0f}") for key in RATES),
            Number(row["load_seconds"], written="{:.2f}"),
        ]
        for row in result["systems"]
    ]
    return Table(["system", *RATES.values(), "load, s"], rows, range(1, len(RATES) + 2), [*_notes(result)])


def chart(result: Mapping[str, Any]) -> charts.Markup:
    """The page's chart, on the smallest number of cores."""
    counts = [min(row["cores"] for row in result["systems"])]
    return charts.dots(_dots(result, counts), label=_label(counts), name="speed", logarithmic=True)


def draw(result: Mapping[str, Any], path: Path) -> None:
    """Draw speed.json as a PNG file, on all numbers of cores if more change anything; below, what was not measured.

    Raises:
        DataError: the file cannot be written.
    """
    counts, title = _counts(result["systems"]), f"Speed of {result['model']}"
    charts.save_dots(_dots(result, counts), path, label=_label(counts), title=title, notes=[*_notes(result)])


def _label(counts: Sequence[int]) -> str:
    return f"sentences/s{f' on {_cores(counts[0])}' * (len(counts) == 1)}, log scale"


def _dots(result: Mapping[str, Any], counts: Sequence[int]) -> list[dict[str, Any]]:
    """Dots, not bars: a logarithmic axis has no 0 to start a bar from."""
    return [
        charts.point(
            f"{row['name']}, {_cores(row['cores'])}" if len(counts) > 1 else row["name"],
            about,
            rates["median"],
            (rates["min"], rates["max"]),
        )
        for row in result["systems"]
        if row["cores"] in counts
        for key, about in RATES.items()
        if (rates := row[key])
    ]


def _counts(systems: Sequence[Mapping[str, Any]]) -> list[int]:
    """The numbers of cores to draw: all, or only the smallest if more change nothing.

    A change must exceed the spread and a quarter: of many spreads, some are apart by chance.
    """
    counts = list(dict.fromkeys(row["cores"] for row in systems))
    of_first = {row["name"]: row for row in systems if row["cores"] == counts[0]}
    changed = (
        one and other and (other["min"] > max(one["max"], 1.25 * one["median"]) or other["max"] < one["min"] / 1.25)
        for row in systems
        for one, other in ((of_first.get(row["name"], row)[key], row[key]) for key in RATES)
    )
    return counts if any(changed) or {row["name"] for row in systems} - of_first.keys() else counts[:1]


def _notes(result: Mapping[str, Any]) -> Iterator[str]:
    """The conditions, and the systems not measured, one line per reason: those unavailable, and those not requested."""
    conditions, systems = result["conditions"], result["systems"]
    load = conditions.get("load_before")
    yield (
        f"Sentences per second, medians of {conditions['repeats']} rounds over {result['sentences']:,} sentences of "
        f"{conditions['mean_pieces']:.1f} pieces; {conditions['dim']:,} dimensions, {conditions['vocab_size']:,} "
        f"pieces; {conditions['cpu']}{f'; load before the measurement {load[0]:.1f}' if load else ''}. Lines reach "
        "from the slowest to the fastest round. Ids in: the paper's protocol, without tokenization."
    )
    if others := sorted({row["cores"] for row in systems} - set(_counts(systems))):
        yield f"On {_cores(min(row['cores'] for row in systems))}; no faster on {' or '.join(map(str, others))}."
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in systems:
        if row["forward"] is None:
            reasons.setdefault(("Without ids in", f" ({row['no_forward']})"), []).append(row["name"])
    for one in result["missing"]:
        why, _, _ = one["why"].partition("\n")
        reasons.setdefault(("Not measured", f" ({why})"), []).append(one["name"])
    there = {one["name"] for one in [*systems, *result["missing"]]}
    reasons |= {
        (f"Not requested (speed: {key})", ""): [name for name in every if name not in there]
        for key, every in (("own", OWN), ("peers", PEERS))
    }
    for (what, why), names in reasons.items():
        if names:
            yield f"{what}: {'; '.join(dict.fromkeys(names))}{why}"  # names contain commas


def _cores(count: int) -> str:
    return f"{count} core{'s' * (count > 1)}"
