"""``psp inspect``: look at a model's corpora before training."""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from psp.cli.project import project, read_config
from psp.core.errors import DataError, PspError
from psp.core.files import read_json


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command(
        "inspect", run, "Fetch the corpora of a model and say what looks wrong in them, before anything is trained."
    )
    added.add_argument("model", metavar="MODEL", help="a model of the config, such as fr")
    added.add_argument("--cores", type=int, default=os.cpu_count() or 1, metavar="N", help="default: all cores")
    added.add_argument("--json", action="store_true", help="print inspect.json instead of its summary")
    project(added)


def run(options: argparse.Namespace) -> None:
    """Run the command: the rule ``inspect``, unless its report is up to date; then print the report.

    Raises:
        ConfigError: no such model.
        DataError: the rule failed; Snakemake has said why.
        PspError: Snakemake is not installed.
    """
    config = read_config(options)
    config.cleared(options.model)
    page = f"results/{options.model}/inspect.html"
    _make(options.folder, page, options.configfile, options.cores)
    path: Path = options.folder / page
    if options.json:
        print(path.with_suffix(".json").read_text(encoding="utf-8"), end="")
        return
    from psp.report.inspect import as_text

    print(as_text(read_json(path.with_suffix(".json"))), end="")
    print(f"\nSamples, lengths, languages, filters and test sets of each corpus: {path}")


def _make(folder: Path, target: str, configs: list[str], cores: int) -> None:
    if importlib.util.find_spec("snakemake") is None:
        raise PspError("this command runs Snakemake: pip install 'paraphrastic[workflow]'")
    files = ["--configfile", *(str(Path(file).absolute()) for file in configs)] if configs else []
    command = [sys.executable, "-m", "snakemake", "--cores", str(cores), *files, "--", target]
    # Its messages go where they do not mix with the report.
    if subprocess.run(command, cwd=folder, stdout=sys.stderr, check=False).returncode:
        raise DataError("was not made; the reason stands above", folder / target)
