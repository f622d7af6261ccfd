"""A page that compares several models, from their folders of results: results/report.html, and ``psp report``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from psp.core.errors import DataError
from psp.models.scores import by_place
from psp.report import charts, eval_table, page
from psp.report.comparison import having, models
from psp.report.run import Run
from psp.report.summary import summary
from psp.report.tables import Cell, Number, Stacked, Table
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
    shown = view(runs, Path(out))
    names = ", ".join(label for label, _ in shown["summaries"])
    page.write("report.html", Path(out), models=shown, name=names, title="")


def view(runs: Sequence[Run], out: Path) -> dict[str, Any]:
    """What the template reads of several models."""
    labels = _labels(runs)
    evaluations = {label: run["eval"] for label, run in zip(labels, runs, strict=True) if "eval" in run}
    table = models({label: evaluations.get(label, {}) for label in labels})
    rows: list[list[Cell]] = []
    alone = set[str]()
    drawn, errors, sizes = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
    for label, run, figures in zip(labels, runs, table.rows, strict=True):
        evaluation, config = run.found.get("eval", {}), run.config or {}
        languages = evaluation.get("languages") or config.get("languages") or []
        about = [", ".join(languages), f"recipe {evaluation['recipe']}" if "recipe" in evaluation else ""]
        size = Number(None if run.size is None else run.size / _MB, written="{:,.1f}")
        rows.append(
            [Stacked(_linked(label, run, out), "; ".join(filter(None, about))), *figures[1:], size, config.get("dim")]
        )
        by_test = sorted(eval_table.scores(evaluation) if evaluation else (), key=lambda row: row.name != "sts")
        for row in by_test:
            if row.is_whole and row.interval is not None:
                together = row.published or len(having(evaluations, row.name, label)) > 1
                if not together and len(evaluations) > 1:
                    alone.add(f"{row.short} ({label})")
                    continue
                points = drawn if row.higher_is_better else errors
                points.append(charts.point(row.short, label, row.value, row.interval))
        average = by_place(evaluation).get(("sts", "average", "pearson"))
        if run.size is not None and average and average.value is not None and own_name(evaluation, "sts") is None:
            ends = average.interval or (None, None)
            point = {"name": label, "MB": run.size / _MB, "STS": average.value}
            sizes.append({**point, "low": ends[0], "high": ends[1]})
    return {
        "summaries": [(label, summary(run)) for label, run in zip(labels, runs, strict=True)],
        "table": Table([*table.head, "MB", "dimensions"], rows, range(1, len(table.head) + 2)),
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
