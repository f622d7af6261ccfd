"""Where the workflow is: in a checkout at its top, in a wheel within the package (setup.py puts it there)."""

from __future__ import annotations

from pathlib import Path

from psp.core.errors import PspError

PACKAGE = Path(__file__).parents[1]
CONFIG = "config/config.yaml"


def is_home(folder: Path) -> bool:
    """Whether a folder holds the workflow: the Snakefile, and the config beside it."""
    return (folder / "Snakefile").is_file() and (folder / CONFIG).is_file()


def home() -> Path:
    """The folder that holds the workflow of this installation.

    Raises:
        PspError: there is none.
    """
    for folder in (PACKAGE / "workflow", PACKAGE.parent):
        if is_home(folder):
            return folder
    raise PspError(f"{PACKAGE}: has no workflow beside it; install psp again: pip install 'paraphrastic[workflow]'")
