"""What every script of the workflow does first, with Snakemake's object of its job.

Where Snakemake keeps files in an object store, it copies a job's input files to a folder of its own and gives a script
their places there. Params name files as the config does, so that a copy elsewhere is no reason to run a rule again; the
names are replaced here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.core import logs


class LocalJob:
    """Snakemake's object of a job, with local paths in its params; all else is as it was."""

    def __init__(self, snakemake: Any) -> None:
        self._snakemake, self.params = snakemake, snakemake.params  # each time a copy
        for name, value in self.params.items():
            setattr(self.params, name, local(value, snakemake.input))
        self.params[:] = [local(value, snakemake.input) for value in self.params]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._snakemake, name)


@contextlib.contextmanager
def job(snakemake: Any) -> Iterator[LocalJob]:
    """Run a script's body as :func:`psp.core.logs.job` does, with local paths in its params."""
    with logs.job(snakemake.log[0]):
        yield LocalJob(snakemake)


def local(value: Any, files: Sequence[str]) -> Any:
    """Replace the names of files and folders that are elsewhere.

    Args:
        value: text, or mappings and sequences with texts in them.
        files: where a job's input files are.

    Returns:
        The value, in which each text that names no file here, but the end of a file's path or of that of a folder of
        such files, is the whole path.
    """
    if isinstance(value, str):
        return _local_path(value, files)
    if isinstance(value, Mapping):
        return {key: local(item, files) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(local(item, files) for item in value)
    return value


def _local_path(name: str, files: Sequence[str]) -> str:
    for file in files if "/" in name else ():
        folder, found, _ = f"{file}/".rpartition(f"/{name.rstrip('/')}/")
        if found and not Path(name).exists():
            return f"{folder}/{name}"
    return name
