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
#: The kind of encoder of :mod:`psp.models.transformer`, and its weights.
TRANSFORMER, TRANSFORMER_WEIGHTS = "transformer", "0_Transformer/model.safetensors"
#: How the names of models on the Hugging Face Hub begin.
HUB = "hf://"
#: Those files of a transformer that every one has; config.json names the others (:func:`transformer_files`).
TRANSFORMER_NAMES = {"config": CONFIG, "modules": "modules.json", "weights": TRANSFORMER_WEIGHTS}


def combination_files(tokenizers: Sequence[str]) -> list[str]:
    """The names of a combination's files, config.json first.

    Args:
        tokenizers: the file of each part's tokenizer.
    """
    return [CONFIG, WEIGHTS, *(f"{number}.{name}" for number, name in enumerate(tokenizers))]


def tokenizer_files(config: Any, path: Path | str | None = None) -> dict[str, str]:
    """The files of a model's tokenizer, of any kind, and their SHA-256, as its config.json lists them.

    Raises:
        DataError: it does not list them, or lists a name that no tokenizer's file can have; ``path`` is that of
            config.json.
    """
    if not isinstance(config, Mapping):
        raise DataError("not the config of a psp model", path)
    if config.get("format") == 1:
        digests: Any = {SENTENCEPIECE: config.get("sentencepiece_sha256")}
    else:
        tokenizer = config.get("tokenizer")
        digests = tokenizer.get("files") if isinstance(tokenizer, Mapping) else None
    if not isinstance(digests, Mapping):
        raise DataError("does not name its tokenizer's files; copy the model's folder again", path)
    for name, digest in digests.items():
        # The config is not ours to trust: a name with a slash would be read, or written, outside the folder.
        if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*", name) or name in (CONFIG, WEIGHTS, "README.md"):
            raise DataError(f"{name!r} is not a name of a tokenizer's file; get the model again", path)
        if not isinstance(digest, str):
            raise DataError(f"has no checksum of {name}; copy the model's folder again", path)
    return dict(digests)


def file_names(config: Any, path: Path | str | None = None) -> list[str]:
    """The names of a model's files according to its config.json, which comes first; the weights come second.

    Raises:
        DataError: as :func:`tokenizer_files` and :func:`transformer_files`.
    """
    if is_transformer(config):
        return [CONFIG, *sorted(transformer_files(config, path), key=lambda name: (name != TRANSFORMER_WEIGHTS, name))]
    return [CONFIG, WEIGHTS, *tokenizer_files(config, path)]


def is_transformer(config: Any) -> bool:
    """Whether a config.json belongs to a transformer (:mod:`psp.models.transformer`)."""
    encoder = config.get("encoder") if isinstance(config, Mapping) else None
    return isinstance(encoder, Mapping) and encoder.get("kind") == TRANSFORMER


def transformer_files(config: Mapping[str, Any], path: Path | str | None = None) -> dict[str, str]:
    """The files of a transformer except config.json: their paths in its folder and their SHA-256.

    Raises:
        DataError: it does not list them, or lists a path that none of them can have; ``path`` is that of config.json.
    """
    digests = config["encoder"].get("files")
    if not isinstance(digests, Mapping) or TRANSFORMER_WEIGHTS not in digests:
        raise DataError("does not name its encoder's files; copy the model's folder again", path)
    for name, digest in digests.items():
        # As above: nothing outside the folder; and no code, which a folder of psp never holds.
        whole = isinstance(name, str) and re.fullmatch(r"(\w[\w-]*/)?\w[\w.-]*\.(json|txt|safetensors|model|bpe)", name)
        if not whole or name in (CONFIG, "README.md") or not isinstance(digest, str):
            raise DataError(f"{name!r} is not a name of a transformer's file; get the model again", path)
    return dict(digests)


def model_files(folder: Path | str) -> list[str]:
    """The paths of a model's files; for a missing or damaged model, those of a mean of sentencepiece embeddings.

    Damage is reported when the model is loaded, not here.
    """
    try:
        names = file_names(read_json(Path(folder) / CONFIG))
    except DataError:
        names = [CONFIG, WEIGHTS, SENTENCEPIECE]
    return [f"{str(folder).rstrip('/')}/{name}" for name in names]
