"""``psp score``: the cosine of each sentence pair."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import Any

from psp.cli.common import StandardOutput, capped, ending_well, for_several, jobs, model_argument


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("score", run, "Append the cosine of its two sentences to each line of tab-separated pairs.")
    model_argument(added)
    added.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="tab-separated lines, plain or compressed; the first two columns are the sentences (default: stdin)",
    )
    jobs(added)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from psp.core.progress import Progress
    from psp.inference.streaming.chunks import opened
    from psp.inference.streaming.embedding import PairScore
    from psp.inference.streaming.processes import in_order
    from psp.inference.streaming.unknown import UnknownShare
    from psp.models.model import load_model

    processes = capped(options.jobs)
    with ending_well(), opened(options.file) as source:
        model = load_model(options.model, accelerate=for_several(processes, source.size))
        work, unknown = PairScore(model, source.name), UnknownShare(model, source.name, columns=2)
        with contextlib.ExitStack() as stack:
            done = stack.enter_context(in_order(source, work, jobs=processes, rows=work.rows, room=work.room))
            # In a pipeline print only the lines; show a bar only if stderr alone is a terminal.
            watched = sys.stderr.isatty() and not sys.stdout.isatty()
            bar = stack.enter_context(Progress(f"scoring {source.name}", "pairs")) if watched else None
            output = StandardOutput()
            for chunk, scored in done:
                output.write(scored)
                unknown.add(chunk)
                if bar is not None:
                    bar.add(chunk.rows, **source.read_so_far())
        unknown.say()
