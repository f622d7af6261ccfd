"""report.html: how good a model is, what it was trained on and how it compares, for people who never read JSON.

A page is one file that loads nothing (:mod:`psp.report.page`) and is made only from the results' JSON: the same results
give the same bytes. It names what is missing, and how to make it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from markupsafe import Markup

from psp.core.machine import versions
from psp.evaluation.systems import BASELINES, TRAINED
from psp.models.card_data import public_address
from psp.models.scores import by_place, compared_metrics, direction, scores, tasks_of
from psp.pairs import data_warnings
from psp.report import charts, comparison, eval_table, page, task_table
from psp.report.comparison import LEFT_OUT, columns, difference
from psp.report.data import HEADINGS, STAGES, why
from psp.report.examples_table import tables
from psp.report.reported import ReportedScores
from psp.report.reported import load as load_reported
from psp.report.run import STORE, Run, kept_pairs
from psp.report.summary import facts, summary, title
from psp.text.languages import NAMES
from psp.text.published_sets import is_published, same_domain

#: How a config is written.
YAML: dict[str, Any] = {"sort_keys": False, "allow_unicode": True, "width": 100}
#: Distributions whose versions shape a model or its scores.
PACKAGES = ("numpy", "sentencepiece", "torch", "numba", "scipy", "fasttext-community", "py3langid", "snakemake")
#: Pairs shown of each corpus, and of each reason for dropping.
SAMPLES = 5
#: Systems in the picture of scores, including the model: more would be unreadable.
SYSTEMS = 6
_MB = 1e6


def write(
    folder: Path | str, out: Path | str, *, files: Collection[Path | str] | None = None, config: str | None = None
) -> None:
    """Write the page of one model.

    Args:
        folder: results/<model>.
        out: the page.
        files: the files of the folder that it may be made of; None for all.
        config: the model's resolved config as YAML, shown on it.

    Raises:
        DataError: the folder has no results, a file of it is broken, or ``out`` cannot be written.
    """
    run = Run.load(folder, files)
    page.write("report.html", Path(out), **view(run, config=config))


def view(run: Run, config: str | None = None, reported: Sequence[ReportedScores] | None = None) -> dict[str, Any]:
    """The values that the template of a model's page reads.

    Args:
        run: the results.
        config: as for :func:`write`.
        reported: figures of others; None: ours (:mod:`psp.report.reported`).
    """
    return {
        "name": run.name,
        "title": title(run),
        "facts": facts(run),
        "has_model": run.config is not None,
        "summary": summary(run),
        "warnings": _warnings(run),
        "missing": run.missing,
        "target": f"results/{run.name}",
        "scores": _scores(run),
        "skipped": run.found.get("eval", {}).get("skipped", []),
        "quoted": _reported(run, load_reported() if reported is None else reported),
        "retrieval": _retrieval(run),
        "tasks": page.of(task_table.table(run.tasks, run.found.get("compare"))) if run.tasks else None,
        "parts": page.of(comparison.parts(run["eval"])) if "parts" in run.found.get("eval", {}) else None,
        "data": _data(run),
        "training": _training(run),
        "variants": Markup().join(map(page.of, comparison.variants(run["variants"]))) if "variants" in run else None,
        "examples": tables(run),
        "speed": _speed(run),
        "size": _size(run),
        "settings": _settings(run),
        "config": config and yaml.safe_dump(without_paths(yaml.safe_load(config)), **YAML),
        "versions": versions(PACKAGES),
        "trained_by": (run.config or {}).get("psp_version"),
    }


# ------------------------------------------------------------------------------------------------------------- scores


def _systems(run: Run) -> list[str]:
    """The systems compared with the model: trained ones first, since they are the ones to beat."""
    names = [name for name in run.found.get("compare", {}).get("systems", {}) if name != TRAINED]
    return sorted(names, key=lambda name: name in BASELINES)


def _scores(run: Run) -> dict[str, Any] | None:
    if "eval" not in run:
        return None
    systems = _systems(run)
    # The mean over the years first: it is the score that models are known for.
    rows = sorted(eval_table.scores(run["eval"]), key=lambda row: row.name != "sts")
    others = {name: by_place(run["compare"]["systems"][name]) for name in systems}
    main: list[list[Any]] = []
    further: list[list[Any]] = []
    for row in rows:
        about = f"{row.label}, {row.items:,} pairs" if row.items else row.label
        cells: list[Any] = [page.stacked(row.short, about), page.scored(row.value, row.interval)]
        for name in systems:
            score = others[name].get((row.task, row.part, row.metric))
            lost = run["compare"]["differences"][name].get(row.name)
            cells.append(
                score
                and page.stacked(
                    page.scored(score.value, score.interval),
                    page.number(difference(lost, is_error=not row.higher_is_better)),
                )
            )
        # Systems are compared by these; the others are years, and sets without some of their pairs.
        (main if row.compared else further).append(cells)
    head = ["test", run.name, *systems]
    of_each = [(run.name, by_place(run["eval"])), *others.items()][:SYSTEMS]
    drawn = [
        {
            "name": row.short,
            "system": name,
            "value": score.value,
            "low": score.interval and score.interval[0],
            "high": score.interval and score.interval[1],
        }
        for row in rows
        if row.is_whole and row.higher_is_better
        for name, known in of_each
        if (score := known.get((row.task, row.part, row.metric))) is not None and score.value is not None
    ]
    return {
        "table": page.table(head, main, numbers=range(1, len(head))) if main else None,
        "further": page.table(head, further, numbers=range(1, len(head))) if further else None,
        "chart": charts.dots(drawn, label="Pearson × 100, 95 % intervals", name="scores") if drawn else None,
        "compared": bool(systems),
        "trained": bool(set(systems) - set(BASELINES)),
        "resamples": run["eval"]["conditions"]["resamples"],
    }


def _reported(run: Run, reported: Sequence[ReportedScores]) -> dict[str, Any] | None:
    """Figures of others on the tests that this model has, never measured here."""
    if "eval" not in run:
        return None
    own = compared_metrics(run["eval"])
    shown = [
        entry
        for entry in columns(list(own), leave_out=LEFT_OUT, means=True)
        if own[entry[0]] is not None and is_published(run["eval"], entry[0])
    ]
    shown = [entry for entry in shown if any(entry[0] in one.figures for one in reported)]
    taken = [one for one in reported if one.figures.keys() & {key for key, _, _ in shown}]
    if not taken:
        return None
    sources: dict[tuple[str, str, str], int] = {}
    rows: list[list[Any]] = [[page.stacked(run.name, "measured here"), *(page.scored(own[key]) for key, _, _ in shown)]]
    for one in taken:
        number = sources.setdefault((one.source, one.date, one.note), len(sources) + 1)
        rows.append([f"{one.name} ({number})", *(page.scored(one.figures.get(key)) for key, _, _ in shown)])
    head = ["system", *(head for _, head, _ in shown)]
    return {
        "table": page.table(head, rows, numbers=range(1, len(head))),
        "systems": len(taken),
        "sources": [(number, source, date, note) for (source, date, note), number in sources.items()],
    }


def _retrieval(run: Run) -> dict[str, Any] | None:
    """Errors by language and direction, without systems that are not trained, whose errors are near 90 %."""
    directions = [score for score in scores(run.found.get("eval", {})) if score.task == "tatoeba" and not score.mean]
    if not directions:
        return None
    rows, drawn = [], []
    bodies = {run.name: by_place(run["eval"])}
    bodies |= {name: by_place(run["compare"]["systems"][name]) for name in _systems(run) if name not in BASELINES}
    parts = tasks_of(run["eval"])["tatoeba"]["parts"]
    for score in directions:
        way = direction(score.part)
        cells: list[Any] = [page.stacked(way, f"{score.items:,} sentences")]
        for name, known in bodies.items():
            one = known.get((score.task, score.part, score.metric))
            cells.append(one and page.scored(one.value, one.interval))
            if one and one.interval:
                low, high = one.interval
                drawn.append({"name": way, "system": name, "value": one.value, "low": low, "high": high})
        rows.append([*cells, parts[score.part]["further"]["duplicates"]])
    head = ["direction", *(f"{name}, error %" for name in bodies), "equal text found"]
    return {
        "table": page.table(head, rows, numbers=range(1, len(head))),
        "chart": charts.dots(drawn, label="error in %, 95 % intervals", name="retrieval"),
        "domain": same_domain(run["eval"]),
    }


# --------------------------------------------------------------------------------------------------------------- data


def _warnings(run: Run) -> list[tuple[str, list[Markup]]]:
    if "data" not in run:
        return []
    return [
        (warning, [page.foreign(sample) for sample in samples])
        for warning, samples in data_warnings.lines(run["data"]["warnings"], run.name)
    ]


def _data(run: Run) -> dict[str, Any] | None:
    if "data" not in run:
        return None
    data = run["data"]
    total, corpora = data["total"], data["corpora"]
    kept: Mapping[str, list[tuple[str, str]]] = {}
    store = run.folder / STORE
    if store.is_file() and run.config is not None:
        kept = kept_pairs(store, run.folder / "model", SAMPLES)
    stages = list(_funnel(data))
    head = ["corpus", "languages", "release", "licence", "read", "kept", "% kept", "words or pieces per side"]
    rows = [
        [
            corpus["corpus"],
            "–".join(corpus["languages"]),
            corpus["version"],
            corpus["licence"]["declared"] or "none declared",
            corpus["read"],
            corpus["kept"],
            page.share(corpus["kept"], corpus["read"]),
            " / ".join("–" if mean is None else f"{mean:.1f}" for mean in corpus["mean_pieces"].values()),
        ]
        for corpus in corpora
    ]
    before = [value for _, value in stages[:1] + stages[:-1]]
    left = [
        {
            "name": name,
            "value": value,
            "taken": had - value,
            "note": f"{value:,}" + f" (−{had - value:,})" * (had > value),
        }
        for (name, value), had in zip(stages, before, strict=True)
    ]
    return {
        "read": total["read"],
        "kept": total["kept"],
        "languages": [NAMES.get(code, code) for code in data["languages"]],
        "funnel": charts.bars(left, label="pairs left after each stage", name="funnel") if total["read"] else None,
        "table": page.table(head, rows, numbers=range(4, len(head))),
        "corpora": [_corpus(corpus, kept.get(corpus["label"], [])) for corpus in corpora],
    }


def _funnel(data: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Pairs left after each stage: the filters in the order in which they drop, then duplicates and the others."""
    total = data["total"]
    left = total["read"]
    yield "read", left
    dropped: dict[str, int] = {}
    for corpus in data["corpora"]:
        for entry in corpus["dropped"]:
            name = entry["filter"] or entry["reason"]
            dropped[name] = dropped.get(name, 0) + entry["pairs"]
    order = list(dict.fromkeys(name for corpus in data["corpora"] for name in corpus["filters"]))
    for name in sorted(dropped, key=lambda name: order.index(name) if name in order else len(order)):
        left -= dropped[name]
        yield f"filter {name}", left
    for stage in STAGES:
        for name, count in total.get(stage, {}).items():
            if count:
                left -= count
                yield HEADINGS.get(f"{stage}.{name}", HEADINGS.get(name, name.replace("_", " "))), left


def _corpus(corpus: Mapping[str, Any], kept: Sequence[tuple[str, str]]) -> dict[str, Any]:
    source = corpus["source"]
    return {
        "label": corpus["label"],
        # A local file only by its name.
        "address": public_address(source["address"]) or f"a local file, {source['address'].rpartition('/')[2]}",
        "bytes": source["bytes"],
        "sha256": source["sha256"],
        "pinned": source["pinned"],
        "licence": corpus["licence"]["declared"] or "none declared",
        "licence_text": corpus["licence"]["text"] and page.foreign(corpus["licence"]["text"]),
        "kept": _pairs(kept) if kept else None,
        "dropped": page.table(
            ["filter", "reason", "pairs", "% of those read"],
            [
                [entry["filter"], entry["reason"], entry["pairs"], page.share(entry["pairs"], corpus["read"])]
                for entry in corpus["dropped"]
            ],
            numbers=(2, 3),
        )
        if corpus["dropped"]
        else None,
        "samples": [
            (why(entry), _pairs(entry["samples"][:SAMPLES])) for entry in corpus["dropped"] if entry["samples"]
        ],
    }


def _pairs(rows: Sequence[Sequence[str]]) -> Markup:
    return page.table(["source", "target"], [list(map(page.foreign, row)) for row in rows])


def without_paths(value: Any) -> Any:
    """A config, or a value of one, to publish: absolute paths by their last part, addresses without a password."""
    if isinstance(value, Mapping):
        return {key: without_paths(child) for key, child in value.items()}
    if isinstance(value, list):
        return [without_paths(child) for child in value]
    if isinstance(value, str) and (match := re.match(r"(file://)?/", value)):
        return f"{match[1] or ''}/.../{value.rpartition('/')[2]}"
    return re.sub(r"^(https?://)[^/@]*@", r"\1", value) if isinstance(value, str) else value


# ----------------------------------------------------------------------------------------------------------- training


def _training(run: Run) -> dict[str, Any] | None:
    train = run.found.get("train") or run.found.get("eval", {}).get("train")
    if train is None:
        return None
    best = train.get("best")
    curves: dict[str, Any] = {"loss": None, "score": None, "grows": False}
    if run.metrics is not None and len(run.metrics["pairs"]):
        rows = [
            {"pairs seen": pairs, "loss": loss}
            for pairs, loss in zip(run.metrics["pairs"], run.metrics["loss"], strict=True)
        ]
        curves["grows"] = len(set(run.metrics["megabatch"])) > 1
        curves["loss"] = charts.curve(rows, x="pairs seen", y="loss", name="loss")
    development = train.get("development")
    # A transformer has two validations, before and after.
    scores = [row for row in development if row["score"] is not None] if isinstance(development, list) else []
    if scores:
        rows = [
            {
                "pairs seen": row["pairs"],
                "validation score": row["score"],
                "kept": best is not None and row["step"] == best["step"],
            }
            for row in scores
        ]
        curves["score"] = charts.curve(rows, x="pairs seen", y="validation score", name="validation", points=True)
    return curves


def _settings(run: Run) -> dict[str, Any]:
    """What differs from the recipe, and the training settings."""
    evaluation = run.found.get("eval", {})
    train = run.found.get("train") or evaluation.get("train") or {}
    return {
        "recipe": evaluation.get("recipe"),
        "differences": {key: without_paths(value) for key, value in evaluation.get("differences", {}).items()},
        "train": {key: without_paths(value) for key, value in train.get("settings", {}).items()},
    }


# ------------------------------------------------------------------------------------------------- examples and speed


def _speed(run: Run) -> dict[str, Any] | None:
    if "speed" not in run:
        return None
    result = run["speed"]
    first = min(row["cores"] for row in result["systems"])
    rows, drawn = [], []
    for row in result["systems"]:
        rates = [row[key] and f"{row[key]['median']:,.0f}" for key in ("warm", "cold", "forward")]
        about = f"{row['cores']} core{'s' * (row['cores'] > 1)}, {row['dim']:,} dimensions"
        rows.append([page.stacked(row["name"], about), *rates, f"{row['load_seconds']:.2f}"])
        if row["cores"] == first:
            drawn += [
                {"name": row["name"], "system": name, "value": rate["median"], "low": rate["min"], "high": rate["max"]}
                for key, name in (("warm", "text in"), ("forward", "ids in"))
                if (rate := row[key])
            ]
    conditions = result["conditions"]
    load = conditions["load_before"]
    return {
        "chart": charts.dots(
            drawn,
            label=f"sentences/s on {first} core{'s' * (first > 1)}, log scale",
            name="speed",
            logarithmic=True,
        ),
        "table": page.table(
            ["system", "text in, warm", "text in, cold", "ids in", "load, s"], rows, numbers=range(1, 5)
        ),
        "cpu": conditions["cpu"],
        "load": load and f"{load[0]:.1f}",
        "repeats": conditions["repeats"],
        "pieces": f"{conditions['mean_pieces']:.1f}",
        "sentences": result["sentences"],
        "missing": [(one["name"], one["why"].partition("\n")[0]) for one in result["missing"]],
    }


def _size(run: Run) -> dict[str, Any] | None:
    """Smaller versions of the model: their size against their first main score."""
    if "quantized" not in run:
        return None
    result = run["quantized"]
    drawn = []
    for one in (result["whole"], *result["smaller"]):
        average = by_place(one["scores"]).get(("sts", "average", "pearson"))
        if average and average.value is not None:
            low, high = average.interval or (None, None)
            point = {"name": one["dim"], "system": one["dtype"], "MB": one["bytes"] / _MB, "STS": average.value}
            drawn.append({**point, "low": low, "high": high})
    return {
        "chart": charts.scatter(drawn, x="MB", y="STS", name="size") if drawn else None,
        "table": page.of(comparison.quantized(result)),
    }
