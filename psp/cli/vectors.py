"""Commands that make vectors: ``psp embed`` and ``psp score``."""

from __future__ import annotations

import argparse
import contextlib
import logging
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from psp.cli import (
    StandardOutput,
    capped,
    ending_well,
    for_several,
    jobs,
    model_argument,
    shape_arguments,
    shaped,
    text_argument,
)
from psp.core.errors import ConfigError

if TYPE_CHECKING:
    from psp.inference.streaming import ChunkSource, Done, Embed, PairScore


def _in_order(source: ChunkSource, work: Embed | PairScore, jobs: int) -> AbstractContextManager[Iterator[Done]]:
    """The chunks of a source with their vectors or scores; code for several processes is imported where there are."""
    if jobs == 1:
        from psp.inference.streaming import alone

        return contextlib.nullcontext(alone(source, work, work.rows, work.room))
    from psp.inference.processes import in_order

    return in_order(source, work, jobs=jobs, rows=work.rows, room=work.room)


def add_embed(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp embed``."""
    added.set_defaults(level=logging.INFO)  # it may take hours: log progress where there is no terminal for a bar
    model_argument(added)
    text_argument(added, "sentences, one per line; plain, or .gz, .bz2, .xz, .zst")
    added.add_argument(
        "--out", required=True, metavar="FILE", help="x.npy, x.parquet, or raw numbers: x.f32, x.f16, - for stdout"
    )
    added.add_argument("--format", choices=("npy", "parquet", "raw"), help="format of --out (default: by its suffix)")
    added.add_argument("--dtype", choices=("float32", "float16"), help="type of the numbers written (default: float32)")
    added.add_argument("--normalize", action="store_true", help="scale each vector to unit length")
    shape_arguments(added)
    jobs(added)


def run_embed(options: argparse.Namespace) -> None:
    """Run ``psp embed``."""
    from psp.core.logs import Progress
    from psp.inference.streaming import Embed, UnknownShare, opened
    from psp.inference.vectorfile import STDOUT, settings, vector_file
    from psp.models.folder import load_model

    form, dtype = settings(options.out, options.format, options.dtype)
    stdout = options.out == STDOUT
    if stdout and sys.stdout.isatty():
        raise ConfigError("--out -: will not write binary numbers to a terminal; add > FILE, or name a file")
    processes = capped(options.jobs)
    with ending_well(), opened(options.file) as source:
        model = shaped(load_model(options.model, accelerate=for_several(processes, source.size)), options)
        work = Embed(model, source.name, dtype, normalize=options.normalize)
        rows, unknown = 0, UnknownShare(model, source.name)
        with (
            _in_order(source, work, processes) as done,
            Progress(f"embedding {source.name}", "sentences") as bar,  # uses a thread: start it after the processes
            contextlib.nullcontext(StandardOutput())
            if stdout
            else vector_file(options.out, form, model.dim, dtype) as writer,
        ):
            for chunk, vectors in done:
                writer.write(vectors, chunk.text)
                rows += chunk.rows
                unknown.add(chunk)
                bar.add(chunk.rows, **source.read_so_far())
        unknown.say()
    if not stdout:
        print(f"{options.out}: {rows:,} vectors of {model.dim} dimensions, {dtype}")


def add_score(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp score``."""
    model_argument(added)
    text_argument(added, "tab-separated lines, plain or compressed; the first two columns are the sentences")
    jobs(added)


def run_score(options: argparse.Namespace) -> None:
    """Run ``psp score``."""
    from psp.core.logs import Progress
    from psp.inference.streaming import PairScore, UnknownShare, opened
    from psp.models.folder import load_model

    processes = capped(options.jobs)
    with ending_well(), opened(options.file) as source:
        model = load_model(options.model, accelerate=for_several(processes, source.size))
        work, unknown = PairScore(model, source.name), UnknownShare(model, source.name, columns=2)
        with contextlib.ExitStack() as stack:
            done = stack.enter_context(_in_order(source, work, processes))
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
