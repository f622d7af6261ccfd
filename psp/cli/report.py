"""``psp report``: show results as a page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from psp.cli.common import check_results
from psp.core.errors import from_extra


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("report", run, "Write a page with a model's results, or one that compares several models.")
    added.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="a model's results, such as results/fr")
    added.add_argument("--out", required=True, type=Path, metavar="FILE", help="the page, such as report.html")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    for folder in options.folders:
        check_results(folder)
    with from_extra("workflow", "a page needs jinja2 and matplotlib"):
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    if len(options.folders) == 1:
        from psp.report.report import write

        write(options.folders[0], options.out)
    else:
        from psp.report import several

        several.write(options.folders, options.out)
    print(f"{options.out}: a page of {', '.join(map(str, options.folders))}, {options.out.stat().st_size / 1e6:.1f} MB")
