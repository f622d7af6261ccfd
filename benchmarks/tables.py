"""Models by their names and seeds, side by side: the tables of docs/measurements.md with P, S, B and T.

    python benchmarks/tables.py fr=results/fr-{1,2,3} 'two words'=results/fr-short-{1,2,3} --also tatoeba/fra

A row is a name and a model's folder. Those of one name, such as one model trained with several seeds, make one row of
their mean ± sample standard deviation. The columns are P, the mean Pearson x 100 on STS 2012-2016; S, the Spearman on
the concatenations without SMT; B, the Pearson on the STS Benchmark's test part; and T, the Tatoeba error in %, the mean
of both directions and of the languages. `--also TASK/PART` or `TASK/PART/METRIC` adds others, named as `psp show
--format csv` names them; without a metric it is the part's first. Nothing is typed in: all is read from `eval.json` and
`tasks/`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from quoted_tasks import parsed

import psp
from psp.core.errors import ConfigError, PspError
from psp.report.layout import FORMS, Number, layout

COLUMNS = {
    "P": "sts/average/pearson",
    "S": "sts/average/spearman",
    "B": "stsb/test/pearson",
    "T": "tatoeba/mean/error",
}


def figures(frame: pd.DataFrame, column: str) -> Number:
    """The mean of a figure over the models of a frame, and its deviation where there are several.

    Raises:
        ConfigError: some models have the figure and others have not.
    """
    task, part, *metric = column.split("/")
    rows = frame[(frame.task == task) & (frame.part == part)]
    values = (rows[rows.metric == metric[0]] if metric else rows).groupby("folder").value.first()
    missing = sorted(set(frame.folder) - set(values.index))
    if values.empty:
        return Number(None)
    if missing:
        raise ConfigError(f"{column}: {', '.join(missing)} {'has' if len(missing) == 1 else 'have'} no such figure")
    return Number(values.mean(), deviation=values.std() if len(values) > 1 else None, written="{:.2f}")


def table(rows: Mapping[str, Sequence[Path]], also: Sequence[str] = (), form: str = "markdown") -> str:
    """Lay out a row for each name; columns that no row has are left out.

    Raises:
        ConfigError: models of one row differ in what they have; a column that no model has.
        DataError: no such folder, or a file in it cannot be read.
    """
    columns = COLUMNS | {column: column for column in also}
    cells: list[list[Number]] = []
    for models in rows.values():
        frame = pd.concat([psp.results(folder).assign(folder=str(folder)) for folder in models])
        frame = frame[frame.system.isna() & frame.variant.isna()]
        cells.append([figures(frame, column) for column in columns.values()])
    kept = [place for place in range(len(columns)) if any(row[place].value is not None for row in cells)]
    titles = list(columns)
    if absent := [title for place, title in enumerate(titles) if place not in kept and title in also]:
        raise ConfigError(f"{absent[0]}: no model has it; `psp show FOLDER --format csv` lists what there is")
    head = ["", *(titles[place] for place in kept)]
    body = [[name, *(str(row[place]) for place in kept)] for name, row in zip(rows, cells, strict=True)]
    return layout([head, *body], form, right=range(1, len(head)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="+", metavar="NAME=FOLDER", help="a model of a row")
    parser.add_argument("--also", nargs="+", default=(), metavar="TASK/PART", help="more columns")
    parser.add_argument("--format", choices=FORMS, default="markdown", help="default: %(default)s")
    options = parser.parse_args()
    try:
        rows: dict[str, list[Path]] = {}
        for name, folder in map(parsed, options.rows):
            rows.setdefault(name, []).append(folder)
        sys.stdout.write(table(rows, options.also, options.format))
    except PspError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
