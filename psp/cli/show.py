"""``psp show``: the scores of models as tables."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from psp.cli.common import check_results
from psp.core.errors import DataError

_NOTHING_QUOTED = "Nothing is quoted: no figure of these is over a whole published set that others were scored on.\n"


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command(
        "show",
        run,
        "Print the scores of a model, its tasks, variants and quantized versions; or of a translator.",
    )
    added.add_argument(
        "results",
        type=Path,
        nargs="+",
        help="results of a model, such as results/fr, or of several, which end with a table of all",
    )
    added.add_argument("--all", action="store_true", help="every score, of each year too, and why sets were skipped")
    added.add_argument(
        "--quoted",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="show published figures of others, too, from psp's list or from FILEs",
    )
    added.add_argument(
        "--format",
        choices=("text", "markdown", "csv", "json"),
        default="text",
        help="tables for people; or csv or json: a row for each score of the models, their systems and their variants "
        "(default: %(default)s)",
    )


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    if options.format in ("csv", "json"):
        _print_records(options)
        return
    several = len(options.results) > 1
    for place, folder in enumerate(options.results):
        if several:
            heading = f"## {folder}" if options.format == "markdown" else f"{folder}\n{'=' * len(str(folder))}"
            print("\n" * (place > 0) + heading + "\n")
        _print_tables(folder, options)
    if several:
        _print_models(options)


def _print_models(options: argparse.Namespace) -> None:
    """Print one table of all models."""
    from psp.core.files import read_json
    from psp.report import comparison

    paths = {str(folder): folder / "eval.json" for folder in options.results}
    if bodies := {name: read_json(path) for name, path in paths.items() if path.exists()}:
        print(f"\n{comparison.models(bodies).write(options.format)}", end="")


def _print_records(options: argparse.Namespace) -> None:
    import dataclasses
    import json

    from psp.models.summary import frame, records

    every = [record for folder in options.results for record in records(check_results(folder))]
    if options.format == "csv":
        print(frame(every).to_csv(index=False), end="")
    else:
        print(json.dumps([dataclasses.asdict(record) for record in every], ensure_ascii=False, indent=1))


def _print_tables(results: Path, options: argparse.Namespace) -> None:
    from psp.core.files import read_json
    from psp.models.scores import is_of_every_model
    from psp.pairs import data_warnings
    from psp.report import comparison, eval_table, reported, task_table, translator_table

    folder = check_results(results)
    files = {
        name: path
        for name in ("eval", "compare", "variants", "quantized", "translator")
        if (path := folder / f"{name}.json").exists()
    }
    reports = {name: read_json(path) for name, path in files.items()}
    paths = [*(folder / "tasks").glob("*.json"), *folder.glob("systems/*/tasks/*.json")]
    # One task after another, the model before the other systems.
    tasks = [read_json(path) for path in sorted(paths, key=lambda path: (path.name, len(path.parts), path))]
    if "eval" in reports:  # which has the tasks of every model
        tasks = [task for task in tasks if not is_of_every_model(task)]
    cited = [] if options.quoted is None else [one for file in options.quoted or [None] for one in reported.load(file)]
    if cited and "eval" not in reports:
        raise DataError("has no eval.json, beside which figures are quoted; make it with snakemake first", folder)
    if not tasks and not reports.keys() - {"compare"}:
        raise DataError(
            "has no eval.json, variants.json, quantized.json, translator.json or tasks/; make one with snakemake first",
            folder,
        )
    tables = []
    if "eval" in reports:
        if warnings := data_warnings.page(folder, reports["eval"], options.format):
            tables.append(warnings)
        main = None if options.all else True
        tables.append(eval_table.table(reports["eval"], reports.get("compare"), main).write(options.format))
        if "parts" in reports["eval"]:
            tables.append(comparison.parts(reports["eval"]).write(options.format))
    if cited:
        others = comparison.quoted(reports["eval"], cited)
        tables.append(others.write(options.format) if others else _NOTHING_QUOTED)
    if tasks:
        tables.append(task_table.table(tasks, reports.get("compare")).write(options.format))
    if "variants" in reports:
        tables += [table.write(options.format) for table in comparison.variants(reports["variants"])]
    if "quantized" in reports:
        tables.append(comparison.quantized(reports["quantized"]).write(options.format))
    if "translator" in reports:
        tables.append(translator_table.table(reports["translator"], options.format))
    print("\n".join(tables))
