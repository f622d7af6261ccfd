"""``psp inspect``: look at a model's corpora before training."""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from psp.cli.project import models, named, read_config
from psp.core.errors import DataError, PspError
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
    _make(options.folder, pages, options.configfile, options.cores)
    from psp.report.inspect import as_text

    for number, page in enumerate(pages):
        path: Path = options.folder / page
        if options.json:
            print(path.with_suffix(".json").read_text(encoding="utf-8"), end="")
            continue
        print("\n" * (number > 0) + as_text(read_json(path.with_suffix(".json"))), end="")
        print(f"\nSamples, lengths, languages, filters and test sets of each corpus: {path}")


def _make(folder: Path, targets: list[str], configs: list[str], cores: int) -> None:
    if importlib.util.find_spec("snakemake") is None:
        raise PspError("this command runs Snakemake: pip install 'paraphrastic[workflow]'")
    files = ["--configfile", *(str(Path(file).absolute()) for file in configs)] if configs else []
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), *files, "--", *targets]
    # Its messages go to stderr, apart from the report.
    if subprocess.run(command, cwd=folder, stdout=sys.stderr, check=False).returncode:
        raise DataError("was not made; see the reason above", folder / ", ".join(targets))
