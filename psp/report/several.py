"""A page that compares several models, from their folders of results: results/report.html, and ``psp report``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from psp.core.errors import DataError
from psp.models.scores import by_place, compared_metrics
from psp.report import charts, eval_table, page
from psp.report.comparison import having, shared_columns
from psp.report.run import Run
from psp.report.summary import summary
from psp.text.published_sets import own_name

_MB = 1e6


def write(folders: Sequence[Path | str], out: Path | str) -> None:
    """Write one page that compares several models.

    Args:
        folders: the results of each; two of the same name are distinguished by their folders.
        out: the page; links to the models' own pages are relative to it.

    Raises:
        DataError: as :meth:`psp.report.run.Run.load`, ``out`` cannot be written, or a folder is given twice.
    """
    paths = [Path(folder).resolve() for folder in folders]
    if repeated := next((path for path in paths if paths.count(path) > 1), None):
        raise DataError("is given twice", repeated)
    runs = [Run.load(folder) for folder in folders]
    page.write("several.html", Path(out), **view(runs, Path(out)))


def view(runs: Sequence[Run], out: Path) -> dict[str, Any]:
    """What the template of a page of several models reads."""
    labels = _labels(runs)
    evaluations = {label: run["eval"] for label, run in zip(labels, runs, strict=True) if "eval" in run}
    shown = shared_columns(evaluations)
    head = ["model", *(name for _, name, _ in shown), "MB", "dimensions", "pairs"]
    alone = set[str]()
    rows: list[list[Any]] = []
    drawn, errors, sizes = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
    for label, run in zip(labels, runs, strict=True):
        evaluation = run.found.get("eval", {})
        figures = compared_metrics(evaluation) if evaluation else {}
        languages = evaluation.get("languages") or (run.config or {}).get("languages") or []
        about = [", ".join(languages), f"recipe {evaluation['recipe']}" if "recipe" in evaluation else ""]
        rows.append(
            [
                page.stacked(_linked(label, run, out), "; ".join(filter(None, about))),
                *(page.scored(figures.get(key) if label in group else None) for key, _, group in shown),
                None if run.size is None else f"{run.size / _MB:,.1f}",
                (run.config or {}).get("dim"),
                run["data"]["total"]["kept"] if "data" in run else None,
            ]
        )
        by_test = sorted(eval_table.scores(evaluation) if evaluation else (), key=lambda row: row.name != "sts")
        for row in by_test:
            if row.is_whole and row.interval is not None:
                together = row.published or len(having(evaluations, row.name, label)) > 1
                if not together and len(evaluations) > 1:
                    alone.add(f"{row.short} ({label})")
                    continue
                low, high = row.interval
                one = {"name": row.short, "system": label, "value": row.value, "low": low, "high": high}
                (drawn if row.higher_is_better else errors).append(one)
        average = by_place(evaluation).get(("sts", "average", "pearson"))
        if run.size is not None and average and average.value is not None and own_name(evaluation, "sts") is None:
            ends = average.interval or (None, None)
            size = {"name": label, "MB": run.size / _MB, "STS": average.value}
            sizes.append({**size, "low": ends[0], "high": ends[1]})
    return {
        "names": labels,
        "summaries": [(label, summary(run)) for label, run in zip(labels, runs, strict=True)],
        "table": page.table(head, rows, numbers=range(1, len(head))),
        "scores": charts.dots(drawn, label="Pearson × 100, 95 % intervals", name="scores") if drawn else None,
        "errors": charts.dots(errors, label="error in %, 95 % intervals", name="errors") if errors else None,
        "sizes": charts.scatter(sizes, x="MB", y="STS", name="sizes") if len(sizes) > 1 else None,
        "alone": sorted(alone),
        "missing": [
            (label, ", ".join(file for file, _ in run.missing))
            for label, run in zip(labels, runs, strict=True)
            if run.missing
        ],
    }


def _labels(runs: Sequence[Run]) -> list[str]:
    """The models' names; those that are not unique with their folders."""
    names = [run.name for run in runs]
    return [run.name if names.count(run.name) == 1 else f"{run.name} ({run.folder})" for run in runs]


def _linked(label: str, run: Run, out: Path) -> Any:
    """A link to the model's own page, if it has one below the folder of this page."""
    own = (run.folder / "report.html").resolve()
    below = out.resolve().parent
    if not own.is_file() or not own.is_relative_to(below) or own == out.resolve():
        return label
    return Markup('<a href="{}">{}</a>').format(quote(own.relative_to(below).as_posix()), label)
