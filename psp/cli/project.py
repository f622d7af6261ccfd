"""Helpers for the commands of the workflow: its folder, and the config of a run."""

from __future__ import annotations

import argparse
import importlib.util
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from psp.core.errors import PspError
from psp.core.workflow import CONFIG, home, is_home

if TYPE_CHECKING:
    from psp.config.config import Config


def project(command: argparse.ArgumentParser) -> None:
    """Add ``--folder`` and ``--configfile``."""
    command.add_argument("--configfile", nargs="+", default=[], metavar="FILE", help="as for snakemake")
    command.add_argument("--folder", default=".", type=Path, help="the folder with results/ (default: here)")


def models(command: argparse.ArgumentParser) -> None:
    """Add ``MODEL...``, and what :func:`project` adds."""
    command.add_argument("models", nargs="*", metavar="MODEL", help="models of the config, such as fr")
    project(command)
    command.set_defaults(usage_error=command.error)


def named(options: argparse.Namespace) -> list[str]:
    """The models of the command line, which argparse takes for config files if they follow some."""
    while options.configfile and not options.configfile[-1].endswith((".yaml", ".yml", ".json")):
        if Path(options.configfile[-1]).is_file():
            break
        options.models.insert(0, options.configfile.pop())
    if not options.models:
        options.usage_error("the following arguments are required: MODEL")
    return list(options.models)


def workflow_of(folder: Path) -> Path:
    """The folder with the Snakefile of a run: its own, if it is a checkout, or else that of this installation."""
    return folder if is_home(folder) else home()


def read_config(options: argparse.Namespace) -> Config:
    """Load the workflow's config, overlaid with the command line's config files; log notes about it.

    Raises:
        ConfigError: the config is wrong.
    """
    from psp.config.config import Config
    from psp.config.config_file import look

    files = [workflow_of(options.folder) / CONFIG, *options.configfile]
    for note in look(files):
        logging.getLogger("psp").warning("note: %s", note)
    return Config.load(files)


def snakemake(folder: Path, targets: Sequence[str], configs: Sequence[str], cores: int) -> int:
    """Run Snakemake in a folder, and return its status; what it says goes to standard error.

    Ctrl-C and SIGTERM reach it and its jobs once, and it then ends by itself, without a lock left behind.

    Raises:
        PspError: it is not installed.
        SystemExit: it was stopped so.
    """
    if importlib.util.find_spec("snakemake") is None:
        raise PspError("this command runs Snakemake: pip install 'paraphrastic[workflow]'")
    snakefile = str((workflow_of(folder) / "Snakefile").absolute())
    files = ["--configfile", *configs] if configs else []
    # What a stopped run left goes on, or is made again.
    options = ["-s", snakefile, "--cores", str(cores), "--rerun-incomplete", *files]
    command = [sys.executable, "-m", "snakemake", *options, "--", *targets]
    # A group of its own: a terminal's Ctrl-C comes here alone, and is passed on.
    process = subprocess.Popen(command, cwd=folder, stdout=sys.stderr, process_group=0)
    stopped: list[int] = []

    def pass_on(number: int, frame: object) -> None:
        stopped.append(number)
        os.killpg(process.pid, number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        status = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if stopped:
        raise SystemExit(128 + stopped[0])
    return status
