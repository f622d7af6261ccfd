"""``psp pin``: record or verify the size and SHA-256 of downloads."""

from __future__ import annotations

import argparse
import logging
from typing import Any

from psp.cli.project import project, read_config


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("pin", run, "Record the size and SHA-256 of the files that models have downloaded.")
    added.add_argument("models", nargs="+", metavar="MODEL", help="a model of the config, such as fr")
    project(added)
    added.add_argument("--check", action="store_true", help="only verify the files against their pins")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    config, downloads = read_config(options), options.folder / "results/downloads"
    from psp.config import pins

    if options.check:
        names = {name for model in options.models for name in config.downloads(config.model(model))}
        wrong = pins.problems(config, sorted(names), downloads)
        for name, problem in wrong.items():
            logging.getLogger("psp").error("%s: %s", downloads / name, problem)
        print(f"{len(names) - len(wrong)} of {len(names)} files match their pins")
        if wrong:
            raise SystemExit(1)
        return
    out = config.raw.get("pins") or "config/pins.yaml"
    pinned = pins.pin(config, options.models, downloads, options.folder / out)
    print(f"{out}: {len(pinned)} files pinned")
