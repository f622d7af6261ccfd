"""Helpers shared by the exports."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np

from psp.core.errors import PspError
from psp.core.files import atomic_text
from psp.core.version import __version__
from psp.models.static import StaticModel


def rows(model: StaticModel) -> np.ndarray:
    """The embedding of each piece, float32 (vocab_size, dim), whatever the dtype of the model's embedding matrix."""
    return model.pool(np.arange(model.vocab_size), np.arange(model.vocab_size + 1))


def library(name: str) -> ModuleType:
    """Import a package that only exports need."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise PspError(f"this export needs the package {name}: pip install 'psp[export]'") from None


def readme(folder: Path, model: StaticModel, code: str, text: str) -> None:
    """Write a README.md that says what the folder is, how to load it, and how it differs from psp."""
    languages = ", ".join(model.config.get("languages") or []) or "languages that are not on record"
    with atomic_text(folder / "README.md") as file:
        file.write(
            f"# A sentence-embedding model for {languages}\n\nMade by psp {__version__}: {model.dim} dimensions, "
        )
        file.write(f"{model.vocab_size:,} pieces; a sentence's vector is the mean of its pieces' rows.\n\n")
        file.write(f"```python\n{code.strip()}\n```\n\n{text.strip()}\n")
