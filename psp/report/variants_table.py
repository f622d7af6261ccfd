"""variants.json as a table: mean and deviation of each variant over its seeds, and other systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from psp.report.comparison import columns, difference, is_error
from psp.report.table import Cell, Number, Table


def table(result: Mapping[str, Any]) -> Table:
    """variants.json as a table."""
    variants, systems = result["variants"], result["systems"]
    there = [name for one in variants for name in one["figures"]]
    shown = list(columns(list(dict.fromkeys(there)), leave_out=["semeval2017/", "stsb/test/spearman"]))
    own = variants[0]["name"]
    rows: list[list[Cell]] = []

    def lost(name: str, differences: Mapping[str, Any]) -> None:
        cells = [difference(differences.get(key), written, is_error=is_error(key)) for key, _, written in shown]
        if any(cell.value is not None for cell in cells):
            rows.append([f"{name} - {own}", "", *cells])

    for one in variants:
        figures = [(one["figures"].get(key) or {"mean": None, "deviation": None}, written) for key, _, written in shown]
        cells = [Number(figure["mean"], None, figure["deviation"], written) for figure, written in figures]
        rows.append([one["name"], ", ".join(map(str, one["seeds"])), *cells])
        lost(one["name"], one["differences"])
    for system, one in systems.items():
        cells = [Number(one["figures"].get(key), written=written) for key, _, written in shown]
        rows.append([system, None, *cells])
        lost(system, one["differences"])
    head = ["variant", "seeds", *(head for _, head, _ in shown)]
    return Table(head, rows, range(2, len(head)), list(_notes(result)))


def _notes(result: Mapping[str, Any]) -> Iterator[str]:
    own, *others = result["variants"]
    yield f"{own['name']}: the model's own settings"
    for one in others:
        recipe = [f"recipe {one['recipe']}"] if one["recipe"] != own["recipe"] else []
        # Times and rates are then not comparable.
        threads = [] if set(one["threads"]) == set(own["threads"]) else [f"training with {_threads(one['threads'])}"]
        settings = (f"{key} {value}" for key, value in one["settings"].items())
        yield f"{one['name']}: " + ", ".join([*recipe, *settings, *threads])
    yield (
        "Mean ± sample standard deviation over the seeds. Correlations x 100: for STS, mean Pearson over the years and "
        "Spearman over all pairs; for STS-B, Pearson. Tatoeba: error of nearest-neighbour search in %."
    )
    yield (
        f"Below each, its mean minus that of {own['name']}, with the 95% interval of the paired bootstrap over the "
        "test pairs; it does not include the spread between seeds."
    )
    machine = result["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    yield (
        f"Training with {_threads(own['threads'])}; {machine['processor']}, {machine['cores']} cores; {versions}. "
        "Seconds include validation, pairs/s do not."
    )


def _threads(counts: Sequence[int]) -> str:
    """Format thread counts, such as "2 threads"."""
    distinct = sorted(set(counts))
    return f"{' or '.join(map(str, distinct))} thread{'s' if distinct != [1] else ''}"
