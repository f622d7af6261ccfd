"""``psp embed``: one vector per line."""

from __future__ import annotations

import argparse
import logging
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from psp.cli.common import StandardOutput, capped, ending_well, for_several, jobs, model_argument, shape_options
from psp.inference.streaming import DTYPES, FORMATS


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("embed", run, "Embed each line of a text, in the order of the lines.")
    added.set_defaults(level=logging.INFO)  # it may take hours: log progress where there is no terminal for a bar
    model_argument(added)
    added.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="sentences, one per line; plain, or .gz, .bz2, .xz, .zst (default: stdin)",
    )
    added.add_argument(
        "--out", required=True, metavar="FILE", help="x.npy, x.parquet, or raw numbers: x.f32, x.f16, - for stdout"
    )
    added.add_argument("--format", choices=FORMATS, help="format of --out (default: by its suffix)")
    added.add_argument("--dtype", choices=DTYPES, help="type of the numbers written (default: float32)")
    added.add_argument("--normalize", action="store_true", help="scale each vector to unit length")
    added.add_argument("--dim", type=int, metavar="N", help="use the first N dimensions (default: all)")
    added.add_argument(
        "--table", choices=["float32", "float16", "int8"], help="type of the embedding matrix (default: as saved)"
    )
    jobs(added)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from psp.core.errors import ConfigError
    from psp.core.progress import Progress
    from psp.inference.streaming.chunks import opened
    from psp.inference.streaming.embedding import Embed
    from psp.inference.streaming.processes import in_order
    from psp.inference.streaming.unknown import UnknownShare
    from psp.inference.streaming.vectorfile import STDOUT, settings, vector_file
    from psp.models.model import load_model

    form, dtype = settings(options.out, options.format, options.dtype)
    stdout = options.out == STDOUT
    if stdout and sys.stdout.isatty():
        raise ConfigError("--out -: will not write binary numbers to a terminal; add > FILE, or name a file")
    processes = capped(options.jobs)
    with ending_well(), opened(options.file) as source:
        model = load_model(options.model, accelerate=for_several(processes, source.size))
        try:
            model = model.quantized(options.table, options.dim)
        except ValueError as error:
            raise ConfigError(f"{shape_options(options)}: {error}") from None
        work = Embed(model, source.name, dtype, normalize=options.normalize)
        rows, unknown = 0, UnknownShare(model, source.name)
        with (
            in_order(source, work, jobs=processes, rows=work.rows, room=work.room) as done,
            Progress(f"embedding {source.name}", "sentences") as bar,  # uses a thread: start it after the processes
            nullcontext(StandardOutput()) if stdout else vector_file(options.out, form, model.dim, dtype) as writer,
        ):
            for chunk, vectors in done:
                writer.write(vectors, chunk.text)
                rows += chunk.rows
                unknown.add(chunk)
                bar.add(chunk.rows, **source.read_so_far())
        unknown.say()
    if not stdout:
        print(f"{options.out}: {rows:,} vectors of {model.dim} dimensions, {dtype}")
