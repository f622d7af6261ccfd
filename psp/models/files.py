"""The files that are a model, by their names: THE list, for whoever writes, reads, copies or waits for one.

The model card, README.md, is not among them: a model is the same with another card. Nothing is imported for it, so
that rules may ask at every start.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psp.core.errors import DataError
from psp.core.files import read_json

CONFIG, WEIGHTS, SENTENCEPIECE = "config.json", "model.safetensors", "sentencepiece.model"
#: The file names of a sentencepiece mean, which is what the workflow trains, by what they hold.
NAMES = {"weights": WEIGHTS, "sentencepiece": SENTENCEPIECE, "config": CONFIG}


def tokenizer_files(config: Any, path: Path | str | None = None) -> dict[str, str]:
    """The files of a model's tokenizer and their SHA-256, of any kind: its config.json tells.

    Raises:
        DataError: it does not, or names what is no file of a model's own; ``path`` is that of config.json.
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
        # Names come from elsewhere: one with a slash would be read, or written, outside of the folder.
        if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*", name) or name in (CONFIG, WEIGHTS, "README.md"):
            raise DataError(f"{name!r} is no name of a tokenizer's file; get the model again", path)
        if not isinstance(digest, str):
            raise DataError(f"has no checksum of {name}; copy the model's folder again", path)
    return dict(found)


def file_names(config: Any, path: Path | str | None = None) -> list[str]:
    """The names of a model's files by its config.json, which is the first.

    Raises:
        DataError: as :func:`tokenizer_files`.
    """
    return [CONFIG, WEIGHTS, *tokenizer_files(config, path)]


def model_files(folder: Path | str) -> list[str]:
    """The paths of a model's files; of one that is not there yet, or damaged, those of a sentencepiece mean.

    Who reads a damaged one says what is wrong: asking for its files is no reading.
    """
    try:
        names = file_names(read_json(Path(folder) / CONFIG))
    except DataError:
        names = [CONFIG, WEIGHTS, SENTENCEPIECE]
    return [f"{str(folder).rstrip('/')}/{name}" for name in names]
