"""The errors that a person is meant to read.

Every error that bad input can cause is a :class:`PspError`: one line that names the file (and the line in
it), says what is wrong and what to do. The command line and the workflow's scripts print that line alone;
anything else that is raised is a bug of ours and keeps its traceback.
"""

from __future__ import annotations

from pathlib import Path


class PspError(Exception):
    """A mistake outside the code: one clear line for the person who can mend it.

    ``status`` is what a program that it ends exits with.
    """

    status = 1


class ConfigError(PspError):
    """A wrong config: names the key, its value, what is allowed, and the line to write."""


class DataError(PspError):
    """Bad data: names the file and, where there is one, the line (counted from 1)."""

    def __init__(self, message: str, path: Path | str | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(place + message)


class DownloadError(PspError):
    """A file could not be had from any of its mirrors, or is not the pinned file."""
