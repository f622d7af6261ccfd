"""``psp languages``: suggest the config for a new language."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from psp.cli.project import project, read_config
from psp.core.errors import DataError


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command("languages", run, "Suggest the config for a new language from the corpora in OPUS.")
    added.add_argument("action", choices=["suggest"], help="print the YAML block, or write it to --out")
    added.add_argument("language", metavar="LANGUAGE", help="ISO 639-1 code, such as sw")
    added.add_argument(
        "--with", dest="partner", default="en", metavar="LANGUAGE", help="the paired language (default: en)"
    )
    added.add_argument("--out", type=Path, metavar="FILE", help="the file to write; must not exist")
    project(added)


def run(options: argparse.Namespace) -> None:
    """Run the command."""
    config = read_config(options)
    from psp.config.suggest import suggest
    from psp.core.files import atomic_text

    out: Path | None = options.out
    if out is not None and out.exists():
        raise DataError("already exists; name another file, or remove it first", out)
    text = suggest(config, options.language, options.partner)
    if out is None:
        sys.stdout.write(text)
        return
    with atomic_text(out) as file:
        file.write(text)
    print(f"{out}: {text.splitlines()[0].removeprefix('# ')}; review it before you use it")
