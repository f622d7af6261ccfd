"""Make files by the workflow, as the studies begin that train models of a config's pairs."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def parser(text: str | None, models: str = "models of the config, of a pair") -> argparse.ArgumentParser:
    """The options that they share."""
    options = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--models", nargs="+", required=True, metavar="MODEL", help=models)
    options.add_argument("--configfile", nargs="+", default=[], metavar="FILE", help="as for snakemake")
    options.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="default: all")
    options.add_argument("--folder", type=Path, default=Path(), help="where config/ and results/ are (default: here)")
    return options


def command(targets: Sequence[str], configs: Sequence[str], cores: int, further: Sequence[str] = ()) -> list[str]:
    """The command line that makes them, with further options."""
    config = ["--configfile", *configs] if configs else []
    return ["snakemake", "--cores", str(cores), *config, *further, "--", *targets]


def run(words: Sequence[str], folder: Path) -> None:
    """Show a command line and run it; a failure ends this process."""
    print(shlex.join(words), flush=True)
    if status := subprocess.run([sys.executable, "-m", *words], cwd=folder, check=False).returncode:
        raise SystemExit(status)


def make(options: argparse.Namespace, targets: Sequence[str]) -> None:
    """Make those that are missing, and keep what is made on the way."""
    if not all((options.folder / target).exists() for target in targets):
        snakefile = Path(__file__).parents[1] / "Snakefile"
        further = ["--snakefile", str(snakefile), "--notemp"]
        run(command(targets, options.configfile, options.cores, further), options.folder)
