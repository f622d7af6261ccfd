"""The eight Polish tasks of Dadas (2022) side by side: table I of the paper, with our rows above the paper's.

    python benchmarks/polish.py pl=results/pl USE=results/pl/systems/use-multilingual > table.md
    python benchmarks/polish.py pl=results/pl --details

A row is a name and a folder whose `tasks/` has the scores: of a model, of a system beside it, or of `psp eval --out`;
they are made by the targets of config/polish.yaml. Nothing is typed in: the paper's rows are those of
psp/report/quoted.yaml. The average is over the eight and has no value where one is missing. `--details` gives the 95%
intervals of our rows (bootstrap over test items), the lowest and highest seed, and what was chosen on the development
part.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from psp.core.errors import ConfigError, PspError
from psp.core.files import read_json
from psp.report import quoted
from psp.report.layout import FORMS, layout

#: Table I's columns, by the tasks of config/polish.yaml: the name, and the figure.
TASKS = {
    "ppc": ("PPC", "accuracy"),
    "cr-h": ("CR-H", "accuracy"),
    "cr-m": ("CR-M", "accuracy"),
    "cdsc-e": ("CDSC-E", "accuracy"),
    "sick-e": ("SICK-E", "accuracy"),
    "cdsc-r": ("CDSC-R", "spearman"),
    "sick-r": ("SICK-R", "spearman"),
    "8tags": ("8TAGS", "accuracy"),
}
SOURCE, PREFIX = "Dadas 2022", "polish/"
Row = Mapping[str, Mapping[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="+", metavar="NAME=FOLDER", help="our rows")
    parser.add_argument("--details", action="store_true", help="intervals, seeds and choices of our rows")
    parser.add_argument("--format", choices=FORMS, default="markdown", help="default: %(default)s")
    options = parser.parse_args()
    try:
        rows = dict(named(row) for row in options.rows)
        sys.stdout.write((details if options.details else table)(rows, options.format))
    except PspError as error:
        sys.exit(f"error: {error}")


def named(row: str) -> tuple[str, Row]:
    """A row's name, and the part ``all`` of each task that its folder has.

    Raises:
        ConfigError: it is no NAME=FOLDER, or the folder has none of the tasks by this protocol.
    """
    name, mark, folder = row.partition("=")
    if not mark or not name or not folder:
        raise ConfigError(f"{row}: write NAME=FOLDER")
    found = {}
    for task, (_, figure) in TASKS.items():
        path = Path(folder, "tasks", f"{task}.json")
        if path.exists():
            part = read_json(path)["parts"].get("all", {"figures": {}})
            # The same name may be another protocol's in another config.
            if figure in part["figures"] and "seeds" in part["further"]:
                found[task] = part
    if not found:
        raise ConfigError(f"{folder}: tasks/ has no scores by this protocol; config/polish.yaml says how to make them")
    return name, found


def value(part: Mapping[str, Any], task: str) -> float | None:
    """A task's score, as the table has it."""
    found: float | None = part["figures"][TASKS[task][1]]["value"]
    return found


def average(row: Row) -> float | None:
    """The mean over the eight; None where one is missing."""
    found = [one for task in row if (one := value(row[task], task)) is not None]
    return float(np.mean(found)) if len(found) == len(TASKS) else None


def table(rows: Mapping[str, Row], form: str) -> str:
    """Table I: our rows, then the paper's, quoted."""
    lines = [["", "average", *(name for name, _ in TASKS.values())]]
    for name, row in rows.items():
        values = [value(row[task], task) if task in row else None for task in TASKS]
        lines.append([name, *map(_cell, [average(row), *values])])
    for one in quoted.load():
        if one.source.startswith(SOURCE) and f"{PREFIX}average" in one.figures:
            values = [one.figures.get(f"{PREFIX}{name}") for name in ("average", *TASKS)]
            lines.append([f"*{one.name}* (quoted)", *map(_cell, values)])
    return layout(lines, form, right=range(1, len(TASKS) + 2))


def details(rows: Mapping[str, Row], form: str) -> str:
    """Intervals, seeds and choices of our rows."""
    lines = [["", "task", "value", "95% interval", "seeds", "L2", "epochs", "test sentences in train"]]
    for name, row in rows.items():
        for task, part in row.items():
            about = part["further"]
            interval = part["figures"][TASKS[task][1]]["interval"]
            seeds = about.get("accuracies") or about.get("spearmans")
            lines.append(
                [
                    name,
                    TASKS[task][0],
                    _cell(value(part, task)),
                    f"{interval[0]:.1f} to {interval[1]:.1f}" if interval else "-",
                    f"{min(seeds):.1f} to {max(seeds):.1f}" if seeds else "-",
                    ", ".join(f"{l2:g}" for l2 in about["l2"]) if "l2" in about else "-",
                    ", ".join(map(str, about["epochs"])),
                    f"{about['sentences_in_train']:,}",
                ]
            )
    return layout(lines, form, right=(2, 7))


def _cell(number: float | None) -> str:
    return "-" if number is None else f"{number:.1f}"


if __name__ == "__main__":
    main()
