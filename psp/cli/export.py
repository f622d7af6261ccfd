"""``psp export``: convert a model to a format that other libraries load."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from psp.cli.common import lines, model_argument
from psp.models.exports import FORMS


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("export", run, "Convert a model to a format that another library loads.")
    added.formatter_class = argparse.RawDescriptionHelpFormatter
    added.epilog = "formats:\n" + "\n".join(f"  {form}: {loads}" for form, loads in FORMS.items())
    added.add_argument("form", choices=list(FORMS), metavar="FORM", help="one of the formats below")
    model_argument(added)
    added.add_argument("out", type=Path, metavar="OUT", help="the folder (word2vec: file) to write; must not exist")
    added.add_argument(
        "--check",
        type=Path,
        metavar="FILE",
        help="sentences, one per line, to verify its tokenizer on (default: 2,000 texts of its own pieces)",
    )


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    from psp.models.exports import export, own_texts
    from psp.models.model import load_model

    model = load_model(options.model)
    sentences = lines(options.check) if options.check else own_texts(model)
    summary = export(options.form, model, options.out, sentences)
    print(f"{options.out}: {summary}")
