"""``psp plan``: estimate what making a model will take."""

from __future__ import annotations

import argparse
import logging
from typing import Any

from psp.cli.project import models, named, read_config


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("plan", run, "Estimate the downloads, disk, memory and time that a model will take.")
    models(added)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    names = named(options)
    config = read_config(options)
    from psp.config.plan import plan

    for name in names:
        for notice in config.notices(config.model(name)):
            logging.getLogger("psp").warning("%s", notice)
        print(plan(config, name, options.folder / "results/downloads"))
