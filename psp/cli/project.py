"""Helpers for the commands that need a checkout: the folder of the Snakefile and its config."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from psp.core.errors import ConfigError

if TYPE_CHECKING:
    from psp.config.config import Config


#: The file by which a project's folder is recognised.
CONFIG = "config/config.yaml"


def project(command: argparse.ArgumentParser) -> None:
    """Add ``--folder`` and ``--configfile``."""
    command.add_argument("--configfile", nargs="+", default=[], metavar="FILE", help="as for snakemake")
    command.add_argument("--folder", default=".", type=Path, help="where the Snakefile is (default: here)")


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


def read_config(options: argparse.Namespace) -> Config:
    """Load the project's config, overlaid with the command line's config files; log notes about it.

    Raises:
        ConfigError: the folder is not a project, or the config is wrong.
    """
    folder: Path = options.folder
    if not (folder / CONFIG).is_file():
        raise ConfigError(
            f"{folder.absolute()}: no {CONFIG} here; this command needs a checkout of psp: run it there, or name one "
            "with --folder"
        )
    from psp.config.config import Config
    from psp.config.config_file import look

    files = [folder / CONFIG, *options.configfile]
    for note in look(files):
        logging.getLogger("psp").warning("note: %s", note)
    return Config.load(files)
