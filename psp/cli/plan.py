"""``psp plan``: estimate what making a model will take."""

from __future__ import annotations

import argparse
import logging
from typing import Any

from psp.cli.project import project, read_config


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("plan", run, "Estimate the downloads, disk, memory and time that a model will take.")
    added.add_argument("models", nargs="+", metavar="MODEL", help="a model of the config, such as fr")
    project(added)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    config = read_config(options)
    from psp.config.plan import plan

    for name in options.models:
        for notice in config.notices(config.model(name)):
            logging.getLogger("psp").warning("%s", notice)
        print(plan(config, name, options.folder / "results/downloads"))
