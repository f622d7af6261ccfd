"""``psp show``: a model's figures as tables."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from psp.errors import DataError


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("show", run, "Print a model's evaluation as a table, and those of its variants and smaller tables.")
    added.add_argument("results", type=Path, help="its folder, such as results/fr")
    added.add_argument("--format", choices=("text", "markdown"), default="text", help="default: %(default)s")


def run(options: argparse.Namespace) -> None:
    """Do it."""
    from psp import datawarnings
    from psp.evaluation import quantizedreport, report, variantreport
    from psp.files import read_json

    folder: Path = options.results
    files = {
        name: path
        for name in ("eval", "compare", "variants", "quantized")
        if (path := folder / f"{name}.json").exists()
    }
    found = {name: read_json(path) for name, path in files.items()}
    if not found.keys() & {"eval", "variants", "quantized"}:
        raise DataError("no eval.json, variants.json or quantized.json is there; make one with snakemake first", folder)
    tables = []
    if "eval" in found:
        if said := datawarnings.page(folder, found["eval"], options.format):
            tables.append(said)
        tables.append(report.table(found["eval"], found.get("compare"), options.format))
    if "variants" in found:
        tables.append(variantreport.table(found["variants"], options.format))
    if "quantized" in found:
        tables.append(quantizedreport.table(found["quantized"], options.format))
    print("\n".join(tables))
