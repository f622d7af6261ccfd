"""variants.json as a table: a line for each variant, mean and deviation over its seeds; and what needs no training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from psp.evaluation.layout import layout
from psp.languages import NAMES, TATOEBA

#: Figure -> its column's head, and how a number is written.
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
    """A table of variants.json, in one of :data:`psp.evaluation.layout.FORMS`, and what its words mean."""
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
    """Figure, head and form of each column; Tatoeba by language, or by direction where there is one language alone."""
    languages = [name for name in names if name.startswith("tatoeba/") and "-" not in name]
    directions = [name for name in names if name.startswith("tatoeba/") and "-" in name]
    for name, (head, written) in _COLUMNS.items():
        if name == "tatoeba/":
            for figure in directions if len(languages) == 1 else languages:
                yield figure, _way(figure.removeprefix(name)), written
        elif name.endswith("/"):
            for figure in names:
                if figure.startswith(name):
                    yield figure, figure.removeprefix(name), written
        elif name in names:
            yield name, head, written


def _way(name: str) -> str:
    """A direction as it is, such as ``fra-eng``; a language by its name."""
    return next((NAMES[code] for code, iso3 in TATOEBA.items() if iso3 == name), name)


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
        # Seconds and pairs a second are then those of other conditions.
        threads = [] if set(one["threads"]) == set(own["threads"]) else [f"training with {_threads(one['threads'])}"]
        settings = (f"{key} {value}" for key, value in one["settings"].items())
        yield f"{one['name']}: " + ", ".join([*recipe, *settings, *threads])
    yield (
        "Mean ± sample deviation over the seeds. Correlations x 100: of STS the mean Pearson of the years, Spearman "
        "over all their pairs, of STS-B Pearson. Tatoeba: error in % of nearest-neighbour search."
    )
    machine = result["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    yield (
        f"Training with {_threads(own['threads'])}; {machine['processor']}, {machine['cores']} cores; {versions}. "
        "The seconds have the evaluations on "
        "development data in them, the pairs a second have not."
    )


def _threads(counts: Sequence[int]) -> str:
    """Such as "2 threads"."""
    distinct = sorted(set(counts))
    return f"{' or '.join(map(str, distinct))} thread{'s' if distinct != [1] else ''}"
