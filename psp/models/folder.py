"""A model's folder: write, read and check its files.

- ``model.safetensors``: ``embedding.weight``, float32, float16 or int8 (vocab_size, dim); row i belongs to piece i.
  With int8 also ``embedding.scale``, float32 (vocab_size, 1) or (1, dim), by which rows or dimensions are multiplied;
  with int4 that of the rows, and ``embedding.weight`` is uint8, two values a byte (:func:`psp.models.table.packed`)
- the tokenizer's files: ``sentencepiece.model``, if it is of that kind
- ``config.json``: format (1), kind ("psp"), tokenizer ({"kind", "files": {name: SHA-256}}) and encoder ({"kind"}), with
  whatever else the two keep there, dim, vocab_size, languages, lower_case, segment ({} or, by language,
  {"name": "jieba", "cut_all": bool}), unknown_id, recipe, psp_version; dtype unless it is float32; if there are any,
  left_out, ids that are left out like unknown ones (imported models: pieces without an embedding), and prompts, texts
  by name for ``Model.encode``; weights_sha256, of model.safetensors (:func:`check_weights`)
- with an encoder other than the mean, model.safetensors may hold further tensors of that encoder. dim is the number of
  dimensions of the embeddings; an LSTM's vectors have others (:func:`psp.models.lstm.vector_dim`)
- several models joined have another layout (:mod:`psp.models.combined`); likewise a transformer
  (:mod:`psp.models.transformer`)
"""

from __future__ import annotations

import functools
import hashlib
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from psp.core import __version__
from psp.core.errors import DataError
from psp.core.files import atomic, read_bytes, read_json, sha256, write_json
from psp.models import CONFIG, STARTER, TRANSFORMER, WEIGHTS, tokenizer_files
from psp.models.table import DTYPES, NOT_FINITE, EmbeddingMatrix, packed, read_table, unpacked, write_table
from psp.text import tokenizer as tokenizers
from psp.text.tokenizer import Folder, Tokenizer

if TYPE_CHECKING:
    from psp.models.lstm import Lstm
    from psp.models.text_model import TextModel

KIND, MEAN = "psp", "mean"
#: The kinds of encoder of a combination of models, and its kind of tokenizer.
CONCAT, ADD, PARTS = "concat", "add", "parts"
FORMAT = 1
TENSOR, SCALE = "embedding.weight", "embedding.scale"
#: Keys of config.json that save_model fills in.
OURS = {
    "format", "kind", "dim", "dtype", "vocab_size", "unknown_id", "psp_version", "tokenizer",
    "encoder", "weights_sha256",
}  # fmt: skip
#: The kinds of encoder, each with the module and the class of its models.
KINDS = {
    **dict.fromkeys((MEAN, "lstm", "blstm"), ("static", "StaticModel")),
    **dict.fromkeys((CONCAT, ADD), ("combined", "CombinedModel")),
    TRANSFORMER: ("transformer", "TransformerModel"),
}
_TYPES: dict[str, type] = {
    "dim": int,
    "vocab_size": int,
    "languages": list,
    "lower_case": bool,
    "segment": dict,
    "unknown_id": int,
}
#: The same of a combination; each part has the other keys.
_COMBINED_TYPES = {key: _TYPES[key] for key in ("dim", "languages")}


def save_model(
    folder: Path | str,
    weight: np.ndarray | EmbeddingMatrix,
    tokenizer: Tokenizer | Path | str,
    config: Mapping[str, Any],
    *,
    encoder: Mapping[str, Any] | None = None,
    tensors: Mapping[str, np.ndarray] | None = None,
) -> dict[str, Any]:
    """Write a model's folder, replacing an older one except for its model card (:mod:`psp.models.card`).

    The same input gives the same bytes.

    ``config.json`` is removed first and written last, so a half-written folder does not load.

    Args:
        folder: the folder.
        weight: (vocab_size, dim), saved as float32; or a table, saved unchanged.
        tokenizer: a tokenizer, whose files are copied, or the path of a sentencepiece model.
        config: languages, lower_case, segment, recipe and anything else to record; the other keys are filled in.
        encoder: the encoder's ``kind``, and anything else that it stores in config.json; None for the mean.
        tensors: the encoder's further tensors, by name.

    Returns:
        The complete config.

    Raises:
        DataError: the embedding matrix does not fit the tokenizer or is not finite, or the folder cannot be written.
        ValueError: the config contradicts a key that is filled in here.
    """
    folder, tokenizer = Path(folder), as_tokenizer(tokenizer)
    encoder = encoder or {"kind": MEAN}
    table = checked_table(weight, tokenizer)
    if not table.finite():
        raise DataError(
            f"the embedding matrix has {NOT_FINITE}; it was not saved",
            folder,
        )
    contents = tokenizer.contents()  # before anything is removed: it may lie in this very folder
    full = described(table, tokenizer, config, sums(contents), encoder)
    return write_folder(folder, full, {**table_tensors(table), **(tensors or {})}, contents)


def as_tokenizer(given: Tokenizer | Path | str, config: Mapping[str, Any] | None = None) -> Tokenizer:
    """A tokenizer that reads text as ``config`` says; of a path, the one of the file's kind."""
    if isinstance(given, Tokenizer):
        return given.with_preprocessing(config or {})
    from psp.text import tokenizer_kinds  # which imports all kinds

    return tokenizer_kinds.as_tokenizer(given, config)


def sums(contents: Mapping[str, bytes]) -> dict[str, str]:
    """SHA-256 of files, by name."""
    return {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}


def described(
    table: EmbeddingMatrix,
    tokenizer: Tokenizer,
    config: Mapping[str, Any],
    sums: dict[str, str],
    encoder: Mapping[str, Any],
) -> dict[str, Any]:
    """The complete config.json of a model; arguments as for :func:`save_model`, and its tokenizer's files.

    Raises:
        ValueError: the config contradicts a key that is filled in here.
    """
    full: dict[str, Any] = {
        "format": FORMAT,
        "kind": KIND,
        "tokenizer": {"kind": tokenizer.name_on_disk(), "files": sums, **tokenizer.keys()},
        "encoder": dict(encoder),
        "dim": table.dim,
        "vocab_size": len(table),
        "languages": [],
        "lower_case": False,
        "segment": {},
        "unknown_id": tokenizer.unknown_id,
        "recipe": None,
        "psp_version": __version__,
    }
    if table.dtype != "float32":
        full["dtype"] = table.dtype
    if clash := sorted(key for key in config if key in full and key in OURS and config[key] != full[key]):
        raise ValueError(f"config: {', '.join(clash)} is filled in by save_model, with another value")
    return full | tokenizer.to_config(config)


def write_folder(
    folder: Path, config: Mapping[str, Any], tensors: Mapping[str, np.ndarray], contents: Mapping[str, bytes]
) -> dict[str, Any]:
    """Write a model's files: ``config.json`` is removed first and written last, so that a partial model never loads.

    Returns:
        The config as it was written, with the checksum of the weights.

    Raises:
        DataError: the folder cannot be written.
    """
    try:
        (folder / CONFIG).unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"cannot be replaced: {error.strerror}", folder / CONFIG) from error
    write_table(folder / WEIGHTS, tensors)
    for name, content in contents.items():
        with atomic(folder / name) as temporary:
            temporary.write_bytes(content)
    full = {**config, "weights_sha256": sha256(folder / WEIGHTS)}
    write_json(folder / CONFIG, full)
    return full


def check_weights(folder: Path) -> None:
    """Check a model's weights by the SHA-256 in its config.json, once in a process; one of other kinds has none.

    One second per GB, which loading does not take, and so it is left to those who ask for it: models from the web,
    ``psp info`` and ``load_model(path, verify=True)``.

    Raises:
        DataError: they are missing, or others.
    """
    digest = read_config(folder).get("weights_sha256")
    if digest is None:
        return
    path = folder / WEIGHTS
    try:
        about = path.stat()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}; copy the model's whole folder", path) from None
    if _weights_sha256(path, about.st_size, about.st_mtime_ns) != digest:
        raise DataError("damaged, or not the file that config.json records; copy the whole folder", path)


@functools.lru_cache(maxsize=64)
def _weights_sha256(path: Path, size: int, changed: int) -> str:
    return sha256(path)


def model_name(folder: Path) -> str:
    """A model's name from its folder: ``fr`` for results/fr/model, otherwise the folder's own name."""
    path = folder.resolve()
    return path.parent.name or path.name if path.name == "model" else path.name


def read_contextual(
    config: Mapping[str, Any], table: EmbeddingMatrix, tensors: Mapping[str, np.ndarray], folder: Path
) -> Lstm | None:
    """Make a model's LSTM from its config.json and its tensors other than the table; None for a mean.

    Raises:
        DataError: they do not fit each other, or the encoder is neither.
    """
    if (kind := encoder_kind(config)) != MEAN:
        from psp.models import lstm

        if kind not in lstm.KINDS:
            raise DataError(f"its encoder is of the kind {kind!r}, not {MEAN!r}; load it with psp.load_model", folder)
        return lstm.Lstm.read(config["encoder"], tensors, table.dim, folder / WEIGHTS)
    if tensors:
        raise DataError(
            f"holds {', '.join(sorted(tensors))}, which a mean does not have; install the psp that wrote it",
            folder / WEIGHTS,
        )
    return None


def read_folder(folder: Path) -> tuple[dict[str, Any], EmbeddingMatrix, Tokenizer, dict[str, np.ndarray]]:
    """Read a model's folder: its config, its table, memory-mapped, its tokenizer, and its encoder's further tensors.

    Raises:
        DataError: a file is missing, damaged, of another version, or does not fit the others; or the tokenizer's kind
            is unknown.
        PspError: its text is segmented, and the segmenter is not installed.
    """
    config = read_config(folder)
    if encoder_kind(config) in (CONCAT, ADD):
        raise DataError("a combination of models, where one alone is needed; only psp.load_model loads it", folder)
    if encoder_kind(config) == TRANSFORMER:
        raise DataError("a transformer, where a table of vectors is needed; only psp.load_model loads it", folder)
    return config, *read_parts(config, read_table(folder / WEIGHTS), folder, folder)


def read_parts(
    config: Mapping[str, Any], tensors: Mapping[str, np.ndarray], files: Folder, folder: Path
) -> tuple[EmbeddingMatrix, Tokenizer, dict[str, np.ndarray]]:
    """Make a model's table and tokenizer from its folder, and check that they fit together.

    Args:
        config: its config.json.
        tensors: those of model.safetensors.
        files: where the tokenizer's files are found by their names.
        folder: the folder, for errors.

    Returns:
        The table, the tokenizer and the encoder's further tensors.

    Raises:
        DataError, PspError: as :func:`read_folder`.
    """
    name = str(config["tokenizer"]["kind"])
    if name not in tokenizers.known_on_disk():
        import psp.text.tokenizer_kinds  # noqa: F401  (which imports the kinds that somebody has added)
    kind = tokenizers.on_disk(name, folder / CONFIG)
    for name, digest in tokenizer_files(config, folder / CONFIG).items():
        if _sha256(files / name) != digest:
            raise DataError("not the file that config.json records; copy the whole folder", files / name)
    table, others = _take_table(tensors, config["dim"], folder / WEIGHTS)
    shape, saved_as = (config["vocab_size"], config["dim"]), config.get("dtype", "float32")
    if table.values.shape != shape or table.dtype != saved_as:
        raise DataError(
            f"{table.dtype} {table.values.shape}, but {saved_as} {shape} in config.json; copy the whole folder",
            folder / WEIGHTS,
        )
    return table, kind.load(files, config), others


def checked_table(weight: np.ndarray | EmbeddingMatrix, tokenizer: Tokenizer) -> EmbeddingMatrix:
    """Check that a table fits a tokenizer's ids; an array, (ids, dim), becomes one of float32.

    Raises:
        DataError: the two do not match.
    """
    shape = weight.values.shape if isinstance(weight, EmbeddingMatrix) else weight.shape
    if len(shape) != 2 or shape[1] < 1 or shape[0] != len(tokenizer):
        message = f"has {len(tokenizer)} pieces, but the embedding matrix has shape {shape}; each piece needs a row"
        raise DataError(message, str(tokenizer))
    if isinstance(weight, EmbeddingMatrix):
        return weight
    return EmbeddingMatrix(np.ascontiguousarray(weight, np.float32))


def read_config(folder: Path) -> dict[str, Any]:
    """Read and check a folder's config.json."""
    if not folder.is_dir():
        raise DataError("no such folder; a model is a folder with config.json in it", folder)
    if not (folder / CONFIG).exists() and (folder / "model" / CONFIG).exists():
        raise DataError(f"holds results; the model is {folder / 'model'}", folder)
    config: dict[str, Any] = read_json(folder / CONFIG)
    check_config(config, folder / CONFIG)
    return config


def encoder_kind(config: Mapping[str, Any]) -> str:
    """The kind of a model's encoder, from its config.json, which is checked already."""
    return str(config["encoder"]["kind"])


def check_config(config: Any, path: Path) -> None:
    """Check the types of the keys that every reader of a config.json needs.

    Raises:
        DataError: it is not of a model, of another format, or lacks a key; ``path`` is its own.
    """
    if not isinstance(config, dict) or config.get("kind") != KIND:
        raise DataError('not the config of a psp model ("kind": "psp" is missing)', path)
    if config.get("format") != FORMAT:
        raise DataError(
            f"format {config.get('format')}, but this psp reads {FORMAT}; install the psp that wrote it", path
        )
    if config.get("dtype", "float32") not in DTYPES:
        raise DataError(f"dtype is {config['dtype']!r}; there are {', '.join(DTYPES)}", path)
    for key in ("tokenizer", "encoder"):
        if not isinstance(config.get(key), dict) or not isinstance(config[key].get("kind"), str):
            raise DataError(f"{key} is {config.get(key)!r} or missing, or has no kind; copy the folder again", path)
    for key, kind in (_COMBINED_TYPES if encoder_kind(config) in (CONCAT, ADD) else _TYPES).items():
        if not isinstance(config.get(key), kind):
            raise DataError(f"{key} is {config.get(key)!r} or missing; copy the model's folder again", path)
    if not all(isinstance(code, str) for code in config["languages"]):
        raise DataError(f"languages is {config['languages']!r}, not a list of codes; copy the folder again", path)


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(read_bytes(path)).hexdigest()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}; copy the model's whole folder", path) from None


def table_tensors(table: EmbeddingMatrix) -> dict[str, np.ndarray]:
    """The tensors of a table, by name; the scale is shaped to broadcast, so that any reader applies it correctly."""
    if table.scale is None:
        return {TENSOR: table.values}
    values = packed(table.values) if table.dtype == "int4" else table.values
    return {TENSOR: values, SCALE: table.scale[:, None] if table.by_row else table.scale[None, :]}


def _take_table(
    tensors: Mapping[str, np.ndarray], dim: int, path: Path
) -> tuple[EmbeddingMatrix, dict[str, np.ndarray]]:
    """Make the table, and return the other tensors; ``path`` is their file."""
    table = _table(tensors.get(TENSOR), tensors.get(SCALE), dim)
    if table is None:
        raise DataError(f"no embedding matrix of float32, float16, int8 or int4 with its scale, named {TENSOR}", path)
    if not table.finite():
        raise DataError(
            f"the embedding matrix has {NOT_FINITE}; copy it again",
            path,
        )
    return table, {name: tensor for name, tensor in tensors.items() if name not in (TENSOR, SCALE)}


def _table(values: np.ndarray | None, scale: np.ndarray | None, dim: int) -> EmbeddingMatrix | None:
    """Make a table of saved tensors; None if they do not form one."""
    if values is None or values.ndim != 2:
        return None
    four_bits = values.dtype == np.uint8
    if four_bits:
        values = unpacked(values, dim)
    if values.dtype != np.int8:
        return EmbeddingMatrix(values) if scale is None else None
    shapes = [(len(values), 1), (1, values.shape[1])][: 1 if four_bits else 2]
    if scale is None or scale.dtype != np.float32 or scale.shape not in shapes:
        return None
    return EmbeddingMatrix(values, np.array(scale).ravel(), by_row=scale.shape == shapes[0], four_bits=four_bits)


def load(folder: Path | str, **options: Any) -> TextModel:
    """Load a model's folder, of any kind, whose module is imported here.

    Args:
        folder: the folder.
        options: those of :meth:`psp.models.text_model.TextModel.load`.

    Raises:
        DataError: it is not a model's folder, or of a kind that is not known; or as the kind's ``load``.
        PspError, ValueError: as the kind's ``load``.
    """
    kind = encoder_kind(read_config(Path(folder)))
    if kind not in KINDS:
        raise DataError(
            f"unknown kind of encoder, {kind!r} (known: {', '.join(sorted(KINDS))}); install the psp that wrote it",
            Path(folder) / CONFIG,
        )
    module, name = KINDS[kind]
    made: TextModel = getattr(importlib.import_module(f"psp.models.{module}"), name).load(folder, **options)
    return made


@overload
def load_model(
    path: Path | str,
    *,
    dtype: str | None = None,
    dim: int | None = None,
    threads: int = 1,
    accelerate: bool | str | None = None,
    verify: bool | None = None,
) -> TextModel: ...


@overload
def load_model(*, model_name: Path | str, sp_model: Path | str, threads: int = 1) -> tuple[TextModel, None]: ...


def load_model(
    path: Path | str | None = None,
    *,
    model_name: Path | str | None = None,
    sp_model: Path | str | None = None,
    dtype: str | None = None,
    dim: int | None = None,
    threads: int = 1,
    accelerate: bool | str | None = None,
    verify: bool | None = None,
) -> TextModel | tuple[TextModel, None]:
    """Load a model from its folder, or from the web.

    For the Hugging Face Hub, write ``hf://user/name`` or ``hf://user/name@commit``; for a .zip that a release was
    packed into, ``https://.../fr-int8.zip#sha256=...``, with its checksum. Both are downloaded once. ``starter`` is the
    model of the distribution ``paraphrastic-starter`` (:mod:`psp.models.starter`), unless that folder holds a model.
    ``verify`` is whether the weights are checked by the SHA-256 in config.json, which takes a second per GB; by default
    those of models from the web are, once in a process.

    The other arguments are those of :meth:`psp.models.text_model.TextModel.load`.

    Or load a checkpoint of the published code and its sentencepiece model, by the argument names of that code:
    ``model, _ = load_model(model_name="model.pt", sp_model="sp.model")``. See :mod:`psp.models.published`; this needs
    torch.

    Raises:
        TypeError: arguments of both ways are mixed.
        DataError, PspError, ValueError: as :meth:`psp.models.text_model.TextModel.load`, :func:`psp.models.hub.fetch`,
            :func:`psp.models.zipped.fetch` and :func:`psp.models.published.read_checkpoint`.
    """
    if path is not None and model_name is None and sp_model is None:
        if str(path).startswith("hf://"):
            from psp.models.hub import fetch

            path, verify = fetch(str(path)), verify is not False
        elif str(path).startswith(("https://", "http://")):
            from psp.models import zipped

            path = zipped.fetch(str(path))  # which verifies it, and may fetch it again
        elif str(path) == STARTER and not (Path(path) / CONFIG).is_file():  # in a checkout, its source has the name
            from psp.models import starter

            path, verify = starter.folder(), False  # which verifies it
        if verify:
            check_weights(Path(path))
        return load(path, dtype=dtype, dim=dim, threads=threads, accelerate=accelerate)
    if path is not None or model_name is None or sp_model is None:
        raise TypeError("load_model: give the path of a model's folder, or both model_name and sp_model")
    if (dtype, dim, accelerate, verify) != (None, None, None, None):
        raise TypeError("load_model: dtype, dim, accelerate and verify are for a folder; import the checkpoint first")
    from psp.models.published import read_checkpoint
    from psp.models.static import StaticModel

    imported = read_checkpoint(model_name, sp_model)
    return StaticModel(imported.weight, sp_model, imported.config, threads=threads), None
