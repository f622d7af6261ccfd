"""``psp embed``: a vector for each line."""

from __future__ import annotations

import argparse
import logging
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from psp.commands import StandardOutput, capped, ending_well, for_several, jobs


def add(command: Any) -> None:
    """Add the command's parser."""
    from psp.streaming.vectorfile import DTYPES, FORMATS

    added = command("embed", run, "Write a vector for each line of text, in the lines' order.")
    added.set_defaults(level=logging.INFO)  # it may take hours: where no terminal shows a bar, lines tell
    added.add_argument("model", metavar="MODEL", help="a model folder, such as results/fr/model, or hf://USER/NAME")
    added.add_argument("file", nargs="?", type=Path, metavar="FILE", help="sentences, one a line (default: stdin)")
    added.add_argument(
        "--out", required=True, metavar="FILE", help="x.npy, x.parquet, or raw numbers: x.f32, x.f16, - for stdout"
    )
    added.add_argument("--format", choices=FORMATS, help="where the name does not tell")
    added.add_argument("--dtype", choices=DTYPES, help="of the numbers written (default: float32)")
    added.add_argument("--normalize", action="store_true", help="make each vector's length 1")
    added.add_argument("--dim", type=int, metavar="N", help="the first N dimensions (default: all)")
    added.add_argument("--table", choices=["float32", "float16", "int8"], help="use the table so (default: as saved)")
    jobs(added)


def run(options: argparse.Namespace) -> None:
    """Do it."""
    from psp.errors import ConfigError
    from psp.model import load_model
    from psp.progress import Progress
    from psp.streaming.chunks import opened
    from psp.streaming.embedding import Embed
    from psp.streaming.processes import in_order
    from psp.streaming.vectorfile import STDOUT, settings, vector_file

    form, dtype = settings(options.out, options.format, options.dtype)
    stdout = options.out == STDOUT
    if stdout and sys.stdout.isatty():
        raise ConfigError("--out -: numbers are nothing for a terminal; write > FILE after it, or name a file")
    processes = capped(options.jobs)
    with ending_well(), opened(options.file) as source:
        model = load_model(options.model, accelerate=for_several(processes, source.size))
        try:
            model = model.quantized(options.table, options.dim)
        except ValueError as error:
            raise ConfigError(f"--table and --dim: {error}") from None
        work = Embed(model, source.name, dtype, normalize=options.normalize)
        rows = 0
        with (
            in_order(source, work, jobs=processes, rows=work.rows, room=work.room) as done,
            Progress(f"embedding {source.name}", "sentences") as bar,  # a thread draws it: after the processes' start
            nullcontext(StandardOutput()) if stdout else vector_file(options.out, form, model.dim, dtype) as writer,
        ):
            for chunk, vectors in done:
                writer.write(vectors, chunk.text)
                rows += chunk.rows
                bar.add(chunk.rows, **source.read_so_far())
    if not stdout:
        print(f"{rows:,} vectors of {model.dim} numbers, {dtype}, are in {options.out}")
