"""User-facing errors.

Every error caused by bad input is a :class:`PspError`: one line that names the file (and the line in it) and says what
is wrong and what to do. The command line and the workflow's scripts print only that line. Any other exception is a bug
and keeps its traceback.
"""

from __future__ import annotations

from pathlib import Path


class PspError(Exception):
    """A problem outside the code: one clear line for the person who can fix it.

    ``status`` is the exit status of a program that ends with it.
    """

    status = 1


class ConfigError(PspError):
    """A wrong config; the message names the key, its value, what is allowed, and the line to write."""


class DataError(PspError):
    """Bad data; the message names the file and, if there is one, the line (counted from 1)."""

    def __init__(self, message: str, path: Path | str | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(place + message)


class DownloadError(PspError):
    """No mirror served a file, or it is not the pinned file."""
