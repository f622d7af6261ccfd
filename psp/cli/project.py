"""Helpers for the commands of the workflow: its folder, and the config of a run."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING

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
