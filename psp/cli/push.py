"""``psp push``: put a model, or a release of one, on the Hugging Face Hub."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from psp.core.errors import DataError
from psp.models.files import CONFIG


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("push", run, "Put a release or a model on the Hugging Face Hub.")
    added.add_argument(
        "folder", type=Path, metavar="FOLDER", help="results/<model>/release, or any folder with a model"
    )
    added.add_argument("repo", metavar="USER/NAME", help="the repository to push to; created if missing")
    added.add_argument("--private", action="store_true", help="make a new repository private")
    added.add_argument("--revision", metavar="BRANCH", help="the branch, created if missing (default: main)")
    added.add_argument("--message", metavar="TEXT", help="the commit's message")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from psp.models.hub import push

    if not (options.folder / CONFIG).is_file():
        raise DataError(
            f"no folder of a model, or of a release, which has a {CONFIG}; make one with `snakemake ... "
            "results/<model>/release`makes one",
            options.folder,
        )
    address = push(
        options.folder,
        options.repo,
        private=options.private or None,
        revision=options.revision,
        commit_message=options.message,
    )
    print(address)
