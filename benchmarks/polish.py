"""The eight Polish tasks of Dadas (2022) side by side: table I of the paper, with our rows above the paper's.

    python benchmarks/polish.py pl=results/pl USE=results/pl/systems/use-multilingual > table.md
    python benchmarks/polish.py pl=results/pl --details

A row is a name and a folder whose `tasks/` has the scores: of a model, of a system beside it, or of `psp eval --out`;
they are made by the targets of config/polish.yaml. Nothing is typed in: the paper's rows are those of
psp/report/reported.yaml. The average is over the eight and has no value where one is missing. `--details` gives the 95%
intervals of our rows (bootstrap over test items), the lowest and highest seed, and what was chosen on the development
part. `--minus NAME` gives the other rows' differences to one of them, with the intervals of the paired bootstrap.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping

from quoted_tasks import Column, QuotedTable, Row, cell, parsed

from psp.core.errors import PspError
from psp.report.layout import FORMS, layout

#: Table I, by the tasks of config/polish.yaml.
TABLE = QuotedTable(
    columns=tuple(
        Column(title, task, figure, f"polish/{task}")
        for title, task, figure in (
            ("PPC", "ppc", "accuracy"),
            ("CR-H", "cr-h", "accuracy"),
            ("CR-M", "cr-m", "accuracy"),
            ("CDSC-E", "cdsc-e", "accuracy"),
            ("SICK-E", "sick-e", "accuracy"),
            ("CDSC-R", "cdsc-r", "spearman"),
            ("SICK-R", "sick-r", "spearman"),
            ("8TAGS", "8tags", "accuracy"),
        )
    ),
    source="Dadas 2022",
    config="config/polish.yaml",
    average="polish/average",
    ours=lambda part: "seeds" in part["further"],
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="+", metavar="NAME=FOLDER", help="our rows")
    parser.add_argument("--details", action="store_true", help="intervals, seeds and choices of our rows")
    parser.add_argument("--minus", metavar="NAME", help="the other rows minus this one, with paired intervals")
    parser.add_argument("--format", choices=FORMS, default="markdown", help="default: %(default)s")
    options = parser.parse_args()
    try:
        if options.minus is not None:
            folders = dict(map(parsed, options.rows))
            sys.stdout.write(TABLE.minus(folders, options.minus, options.format))
            return
        rows = dict(TABLE.named(row) for row in options.rows)
        sys.stdout.write((details if options.details else TABLE.table)(rows, options.format))
    except PspError as error:
        sys.exit(f"error: {error}")


def details(rows: Mapping[str, Row], form: str) -> str:
    """Intervals, seeds and choices of our rows."""
    lines = [["", "task", "value", "95% interval", "seeds", "L2", "epochs", "test sentences in train"]]
    for name, row in rows.items():
        for column in TABLE.columns:
            if column.title not in row:
                continue
            about, score = row[column.title]["further"], row[column.title]["figures"][column.figure]
            interval, seeds = score["interval"], about.get("accuracies") or about.get("spearmans")
            lines.append(
                [
                    name,
                    column.title,
                    cell(score["value"]),
                    f"{interval[0]:.1f} to {interval[1]:.1f}" if interval else "-",
                    f"{min(seeds):.1f} to {max(seeds):.1f}" if seeds else "-",
                    ", ".join(f"{l2:g}" for l2 in about["l2"]) if "l2" in about else "-",
                    ", ".join(map(str, about["epochs"])),
                    f"{about['sentences_in_train']:,}",
                ]
            )
    return layout(lines, form, right=(2, 7))


if __name__ == "__main__":
    main()
