"""``psp import-checkpoint``: convert a checkpoint of the published P-SP code."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("import-checkpoint", run, "Convert a checkpoint of the published P-SP code to a model folder.")
    added.add_argument("checkpoint", type=Path, metavar="MODEL.pt", help="the PyTorch pickle; none of its code is run")
    added.add_argument("sentencepiece", type=Path, metavar="SP.model", help="its sentencepiece model")
    added.add_argument("out", type=Path, metavar="FOLDER", help="the model folder to write; must not exist")


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from psp.models.published import import_checkpoint

    config = import_checkpoint(options.checkpoint, options.sentencepiece, options.out)
    print(
        f"{options.out}: {config['vocab_size']:,} pieces, {config['dim']} dimensions; "
        f"{len(config['left_out'])} pieces have no embedding and are left out"
    )
