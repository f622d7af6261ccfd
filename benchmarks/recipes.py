"""What recipes and their single steps are worth: the variants of models, trained with several seeds, as Markdown.

    PSP_DATA=~/mirror python benchmarks/recipes.py --configfile config/sample.yaml --models fr fr-notatoeba en

Snakemake makes each model's variants.json, which the config's `variants` and `seeds` describe; what is there already
is not made again. The machine should do nothing else: seconds and pairs a second are in the tables. `--dry-run` only
says what would be run. Options that are not known here are Snakemake's. `train: {threads: 1}` in a config file trains
variants side by side, one on each core: 2 x 9,200 pairs/s instead of 16,000 by the paper's recipe, 2 x 18,000 instead
of 29,500 by ours, on 2 cores. Their seconds are then those of one thread.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import workflow

from psp.core.files import atomic_text, read_report
from psp.core.logs import job
from psp.report.comparison import variants as table


def main() -> None:
    parser = workflow.parser(__doc__, "models of the config")
    parser.add_argument("--out", type=Path, help="a file for the tables, beside printing them")
    parser.add_argument("--dry-run", action="store_true", help="only say what would be run")
    options, further = parser.parse_known_args()
    targets = [f"results/{model}/variants.json" for model in options.models]
    command = workflow.command(targets, options.configfile, options.cores, further)
    if options.dry_run:
        command.insert(1, "--dry-run")
    workflow.run(command, options.folder)
    if options.dry_run:
        return
    with job():
        results = [read(options.folder / f"results/{model}/variants.json") for model in options.models]
        text = page(results, command)
        if options.out:
            with atomic_text(options.out) as file:
                file.write(text)
    print(text, end="")


def read(path: Path) -> dict[str, Any]:
    """A variants.json.

    Raises:
        DataError: the file is missing, or of another format.
    """
    result: dict[str, Any] = read_report(path, 2)
    return result


def page(results: Sequence[Mapping[str, Any]], command: Sequence[str]) -> str:
    """The command and a table for each model, as Markdown."""
    tables = [f"### {result['model']}\n\n{table(result).write('markdown')}" for result in results]
    return "\n".join([f"```sh\n{shlex.join(command)}\n```\n", *tables])


if __name__ == "__main__":
    main()
