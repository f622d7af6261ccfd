"""``psp embed``: a vector for each line."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from psp.commands import lines


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("embed", run, "Embed sentences, one a line, into a NumPy file.")
    added.add_argument("model", type=Path, help="a model folder, such as results/fr/model")
    added.add_argument("file", nargs="?", type=Path, help="a text file (default: standard input)")
    added.add_argument("--out", required=True, type=Path, help="the .npy file to write: float32, a row a sentence")


def run(options: argparse.Namespace) -> None:
    """Do it."""
    import numpy as np

    from psp.files import atomic
    from psp.model import load_model

    vectors = load_model(options.model).embed_raw_text(lines(options.file))
    with atomic(options.out) as temporary, temporary.open("wb") as file:
        np.save(file, vectors)
    print(f"{len(vectors)} vectors of {vectors.shape[1]} numbers are in {options.out}")
