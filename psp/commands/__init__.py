"""Commands of ``psp`` that use a model, each in a file of its own.

A command's file has ``add(command)``, where ``command(name, run, what)`` makes its parser. These files are imported at
every start of ``psp``: what is slow to import is imported by ``run``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from psp.errors import DataError
from psp.text import read_lines


def lines(path: Path | None) -> list[str]:
    """The lines of a file, or of standard input.

    Raises:
        DataError: the file cannot be read, or is not UTF-8.
    """
    if path is None:
        return list(read_lines(sys.stdin.buffer, "standard input"))
    try:
        with path.open("rb") as file:
            return list(read_lines(file, path))
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
