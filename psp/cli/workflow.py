"""``psp workflow``: where the Snakefile is."""

from __future__ import annotations

import argparse
from typing import Any

from psp.core.workflow import home


def add(command: Any) -> None:
    """Add the command's parser."""
    command("workflow", run, 'Print the path of the Snakefile: snakemake -s "$(psp workflow)" works in any folder.')


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    print(home() / "Snakefile")
