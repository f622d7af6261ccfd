"""``psp watch``: follow a run of the workflow from another terminal, also on a cluster."""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from pathlib import Path
from typing import Any

from psp.core import status
from psp.core.errors import DataError, PspError
from psp.core.screen import ScreenRow, lines, table

IDLE = "nothing is running"


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("watch", run, "Follow a run of the workflow: rate, time left and metrics of each running job.")
    added.add_argument("model", nargs="?", metavar="MODEL", help="only this model's jobs (default: all models)")
    added.add_argument("--folder", default=".", type=Path, help="where results/ is (default: here)")
    added.add_argument("--once", action="store_true", help="report once and exit")
    added.add_argument(
        "--every",
        type=float,
        default=60,
        metavar="SECONDS",
        help="time between reports without a terminal (default: 60)",
    )


def run(options: argparse.Namespace) -> None:
    """Run the command until Ctrl-C."""
    results: Path = options.folder / "results"
    folder = results / options.model if options.model else results
    if not folder.is_dir():
        raise DataError("no such folder; run this where the Snakefile is, once the run has begun", folder)
    with contextlib.suppress(KeyboardInterrupt):
        if options.once:
            print("\n".join(lines(running(results, folder))) or IDLE)
        elif sys.stdout.isatty():
            _live(results, folder)
        else:
            while True:
                for line in lines(running(results, folder)) or [IDLE]:
                    print(f"{time.strftime('%H:%M:%S')} {line}", flush=True)
                time.sleep(options.every)


def running(results: Path, folder: Path) -> list[ScreenRow]:
    """List the jobs with a status file in a folder under results/, oldest first."""
    rows = []
    for path in folder.rglob(f"logs/**/*{status.SUFFIX}"):
        if (there := status.read(path)) is not None:
            model, *_, name = path.relative_to(results).as_posix().partition("/logs/")
            job = name.removesuffix(status.SUFFIX).removesuffix(".log")
            rows.append(ScreenRow(f"{model}: {job}", there, there.started))
    return sorted(rows, key=lambda row: row.since)


def _live(results: Path, folder: Path) -> None:
    try:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text
    except ImportError:
        raise PspError(
            "psp watch on a terminal needs rich: pip install 'paraphrastic[workflow]', or add --once"
        ) from None
    console = Console(highlight=False)

    def draw() -> Any:
        rows = running(results, folder)
        columns, height = console.size
        return table(rows, columns, height - 1) if rows else Text(IDLE)

    with Live(get_renderable=draw, console=console, refresh_per_second=1, transient=True):
        while True:
            time.sleep(3600)
