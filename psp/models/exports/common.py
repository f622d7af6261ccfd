"""Helpers shared by the exports."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np

from psp.core import __version__
from psp.core.errors import from_extra
from psp.core.files import atomic_text
from psp.models.combined import ADD, CombinedModel
from psp.models.lstm import MAX
from psp.models.text_model import TextModel


def rows(model: TextModel) -> np.ndarray:
    """The embedding of each piece, float32 (vocab_size, dim), whatever the dtype of the model's embedding matrix."""
    return np.array(model.weight)


def library(name: str) -> ModuleType:
    """Import a package that only exports need."""
    with from_extra("export", f"this export needs the package {name}"):
        return importlib.import_module(name)


def readme(folder: Path, model: TextModel, code: str, text: str) -> None:
    """Write a README.md that says what the folder is, how to load it, and how it differs from psp."""
    languages = ", ".join(model.config.get("languages") or []) or "languages that are not on record"
    with atomic_text(folder / "README.md") as file:
        file.write(
            f"# A sentence-embedding model for {languages}\n\nMade by psp {__version__}: {model.dim} dimensions, "
        )
        file.write(f"{_made_of(model)}\n\n")
        file.write(f"```python\n{code.strip()}\n```\n\n{text.strip()}\n")


def _made_of(model: TextModel) -> str:
    """How a sentence's vector is computed, in a sentence."""
    if isinstance(model, CombinedModel):
        parts = "; ".join(
            f"{part.dim} dimensions"
            + (f" with weight {weight:g}" if model.scaled else "")
            + f" ({_made_of(part).removesuffix('.')})"
            for part, weight in zip(model.parts, model.weights, strict=True)
        )
        if not model.scaled:
            joined = "added" if model.joined_by == ADD else "one after another"
            return f"those of several models, {joined}: {parts}."
        return f"those of several models, each scaled to length 1 and multiplied by the root of its weight: {parts}."
    own, pieces = model.contextual, model.tokenizer.pieces_called
    if own is None:
        return f"{model.vocab_size:,} {pieces}; a sentence's vector is the mean of its {pieces}' rows."
    states = f"the {'maximum' if own.pooling == MAX else 'mean'} of the states of {own.called}"
    return f"{model.vocab_size:,} {pieces}; a sentence's vector is {states} that reads its {pieces}' rows."
