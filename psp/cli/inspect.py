"""``psp inspect``: look at a model's corpora before training."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from psp.cli.project import models, named, read_config, snakemake
from psp.core.errors import DataError
from psp.core.files import read_json


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command(
        "inspect", run, "Download the corpora of a model and report what looks wrong in them, before training."
    )
    added.add_argument(
        "--cores", type=int, default=os.cpu_count() or 1, metavar="N", help="number of cores (default: all cores)"
    )
    added.add_argument("--json", action="store_true", help="print inspect.json instead of its summary")
    models(added)


def run(options: argparse.Namespace) -> None:
    """Run the command: the rule ``inspect``, unless its report is up to date; then print the report.

    Raises:
        ConfigError: no such model.
        DataError: the rule failed; Snakemake has said why.
        PspError: Snakemake is not installed.
    """
    names = named(options)
    config = read_config(options)
    for name in names:
        config.cleared(name)
    pages = [f"results/{name}/inspect.html" for name in names]
    if snakemake(options.folder, pages, [str(Path(file).absolute()) for file in options.configfile], options.cores):
        raise DataError("was not made; see the reason above", options.folder / ", ".join(pages))
    from psp.report.inspect import as_text

    for number, page in enumerate(pages):
        path: Path = options.folder / page
        if options.json:
            print(path.with_suffix(".json").read_text(encoding="utf-8"), end="")
            continue
        print("\n" * (number > 0) + as_text(read_json(path.with_suffix(".json"))), end="")
        print(f"\nSamples, lengths, languages, filters and test sets of each corpus: {path}")
