"""Tables of several systems: models, figures of others, a combination's parts, quantized.json, variants.json.

Below or beside a system's figures stand its differences to the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from psp.models.scores import compared_metrics, main_metrics
from psp.report.reported import ReportedScores
from psp.report.tables import Cell, Number, Stacked, Table
from psp.text.languages import name_of_set
from psp.text.published_sets import is_published, own_name, sets

#: Score -> column heading, and number format.
COLUMNS = {
    "sts": ("STS 2012-16", "{:.2f}"),
    "sts/spearman": ("Spearman", "{:.2f}"),
    "stsb/dev": ("STS-B dev", "{:.2f}"),
    "stsb/test": ("STS-B test", "{:.2f}"),
    "stsb/test/spearman": ("STS-B test, Spearman", "{:.2f}"),
    "semeval2017/": ("2017 {}", "{:.2f}"),
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


#: Scores for which lower is better.
_ERRORS = ("tatoeba", "tatoeba/", "development/error")


def is_error(name: str) -> bool:
    """Whether lower is better for a score of a comparison."""
    return name.startswith(_ERRORS)


def columns(
    names: Sequence[str], leave_out: Sequence[str] = (), *, means: bool = False, body: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yield score, heading and format of each column; Tatoeba by language, or by direction if there is only one.

    Args:
        names: the scores that there are, as in :func:`psp.models.scores.compared_metrics`.
        leave_out: keys of :data:`COLUMNS` to leave out.
        means: for a single language, also the mean of both directions.
        body: eval.json or a system of compare.json, which says which sets are not the published ones; their columns
            are marked.
    """
    for name, head, written in _columns(names, leave_out, means=means):
        own = None if body is None or name.startswith("files/") else own_name(body, name)
        kind = ", error %" * (name == "tatoeba") + ", Spearman" * name.endswith("/spearman")
        yield name, head if own is None else f"{own}{kind}", written


def _columns(names: Sequence[str], leave_out: Sequence[str], *, means: bool) -> Iterator[tuple[str, str, str]]:
    languages = [name for name in names if name.startswith("tatoeba/") and "-" not in name]
    directions = [name for name in names if name.startswith("tatoeba/") and "-" in name]
    for name, (head, written) in COLUMNS.items():
        if name in leave_out or (name == "tatoeba" and len(languages) == 1):
            continue
        if name == "tatoeba/":
            alone = [*(languages if means else ()), *directions]
            for figure in alone if len(languages) == 1 else languages:
                yield figure, name_of_set(figure.removeprefix(name)), written
        elif name.endswith("/"):
            for figure in names:
                if figure.startswith(name) and not figure.endswith("/spearman"):
                    yield figure, head.format(figure.removeprefix(name)), written
        elif name in names:
            yield name, head, written


def difference(measured: Mapping[str, Any] | None, written: str = "{:.1f}", *, is_error: bool) -> Number:
    """A difference with its interval, such as ``-5.3 [-6.2, -4.4]``, and whether it is an improvement."""
    if measured is None:
        return Number(None)
    better = judged(measured, is_error=is_error)
    return Number(measured["difference"], measured["interval"], None, written, better, sign=True)


def judged(difference: Mapping[str, Any] | None, *, is_error: bool) -> int:
    """Whether a system is better (1) or worse (-1) than the model by its interval; 0 if it contains 0 or is unknown."""
    if (
        difference is None
        or difference["interval"] is None
        or difference["interval"][0] <= 0 <= difference["interval"][1]
    ):
        return 0
    return -1 if (difference["interval"][0] > 0) == is_error else 1


#: Training is not compared here, and the mean over one language is redundant.
LEFT_OUT = ("stsb/dev", "development/score", "development/pearson", "development/error")


def quoted(evaluation: Mapping[str, Any], reported: Sequence[ReportedScores]) -> Table | None:
    """Figures of others, never measured here, below the model's on the same published sets; None if there are none."""
    own = compared_metrics(evaluation)
    shown = [
        (key, head)
        for key, head, _ in columns(list(own), leave_out=LEFT_OUT, means=True)
        if own[key] is not None and is_published(evaluation, key) and any(key in one.figures for one in reported)
    ]
    rows: list[list[Cell]] = [[Stacked(evaluation["model"], "measured here"), *(Number(own[key]) for key, _ in shown)]]
    sources: dict[tuple[str, str, str], int] = {}
    for one in reported:
        if one.figures.keys() & {key for key, _ in shown}:
            number = sources.setdefault((one.source, one.date, one.note), len(sources) + 1)
            rows.append([f"{one.name} ({number})", *(Number(one.figures.get(key)) for key, _ in shown)])
    notes = ["Quoted figures were not measured here, and their protocols match ours on paper only."]
    notes += [f"({number}) {source}; {date}. {note}" for (source, date, note), number in sources.items()]
    return Table(["system", *(head for _, head in shown)], rows, range(1, len(shown) + 1), notes) if sources else None


def models(evaluations: Mapping[str, Mapping[str, Any]]) -> Table:
    """eval.json of several models, by their names, as one table: a row for each, also of those without one."""
    shown = shared_columns({name: body for name, body in evaluations.items() if body})
    rows: list[list[Cell]] = []
    for name, body in evaluations.items():
        train, figures = body.get("train", {}), compared_metrics(body) if body else {}
        chosen = train.get("final", train.get("best")) or {}
        cells = (Number(figures.get(key) if name in group else None, written="{:.2f}") for key, _, group in shown)
        rows.append([name, train.get("store_pairs"), Number(chosen.get("score"), written="{:.2f}"), *cells])
    head = ["model", "pairs", "dev score", *(head for _, head, _ in shown)]
    return Table(head, rows, range(1, len(head)), ["Correlations x 100, errors in %."])


def shared_columns(evaluations: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str, list[str]]]:
    """Score, heading, and the models that have it on the same sentences: a column for each such group."""
    keys = dict.fromkeys(key for body in evaluations.values() for key in compared_metrics(body))
    shown = []
    for key, *_ in columns(list(keys), leave_out=("stsb/dev",), means=True):
        groups: list[list[str]] = []
        for label, body in evaluations.items():
            if key in compared_metrics(body) and not any(label in group for group in groups):
                groups.append(having(evaluations, key, label))
        for group in groups:
            body = evaluations[group[0]]
            [(_, head, _)] = [one for one in columns(list(keys), means=True, body=body) if one[0] == key]
            among = len(groups) > 1 and not is_published(body, key)
            shown.append((key, f"{head} ({', '.join(group)})" if among else head, group))
    return shown


def having(evaluations: Mapping[str, Mapping[str, Any]], figure: str, label: str) -> list[str]:
    """The models that have a figure on the sentences that one of them has it on."""
    held = sets(evaluations[label], figure)
    return [one for one, body in evaluations.items() if one == label or (held and sets(body, figure) == held)]


def parts(evaluation: Mapping[str, Any]) -> Table:
    """``parts`` and ``between_parts`` of a combination's eval.json as a table."""
    own, figures = evaluation["model"], compared_metrics(evaluation)
    shown = list(columns(list(figures), means=True, body=evaluation))
    rows: list[list[Cell]] = [[own, "", *(Number(figures[key]) for key, _, _ in shown)]]
    for part in evaluation["parts"]:
        lost = (difference(part["differences"].get(key), is_error=is_error(key)) for key, _, _ in shown)
        rows.append([part["model"], f"{part['weight']:g}", *(Number(part["scores"].get(key)) for key, _, _ in shown)])
        rows.append([f"{part['model']} - {own}", "", *lost])
    notes = [
        f"Correlations x 100, errors in %. Below each part its figures minus those of {own}, with the 95% interval of "
        "the paired bootstrap over the test pairs; if it contains 0, the difference is not significant."
    ]
    notes += [
        f"Mean absolute difference of Pearson between {' and '.join(one['models'])}: "
        f"{one['mean_absolute_difference']:.1f}, over {one['sets']} STS sets."
        for one in evaluation["between_parts"]
        if one["mean_absolute_difference"] is not None
    ]
    head = ["model", "weight", *(head for _, head, _ in shown)]
    return Table(head, rows, range(1, len(head)), notes)


def quantized(result: Mapping[str, Any]) -> Table:
    """quantized.json as a table: one line per model, and after each score its difference from the first line."""
    whole, smaller = result["whole"], result["smaller"]
    names = [name for name in main_metrics(whole["scores"]) if not name.startswith("semeval2017/")]  # en is development
    rows = []
    for one in (whole, *smaller):
        scores, lost = main_metrics(one["scores"]), one.get("differences", {})
        cells: list[Cell] = [one["dtype"], one["dim"], f"{one['bytes'] / 1e6:,.1f}"]
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


def variants(result: Mapping[str, Any]) -> list[Table]:
    """variants.json as tables: of the variants, and of the points of the grid if there is one."""
    return [_variants(result), *([_grid(result["grid"])] if result["grid"] else [])]


def _variants(result: Mapping[str, Any]) -> Table:
    trained, systems = result["variants"], result["systems"]
    there = [name for one in trained for name in one["figures"]]
    shown = list(columns(list(dict.fromkeys(there)), leave_out=["semeval2017/", "stsb/test/spearman"]))
    own = trained[0]["name"]
    rows: list[list[Cell]] = []

    def lost(name: str, differences: Mapping[str, Any]) -> None:
        cells = [difference(differences.get(key), written, is_error=is_error(key)) for key, _, written in shown]
        if any(cell.value is not None for cell in cells):
            rows.append([f"{name} - {own}", "", *cells])

    for one in trained:
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


def _grid(found: Mapping[str, Any]) -> Table:
    """The points of a grid, the best first."""
    points, best = found["points"], found["best"]
    keys = list(points[0]["settings"])
    rows: list[list[Cell]] = [
        [*(str(point["settings"][key]) for key in keys), Number(point["score"], written="{:.2f}"), point["epoch"]]
        for point in sorted(points, key=lambda point: (point["name"] != best, -point["score"]))
    ]
    note = f"The grid: validation scores, one training a point; the best is {best}."
    return Table([*keys, "dev score", "epoch"], rows, range(len(keys) + 2), [note])


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
