"""report.html: how good a model is, what it was trained on and how it compares, for people who never read JSON.

A page is one file that loads nothing (:mod:`psp.report.page`) and is made only from the results' JSON: the same results
give the same bytes. It names what is missing, and how to make it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from psp.core.machine import versions
from psp.evaluation.systems import BASELINES
from psp.models.card_data import public_address
from psp.models.scores import by_place, direction, scores, tasks_of
from psp.pairs import data_warnings
from psp.report import charts, comparison, eval_table, page, speed_chart, task_table
from psp.report.curve import Curve, draw_loss, draw_scores
from psp.report.data import STAGES, corpora_table, dropped_table, heading, why
from psp.report.reported import ReportedScores
from psp.report.reported import load as load_reported
from psp.report.run import STORE, Run, kept_pairs
from psp.report.summary import facts, summary, title
from psp.report.tables import Cell, Foreign, Number, Stacked, Table
from psp.text.languages import NAMES
from psp.text.published_sets import same_domain

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
        "models": None,
        "name": run.name,
        "title": title(run),
        "facts": facts(run),
        "has_model": run.config is not None,
        "summary": summary(run),
        "warnings": [*data_warnings.lines(run["data"]["warnings"], run.name)] if "data" in run else [],
        "missing": run.missing,
        "target": f"results/{run.name}",
        "scores": _scores(run),
        "skipped": run.found.get("eval", {}).get("skipped", []),
        "quoted": comparison.quoted(run["eval"], load_reported() if reported is None else reported)
        if "eval" in run
        else None,
        "retrieval": _retrieval(run),
        "tasks": task_table.table(run.tasks, run.found.get("compare")) if run.tasks else None,
        "parts": comparison.parts(run["eval"]) if "parts" in run.found.get("eval", {}) else None,
        "data": _data(run),
        "training": _training(run),
        "variants": comparison.variants(run["variants"]) if "variants" in run else None,
        "examples": _examples(run),
        "speed": {"chart": speed_chart.chart(run["speed"]), "table": speed_chart.table(run["speed"])}
        if "speed" in run
        else None,
        "size": _size(run),
        "settings": _settings(run),
        "config": config and yaml.safe_dump(without_paths(yaml.safe_load(config)), **YAML),
        "versions": versions(PACKAGES),
        "trained_by": (run.config or {}).get("psp_version"),
    }


# ------------------------------------------------------------------------------------------------------------- scores


def _scores(run: Run) -> dict[str, Any] | None:
    if "eval" not in run:
        return None
    compared = run.found.get("compare")
    systems = eval_table.systems_of(compared)
    known = {run.name: by_place(run["eval"]), **{name: by_place(run["compare"]["systems"][name]) for name in systems}}
    drawn = [
        charts.point(row.short, name, score.value, score.interval)
        for row in sorted(eval_table.scores(run["eval"]), key=lambda row: row.name != "sts")
        if row.is_whole and row.higher_is_better
        for name in [*known][:SYSTEMS]
        if (score := known[name].get((row.task, row.part, row.metric))) is not None and score.value is not None
    ]
    return {
        "table": eval_table.table(run["eval"], compared, main=True),
        "further": eval_table.table(run["eval"], compared, main=False),
        "chart": charts.dots(drawn, label="Pearson × 100, 95 % intervals", name="scores") if drawn else None,
        "compared": bool(systems),
        "trained": bool(set(systems) - set(BASELINES)),
        "resamples": run["eval"]["conditions"]["resamples"],
    }


def _retrieval(run: Run) -> dict[str, Any] | None:
    """Errors by language and direction, without systems that are not trained, whose errors are near 90 %."""
    directions = [score for score in scores(run.found.get("eval", {})) if score.task == "tatoeba" and not score.mean]
    if not directions:
        return None
    rows, drawn = [], []
    trained = [name for name in eval_table.systems_of(run.found.get("compare")) if name not in BASELINES]
    bodies = {run.name: by_place(run["eval"]), **{name: by_place(run["compare"]["systems"][name]) for name in trained}}
    parts = tasks_of(run["eval"])["tatoeba"]["parts"]
    for score in directions:
        way = direction(score.part)
        cells: list[Cell] = [Stacked(way, f"{score.items:,} sentences")]
        for name, known in bodies.items():
            one = known.get((score.task, score.part, score.metric))
            cells.append(Number(one.value, one.interval) if one else None)
            if one and one.interval:
                drawn.append(charts.point(way, name, one.value, one.interval))
        rows.append([*cells, parts[score.part]["further"]["duplicates"]])
    head = ["direction", *(f"{name}, error %" for name in bodies), "equal text found"]
    return {
        "table": Table(head, rows, range(1, len(head))),
        "chart": charts.dots(drawn, label="error in %, 95 % intervals", name="retrieval"),
        "domain": same_domain(run["eval"]),
    }


# --------------------------------------------------------------------------------------------------------------- data


def _data(run: Run) -> dict[str, Any] | None:
    if "data" not in run:
        return None
    data = run["data"]
    total = data["total"]
    kept: Mapping[str, list[tuple[str, str]]] = {}
    store = run.folder / STORE
    if store.is_file() and run.config is not None:
        kept = kept_pairs(store, run.folder / "model", SAMPLES)
    return {
        "read": total["read"],
        "kept": total["kept"],
        "languages": [NAMES.get(code, code) for code in data["languages"]],
        "funnel": charts.funnel([*_funnel(data)], label="pairs left after each stage", name="funnel")
        if total["read"]
        else None,
        "table": corpora_table(data),
        "corpora": [_corpus(corpus, kept.get(corpus["label"], [])) for corpus in data["corpora"]],
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
                yield heading(stage, name), left


def _corpus(corpus: Mapping[str, Any], kept: Sequence[tuple[str, str]]) -> dict[str, Any]:
    address, dropped = corpus["source"]["address"], corpus["dropped"]
    return {
        **corpus,
        # A local file only by its name.
        "address": public_address(address) or f"a local file, {address.rpartition('/')[2]}",
        "kept": _pairs(kept),
        "dropped": dropped_table(corpus),
        "samples": [(why(entry), _pairs(entry["samples"][:SAMPLES])) for entry in dropped if entry["samples"]],
    }


def _pairs(rows: Sequence[Sequence[str]]) -> Table:
    return Table(["source", "target"], [list(map(Foreign, row)) for row in rows])


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
    nothing = dict.fromkeys(("pairs", "loss", "megabatch"), np.empty(0))
    drawn = Curve.of(run.name, run.metrics or nothing, {"settings": {}, **train})
    return {
        "loss": charts.panel(lambda axes: draw_loss(axes, [drawn]), x="pairs seen", y="loss", name="loss")
        if len(drawn.x)
        else None,
        "score": charts.panel(
            lambda axes: draw_scores(axes, [drawn]), x="pairs seen", y="validation score", name="validation"
        )
        if np.isfinite(drawn.scores).any()
        else None,
        "grows": len(set(drawn.megabatch)) > 1,
    }


def _settings(run: Run) -> dict[str, Any]:
    """What differs from the recipe, and the training settings."""
    evaluation = run.found.get("eval", {})
    train = run.found.get("train") or evaluation.get("train") or {}
    return {
        "recipe": evaluation.get("recipe"),
        "differences": {key: without_paths(value) for key, value in evaluation.get("differences", {}).items()},
        "train": {key: without_paths(value) for key, value in train.get("settings", {}).items()},
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
        "table": comparison.quantized(result),
    }


# ----------------------------------------------------------------------------------------------------------- examples

#: Figures of examples, and how they are written.
_EXAMPLE_FORMATS = {"gold": "{:g}", "found_similarity": "{:.2f}", "similarity": "{:.2f}"}


def _examples(run: Run) -> list[tuple[str, list[tuple[str, Table]]]]:
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
    *above, below = [(about, [("", _examples_table(columns, rows))]) for about, columns, rows in told]
    found = []
    for key, rows in examples["retrieval"].items():
        shown = [("Wrong, the most confident first" if rows["wrong"] else "", _examples_table(wrong, rows["wrong"]))]
        shown += [("Right, drawn at random", _examples_table(right, rows["right"]))] if rows["right"] else []
        found.append((f"Nearest neighbours, {direction(key)}", shown))
    return [*(one for one in above if one[1][0][1]), *found, *([below] if below[1][0][1] else [])]


def _examples_table(columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> Table:
    """A table of these columns, each the value of a key; sentences are of others, and may hold anything."""
    cells = [[_example(key, row[key]) for key in columns.values()] for row in rows]
    return Table(list(columns), cells, [at for at, key in enumerate(columns.values()) if key in _EXAMPLE_FORMATS])


def _example(key: str, value: Any) -> Cell:
    if key in _EXAMPLE_FORMATS:
        return Number(value, written=_EXAMPLE_FORMATS[key])
    return str(value) if key == "set" else Foreign(value)
