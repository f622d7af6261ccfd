"""Scores on tasks side by side, a published table's rows below ours (benchmarks/polish.py, transfer.py).

A row of ours is a folder whose ``tasks/`` has files of tasks; the paper's rows are those of psp/report/reported.yaml.
:meth:`QuotedTable.minus` has the differences of our rows, with intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from psp.core.errors import ConfigError
from psp.core.files import read_json
from psp.report import comparison, reported
from psp.report.layout import layout

if TYPE_CHECKING:
    from psp.evaluation.scorers import Floats

#: For each column, the part ``all`` of its task's file.
Row = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Column:
    """A column of the table.

    Attributes:
        title: its heading.
        task: the task's name, which its file bears.
        figure: which of the task's figures.
        quoted: the name of the figure in reported.yaml.
    """

    title: str
    task: str
    figure: str
    reported: str


@dataclass(frozen=True)
class QuotedTable:
    """A published table.

    Attributes:
        columns: its columns.
        source: how its source in reported.yaml begins.
        config: where the tasks are configured, for errors.
        average: the name in reported.yaml of the mean over all columns, where the paper has one.
        ours: whether a file's part ``all`` is by the paper's protocol; another config may use the same name otherwise.
    """

    columns: tuple[Column, ...]
    source: str
    config: str
    average: str | None = None
    ours: Callable[[Mapping[str, Any]], bool] = lambda part: True

    def named(self, row: str) -> tuple[str, Row]:
        """A row's name, and the scores that its folder has, by the columns' titles.

        Raises:
            ConfigError: it is no NAME=FOLDER, or the folder has none of the tasks by this protocol.
        """
        name, folder = parsed(row)
        found = {}
        for column in self.columns:
            path = Path(folder, "tasks", f"{column.task}.json")
            if path.exists():
                part = read_json(path)["parts"].get("all", {"figures": {}, "further": {}})
                if column.figure in part["figures"] and self.ours(part):
                    found[column.title] = part
        if not found:
            raise ConfigError(f"{folder}: tasks/ has no scores by this protocol; {self.config} says how to make them")
        return name, found

    def value(self, row: Row, column: Column) -> float | None:
        """A row's score; None where it has none."""
        if column.title not in row:
            return None
        found: float | None = row[column.title]["figures"][column.figure]["value"]
        return found

    def mean(self, row: Row) -> float | None:
        """The mean over all columns; None where one is missing."""
        found = [self.value(row, column) for column in self.columns]
        known = [one for one in found if one is not None]
        return float(np.mean(known)) if len(known) == len(self.columns) else None

    def table(self, rows: Mapping[str, Row], form: str) -> str:
        """Our rows, then the paper's, quoted."""
        average = [self.average] if self.average else []
        lines = [["", *("average" for _ in average), *(column.title for column in self.columns)]]
        for name, row in rows.items():
            values = [self.mean(row) for _ in average] + [self.value(row, column) for column in self.columns]
            lines.append([name, *map(cell, values)])
        for one in reported.load():
            wanted = [*average, *(column.reported for column in self.columns)]
            if one.source.startswith(self.source) and wanted[0] in one.figures:
                lines.append([f"*{one.name}* (quoted)", *(cell(one.figures.get(name)) for name in wanted)])
        return layout(lines, form, right=range(1, len(lines[0])))

    def minus(self, folders: Mapping[str, Path], own: str, form: str) -> str:
        """Our rows minus one of them, with the 95% intervals of the paired bootstrap over test items.

        Of the average the items are drawn for each task by itself, also where two tasks have the same ones.

        Raises:
            ConfigError: no row is called ``own``.
            DataError: a file of a row is missing, or scored on other sets or resamples than that of ``own``.
        """
        if own not in folders:
            raise ConfigError(f"--minus {own}: no such row; there are {', '.join(folders)}")
        average = ["average"] if self.average else []
        lines = [["", *average, *(column.title for column in self.columns)]]
        for name, folder in folders.items():
            if name != own:
                found = [self._mean_difference(folders[own], folder) for _ in average]
                found += [self._difference(folders[own], folder, column) for column in self.columns]
                lines.append([f"{name} - {own}", *(str(comparison.difference(one, is_error=False)) for one in found)])
        return layout(lines, form, right=range(1, len(lines[0])))

    def _difference(self, own: Path, other: Path, column: Column) -> Mapping[str, Any] | None:
        """The difference in a column; None where a row has no such file."""
        from psp.evaluation.compare import task_differences  # not for the table: the evaluation takes two seconds

        mine, theirs = self._file(own, column), self._file(other, column)
        return task_differences(mine, theirs)["all"][column.figure] if mine and theirs else None

    def _mean_difference(self, own: Path, other: Path) -> Mapping[str, Any] | None:
        """The difference of the means over all columns; None where one is missing."""
        from psp.evaluation.resamples import difference
        from psp.evaluation.task_files import scored_task

        means: list[tuple[float, Floats]] = []
        for folder in (own, other):
            values: list[float] = []
            resampled: list[Floats] = []
            for column in self.columns:
                if (path := self._file(folder, column)) is None:
                    return None
                result, drawn = scored_task(path)
                value = result["parts"]["all"]["figures"][column.figure]["value"]
                if value is None:
                    return None
                values.append(value)
                resampled.append(drawn[f"all/{column.figure}"])
            means.append((float(np.mean(values)), np.mean(resampled, axis=0)))
        (mine, first), (theirs, second) = means
        return difference([mine], [first], [theirs], [second])

    def _file(self, folder: Path, column: Column) -> Path | None:
        """A column's file, if there is one by this protocol."""
        path = Path(folder, "tasks", f"{column.task}.json")
        part = read_json(path)["parts"].get("all") if path.exists() else None
        return path if part and column.figure in part["figures"] and self.ours(part) else None


def parsed(row: str) -> tuple[str, Path]:
    """A row's name and folder.

    Raises:
        ConfigError: it is no NAME=FOLDER.
    """
    name, mark, folder = row.partition("=")
    if not mark or not name or not folder:
        raise ConfigError(f"{row}: write NAME=FOLDER")
    return name, Path(folder)


def cell(number: float | None) -> str:
    """A score as the table has it."""
    return "-" if number is None else f"{number:.1f}"
