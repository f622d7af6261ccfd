"""The names of the files that make up a model: the only list, for all code that writes, reads or copies models.

The model card, README.md, is not one of them: editing it does not change the model. This module imports next to
nothing, so that rules can use it at every start.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.core.errors import DataError
from psp.core.files import read_json

CONFIG, WEIGHTS, SENTENCEPIECE = "config.json", "model.safetensors", "sentencepiece.model"
VOCABULARY = "vocabulary.txt"
#: How the names of models on the Hugging Face Hub begin.
HUB = "hf://"
#: The files of a mean of sentencepiece embeddings, by content.
NAMES = {"weights": WEIGHTS, "sentencepiece": SENTENCEPIECE, "config": CONFIG}
#: The same of a mean of the embeddings of words or trigrams.
VOCABULARY_NAMES = {"weights": WEIGHTS, "vocabulary": VOCABULARY, "config": CONFIG}


def combination_files(tokens: Sequence[str]) -> list[str]:
    """The names of a combination's files, config.json first.

    Args:
        tokens: what each part's tokenizer splits text into: ``subword``, ``word`` or ``trigram``.
    """
    own = [SENTENCEPIECE if kind == "subword" else VOCABULARY for kind in tokens]
    return [CONFIG, WEIGHTS, *(f"{number}.{name}" for number, name in enumerate(own))]


def tokenizer_files(config: Any, path: Path | str | None = None) -> dict[str, str]:
    """The files of a model's tokenizer, of any kind, and their SHA-256, as its config.json lists them.

    Raises:
        DataError: it does not list them, or lists a name that no tokenizer's file can have; ``path`` is that of
            config.json.
    """
    if not isinstance(config, Mapping):
        raise DataError("not the config of a psp model", path)
    if config.get("format") == 1:
        found: Any = {SENTENCEPIECE: config.get("sentencepiece_sha256")}
    else:
        tokenizer = config.get("tokenizer")
        found = tokenizer.get("files") if isinstance(tokenizer, Mapping) else None
    if not isinstance(found, Mapping):
        raise DataError("does not name its tokenizer's files; copy the model's folder again", path)
    for name, digest in found.items():
        # The config is not ours to trust: a name with a slash would be read, or written, outside the folder.
        if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*", name) or name in (CONFIG, WEIGHTS, "README.md"):
            raise DataError(f"{name!r} is no name of a tokenizer's file; get the model again", path)
        if not isinstance(digest, str):
            raise DataError(f"has no checksum of {name}; copy the model's folder again", path)
    return dict(found)


def file_names(config: Any, path: Path | str | None = None) -> list[str]:
    """The names of a model's files according to its config.json, which comes first.

    Raises:
        DataError: as :func:`tokenizer_files`.
    """
    return [CONFIG, WEIGHTS, *tokenizer_files(config, path)]


def model_files(folder: Path | str) -> list[str]:
    """The paths of a model's files; if it is missing or damaged, those of a mean of sentencepiece embeddings.

    Damage is reported when the model is loaded, not here.
    """
    try:
        names = file_names(read_json(Path(folder) / CONFIG))
    except DataError:
        names = [CONFIG, WEIGHTS, SENTENCEPIECE]
    return [f"{str(folder).rstrip('/')}/{name}" for name in names]
