"""``psp score``: the cosine of each pair of lines."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import Any

from psp.commands import StandardOutput, capped, ending_well, for_several, jobs


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("score", run, "Print tab-separated pairs again, with the cosine of their sentences appended.")
    added.add_argument("model", metavar="MODEL", help="a model folder, such as results/fr/model, or hf://USER/NAME")
    added.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="lines of two columns or more, the texts first (default: stdin)",
    )
    jobs(added)


def run(options: argparse.Namespace) -> None:
    """Do it."""
    from psp.model import load_model
    from psp.progress import Progress
    from psp.streaming.chunks import opened
    from psp.streaming.embedding import Score
    from psp.streaming.processes import in_order

    processes = capped(options.jobs)
    with ending_well(), opened(options.file) as source:
        work = Score(load_model(options.model, accelerate=for_several(processes, source.size)), source.name)
        with contextlib.ExitStack() as stack:
            done = stack.enter_context(in_order(source, work, jobs=processes, rows=work.rows, room=work.room))
            # A filter says nothing but its lines, unless it is watched: on a terminal that they do not go to.
            watched = sys.stderr.isatty() and not sys.stdout.isatty()
            bar = stack.enter_context(Progress(f"scoring {source.name}", "pairs")) if watched else None
            output = StandardOutput()
            for chunk, scored in done:
                output.write(scored)
                if bar is not None:
                    bar.add(chunk.rows, **source.read_so_far())
