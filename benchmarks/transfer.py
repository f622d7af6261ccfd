"""SentEval's transfer tasks side by side: table 14 of ParaNMT-50M's appendix, with our rows above the paper's.

    python benchmarks/transfer.py words=results/en-words subwords=results/en > table.md

A row is a name and a folder whose `tasks/` has the scores: of a model, of a system beside it, or of `psp eval --out`;
they are made by the targets of config/transfer.yaml. The paper's rows are those of psp/report/reported.yaml. SST is
trained on phrases, as SentEval does; SST-S, on the sentences alone, is in no row of the paper. `--minus NAME` gives the
other rows' differences to one of them, with the intervals of the paired bootstrap.
"""

from __future__ import annotations

import argparse
import sys

from quoted_tasks import Column, QuotedTable, parsed

from psp.core.errors import PspError
from psp.report.layout import FORMS

#: Table 14, by the tasks of config/transfer.yaml.
TABLE = QuotedTable(
    columns=(
        Column("MR", "mr", "accuracy", "transfer/mr"),
        Column("CR", "cr", "accuracy", "transfer/cr"),
        Column("SUBJ", "subj", "accuracy", "transfer/subj"),
        Column("MPQA", "mpqa", "accuracy", "transfer/mpqa"),
        Column("SST", "sst2", "accuracy", "transfer/sst"),
        Column("SST-S", "sst2-sentences", "accuracy", "transfer/sst-sentences"),
        Column("TREC", "trec", "accuracy", "transfer/trec"),
        Column("MRPC", "mrpc-linear", "accuracy", "transfer/mrpc/accuracy"),
        Column("F1", "mrpc-linear", "f1", "transfer/mrpc/f1"),
        Column("SICK-R", "sick-r", "pearson", "transfer/sick-r"),
        Column("SICK-E", "sick-e", "accuracy", "transfer/sick-e"),
    ),
    source="Wieting and Gimpel 2018, ParaNMT-50M, ACL 2018, table 14",
    config="config/transfer.yaml",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="+", metavar="NAME=FOLDER", help="our rows")
    parser.add_argument("--minus", metavar="NAME", help="the other rows minus this one, with paired intervals")
    parser.add_argument("--format", choices=FORMS, default="markdown", help="default: %(default)s")
    options = parser.parse_args()
    try:
        if options.minus is not None:
            folders = dict(map(parsed, options.rows))
            sys.stdout.write(TABLE.minus(folders, options.minus, options.format))
            return
        sys.stdout.write(TABLE.table(dict(TABLE.named(row) for row in options.rows), options.format))
    except PspError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
