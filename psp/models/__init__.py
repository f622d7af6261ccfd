"""Models: load them, and embed text. Here are the names of the files that make up a model: the only list.

All code that writes, reads or copies models has them from here. The model card, README.md, is not one of them: editing
it does not change the model. Only errors and files are imported, so that rules can use this at every start.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
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
#: The name of the model in the distribution paraphrastic-starter (:mod:`psp.models.starter`).
STARTER = "starter"
#: Those files of a transformer that every one has; config.json names the others (:func:`transformer_files`).
TRANSFORMER_NAMES = {"config": CONFIG, "modules": "modules.json", "weights": TRANSFORMER_WEIGHTS}
#: The modules that :mod:`psp.models.exports.sentence_transformers` names in a folder's modules.json.
PSP_MODEL = "paraphrastic.exports.PspModel"
#: sentence-transformers' settings of a model, and its names for those of a transformer in it.
SETTINGS = "config_sentence_transformers.json"
TRANSFORMER_CONFIGS = tuple(
    f"sentence_{name}_config.json" for name in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta")
)
#: The files of a tokenizer, one of which a transformer must have; else the library makes one with an empty vocabulary.
TOKENIZERS = (
    "tokenizer.json", "vocab.txt", "vocab.json", "sentencepiece.bpe.model", "spiece.model", "tokenizer.model",
    "spm.model", "sentencepiece.model",
)  # fmt: skip
#: A transformer's weights, if they are in several files.
TRANSFORMER_SHARDS = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
#: The modules of sentence-transformers, and psp's pooling, that psp opens; and the files of each, all that are read.
MODULE_FILES = {
    "Transformer": (
        CONFIG, WEIGHTS, f"{WEIGHTS}.index.json", *TRANSFORMER_CONFIGS, *TOKENIZERS, "merges.txt", "bpe.codes",
        "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    ),
    "StaticEmbedding": (WEIGHTS, "tokenizer.json"),
    "Pooling": (CONFIG,),
    "LstmPooling": (CONFIG, WEIGHTS),
    "Normalize": (CONFIG,),
    "Dense": (CONFIG, WEIGHTS),
}  # fmt: skip
_WRITTEN = {
    "modules.json",
    SETTINGS,
    *(f"0_Transformer/{name}" for name in MODULE_FILES["Transformer"]),
    *(f"1_{kind}/{name}" for kind in ("Pooling", "LstmPooling") for name in MODULE_FILES[kind]),
    f"2_Normalize/{CONFIG}",
}
#: Files for people that may lie beside a transformer's own.
_FOR_PEOPLE = re.compile(r"README\.md|(LICEN[CS]E|NOTICE).*|SHA256SUMS|report\.html", re.I)


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
    tokenizer = config.get("tokenizer")
    digests: Any = tokenizer.get("files") if isinstance(tokenizer, Mapping) else None
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
        known = name in _WRITTEN or TRANSFORMER_SHARDS.fullmatch(str(name).removeprefix("0_Transformer/"))
        if not known or not isinstance(digest, str):
            raise DataError(f"{name!r} is not a file of a transformer that psp writes; do not use this model", path)
    return dict(digests)


def unlisted_files(folder: Path, listed: Collection[str]) -> list[str]:
    """The files below a transformer's folder that are neither listed nor for people: README.md, a licence, hidden."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    return [
        name
        for name in names
        if not (name in listed or name == CONFIG or _FOR_PEOPLE.fullmatch(name) or re.search(r"(^|/)\.", name))
    ]


def model_files(folder: Path | str) -> list[str]:
    """The paths of a model's files; for a missing or damaged model, those of a mean of sentencepiece embeddings.

    Damage is reported when the model is loaded, not here.
    """
    try:
        names = file_names(read_json(Path(folder) / CONFIG))
    except DataError:
        names = [CONFIG, WEIGHTS, SENTENCEPIECE]
    return [f"{str(folder).rstrip('/')}/{name}" for name in names]
