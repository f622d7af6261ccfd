"""What the exports share."""

from __future__ import annotations

import importlib
from pathlib import Path
from random import Random
from types import ModuleType

import numpy as np

from psp import __version__
from psp.errors import PspError
from psp.files import atomic_text
from psp.model import Model


def sample(size: int = 2000) -> list[str]:
    """English and French sentences of the phrasebook, in turn; always the same."""
    from psp.corpora.phrasebook.meaning import Sampler
    from psp.corpora.phrasebook.say_english import Speaker as English
    from psp.corpora.phrasebook.say_french import Speaker as French

    rng = Random("export")
    sampler, speakers = Sampler(rng, held=False), (English(rng), French(rng))
    return [speakers[number % 2].say(sampler.draw()) for number in range(size)]


def rows(model: Model) -> np.ndarray:
    """The vector of each piece, float32 (vocab_size, dim), whatever the model's table is made of."""
    return model.pool(np.arange(model.vocab_size), np.arange(model.vocab_size + 1))


def library(name: str) -> ModuleType:
    """Import a package that exports need and the rest of psp does not."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise PspError(f"this export needs the package {name}: pip install 'psp[export]'") from None


def readme(folder: Path, model: Model, code: str, text: str) -> None:
    """Say in the folder what it is, how it is loaded, and how it differs."""
    languages = ", ".join(model.config.get("languages") or []) or "languages that are not on record"
    with atomic_text(folder / "README.md") as file:
        file.write(
            f"# A sentence-embedding model for {languages}\n\nMade by psp {__version__}: {model.dim} dimensions, "
        )
        file.write(f"{model.vocab_size:,} pieces; a sentence's vector is the mean of its pieces' rows.\n\n")
        file.write(f"```python\n{code.strip()}\n```\n\n{text.strip()}\n")
