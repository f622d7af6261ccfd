"""``psp show``: a model's scores as tables."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from psp.core.errors import DataError


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command(
        "show", run, "Print the scores of a model, on its tasks, of its variants and of its quantized versions."
    )
    added.add_argument("results", type=Path, help="the model's results, such as results/fr")
    added.add_argument("--format", choices=("text", "markdown"), default="text", help="default: %(default)s")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from psp.core.files import read_json
    from psp.pairs import data_warnings
    from psp.report import eval_table, quantize_table, task_table, variants_table

    folder: Path = options.results
    files = {
        name: path
        for name in ("eval", "compare", "variants", "quantized")
        if (path := folder / f"{name}.json").exists()
    }
    found = {name: read_json(path) for name, path in files.items()}
    tasks = [read_json(path) for path in sorted((folder / "tasks").glob("*.json"))]
    if not tasks and not found.keys() & {"eval", "variants", "quantized"}:
        raise DataError(
            "has no eval.json, variants.json, quantized.json or tasks/; make one with snakemake first", folder
        )
    tables = []
    if "eval" in found:
        if said := data_warnings.page(folder, found["eval"], options.format):
            tables.append(said)
        tables.append(eval_table.table(found["eval"], found.get("compare"), options.format))
    if tasks:
        tables.append(task_table.table(tasks, options.format))
    if "variants" in found:
        tables.append(variants_table.table(found["variants"], options.format))
    if "quantized" in found:
        tables.append(quantize_table.table(found["quantized"], options.format))
    print("\n".join(tables))
