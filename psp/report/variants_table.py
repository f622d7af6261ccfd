"""variants.json as a table: mean and deviation of each variant over its seeds, and the untrained baselines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from psp.report.layout import layout
from psp.text.languages import name_of_set

#: Score -> column heading, and number format.
_COLUMNS = {
    "sts": ("STS 2012-16", "{:.2f}"),
    "sts/spearman": ("Spearman", "{:.2f}"),
    "stsb/dev": ("STS-B dev", "{:.2f}"),
    "stsb/test": ("STS-B test", "{:.2f}"),
    "files/": ("{}", "{:.2f}"),
    "tatoeba": ("Tatoeba error %", "{:.2f}"),
    "tatoeba/": ("{}", "{:.2f}"),
    "development/score": ("dev score", "{:.2f}"),
    "development/pearson": ("dev Pearson", "{:.2f}"),
    "development/error": ("dev error %", "{:.2f}"),
    "pairs_seen": ("pairs seen", "{:,.0f}"),
    "seconds": ("training, s", "{:,.0f}"),
    "pairs_per_second": ("pairs/s", "{:,.0f}"),
}


def table(result: Mapping[str, Any], form: str = "text") -> str:
    """Lay out variants.json, in one of :data:`psp.report.layout.FORMS`, with notes."""
    variants, systems = result["variants"], result["systems"]
    there = [name for one in variants for name in one["figures"]]
    columns = list(_columns(list(dict.fromkeys(there))))
    rows = [["variant", "seeds", *(head for _, head, _ in columns)]]
    for one in variants:
        found = (one["figures"].get(name) for name, _, _ in columns)
        cells = [_cell(figure, written) for figure, (_, _, written) in zip(found, columns, strict=True)]
        rows.append([one["name"], ", ".join(map(str, one["seeds"])), *cells])
    for system, figures in systems.items():
        values = (figures.get(name) for name, _, _ in columns)
        cells = [
            "-" if value is None else written.format(value)
            for value, (_, _, written) in zip(values, columns, strict=True)
        ]
        rows.append([system, "-", *cells])
    notes = "".join(f"{'- ' if form == 'markdown' else ''}{line}\n" for line in _notes(result))
    return f"{layout(rows, form)}\n{notes}"


def _columns(names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield score, heading and format of each column; Tatoeba by language, or by direction if there is only one."""
    languages = [name for name in names if name.startswith("tatoeba/") and "-" not in name]
    directions = [name for name in names if name.startswith("tatoeba/") and "-" in name]
    for name, (head, written) in _COLUMNS.items():
        if name == "tatoeba/":
            for figure in directions if len(languages) == 1 else languages:
                yield figure, name_of_set(figure.removeprefix(name)), written
        elif name.endswith("/"):
            for figure in names:
                if figure.startswith(name):
                    yield figure, figure.removeprefix(name), written
        elif name in names:
            yield name, head, written


def _cell(figure: Mapping[str, Any] | None, written: str) -> str:
    if figure is None or figure["mean"] is None:
        return "-"
    mean = written.format(figure["mean"])
    return f"{mean} ± {written.format(figure['deviation'])}" if figure["deviation"] else mean


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
