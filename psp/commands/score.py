"""``psp score``: the cosine of each pair of lines."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from psp.commands import lines
from psp.errors import DataError


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("score", run, "Print tab-separated pairs again, with the cosine of their sentences appended.")
    added.add_argument("model", type=Path, help="a model folder, such as results/fr/model")
    added.add_argument("file", nargs="?", type=Path, help="a text file (default: standard input)")


def run(options: argparse.Namespace) -> None:
    """Do it."""
    from psp.model import load_model

    name = options.file or "standard input"
    pairs: list[tuple[str, str]] = []
    text = lines(options.file)
    for number, line in enumerate(text, start=1):
        columns = line.split("\t")
        if len(columns) < 2:
            raise DataError("has one column; write two sentences with a tab between them", name, number)
        pairs.append((columns[0], columns[1]))
    for line, cosine in zip(text, load_model(options.model).score_raw_text(pairs), strict=True):
        sys.stdout.write(f"{line}\t{cosine:.4f}\n")
