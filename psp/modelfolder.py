"""A model's folder: its files, how they are written, and how they are read and checked.

- ``model.safetensors``: ``embedding.weight``, float32, float16 or int8 (vocab_size, dim); row i belongs to piece i. Of
  int8 also ``embedding.scale``, float32 (vocab_size, 1) or (1, dim): the numbers that rows or dimensions are to be
  multiplied by
- ``sentencepiece.model``
- ``config.json``: format (1), kind ("psp"), dim, vocab_size, languages, lower_case, segment ({} or, by language,
  {"name": "jieba", "cut_all": bool}), unknown_id, sentencepiece_sha256, recipe, psp_version; dtype where it is not
  float32; left_out, ids that are passed over as unknown ones are, where there are such (imported models: pieces
  without a row); and prompts, texts by name for ``Model.encode``, where there are some
- ``README.md``: the model card, for people (:mod:`psp.card`)
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from psp import __version__, card
from psp.errors import DataError
from psp.files import atomic, read_json, sha256, write_json
from psp.subword import load_sentencepiece
from psp.table import DTYPES, Table, read_table, write_table

FORMAT, KIND = 1, "psp"
TENSOR, SCALE = "embedding.weight", "embedding.scale"
WEIGHTS, SENTENCEPIECE, CONFIG = "model.safetensors", "sentencepiece.model", "config.json"
#: Keys of config.json that save_model fills in.
OURS = {"format", "kind", "dim", "dtype", "vocab_size", "unknown_id", "sentencepiece_sha256", "psp_version"}
_TYPES: dict[str, type] = {
    "dim": int,
    "vocab_size": int,
    "languages": list,
    "lower_case": bool,
    "segment": dict,
    "unknown_id": int,
    "sentencepiece_sha256": str,
}


def save_model(
    folder: Path | str, weight: np.ndarray | Table, sentencepiece_model: Path | str, config: Mapping[str, Any]
) -> dict[str, Any]:
    """Write a model's folder; what an older one held is replaced, but for a model card that a person has edited.

    The same input gives the same bytes.

    ``config.json`` goes first and comes last: a folder that is half-written has none, and does not load.

    Args:
        folder: where.
        weight: (vocab_size, dim), saved as float32; or a table, saved as it is.
        sentencepiece_model: path of the sentencepiece model; copied.
        config: languages, lower_case, segment, recipe and what else should be on record; the other keys are filled in.

    Returns:
        The whole config.

    Raises:
        DataError: the table does not fit the sentencepiece model or is not finite, or the folder cannot be written.
        ValueError: the config says of a key that is filled in here something else than the table does.
    """
    folder, source = Path(folder), Path(sentencepiece_model)
    processor = load_sentencepiece(source)
    table = checked_table(weight, processor.get_piece_size(), source)
    if not table.finite():
        raise DataError("the table holds values that are not finite numbers; it is not saved", folder)
    serialised = source.read_bytes()  # before anything is removed: it may lie in this very folder
    full = {
        "format": FORMAT,
        "kind": KIND,
        "dim": table.dim,
        "vocab_size": len(table),
        "languages": [],
        "lower_case": False,
        "segment": {},
        "unknown_id": processor.unk_id(),
        "sentencepiece_sha256": hashlib.sha256(serialised).hexdigest(),
        "recipe": None,
        "psp_version": __version__,
    }
    if table.dtype != "float32":
        full["dtype"] = table.dtype
    if clash := sorted(key for key in config if key in full and key in OURS and config[key] != full[key]):
        raise ValueError(f"config: {', '.join(clash)} is filled in by save_model and says something else")
    full |= dict(config)
    try:
        (folder / CONFIG).unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"cannot be replaced: {error.strerror}", folder / CONFIG) from error
    write_table(folder / WEIGHTS, {TENSOR: table.values, **_scale(table)})
    with atomic(folder / SENTENCEPIECE) as temporary:
        temporary.write_bytes(serialised)
    card.write(folder, card.card(full))
    write_json(folder / CONFIG, full)
    return full


def model_name(folder: Path) -> str:
    """What people call a model by its folder: ``fr`` of results/fr/model, otherwise the folder's own name."""
    path = folder.resolve()
    return path.parent.name or path.name if path.name == "model" else path.name


def read_model(folder: Path) -> tuple[dict[str, Any], Table]:
    """What a model's folder says and its table, mapped from its file; the sentencepiece model is the right one.

    Raises:
        DataError: a file is missing, damaged, of another version, or does not fit the others.
    """
    if not folder.is_dir():
        raise DataError("no such folder; a model is a folder with config.json in it", folder)
    config = read_json(folder / CONFIG)
    _check_config(config, folder / CONFIG)
    if _sha256(folder / SENTENCEPIECE) != config["sentencepiece_sha256"]:
        raise DataError("not the file of config.json; copy the whole folder", folder / SENTENCEPIECE)
    table = _read_table(folder / WEIGHTS)
    shape, saved_as = (config["vocab_size"], config["dim"]), config.get("dtype", "float32")
    if table.values.shape != shape or table.dtype != saved_as:
        raise DataError(
            f"{table.dtype} {table.values.shape}, but {saved_as} {shape} in config.json; copy the whole folder",
            folder / WEIGHTS,
        )
    return config, table


def checked_table(weight: np.ndarray | Table, pieces: int, path: Path) -> Table:
    """The table of a sentencepiece model with so many pieces; an array becomes one of float32.

    Args:
        weight: (pieces, dim).
        pieces: of the sentencepiece model.
        path: of the sentencepiece model, for the error.

    Raises:
        DataError: the two do not belong together.
    """
    shape = weight.values.shape if isinstance(weight, Table) else weight.shape
    if len(shape) != 2 or shape[1] < 1 or shape[0] != pieces:
        raise DataError(f"has {pieces} pieces, which a table of {shape} does not fit; each needs a row", path)
    if isinstance(weight, Table):
        return weight
    return Table(np.ascontiguousarray(weight, np.float32))


def _check_config(config: Any, path: Path) -> None:
    if not isinstance(config, dict) or config.get("kind") != KIND:
        raise DataError('not the config of a psp model ("kind": "psp" is missing)', path)
    if config.get("format") != FORMAT:
        raise DataError(f"format {config.get('format')}, this psp reads {FORMAT}; install the psp that wrote it", path)
    if config.get("dtype", "float32") not in DTYPES:
        raise DataError(f"dtype is {config['dtype']!r}; there are {', '.join(DTYPES)}", path)
    for key, kind in _TYPES.items():
        if not isinstance(config.get(key), kind):
            raise DataError(f"{key} is {config.get(key)!r} or missing; copy the model's folder again", path)


def _sha256(path: Path) -> str:
    try:
        return sha256(path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}; copy the model's whole folder", path) from None


def _scale(table: Table) -> dict[str, np.ndarray]:
    """The scale as it is saved: with the axis that it is multiplied along, so that any reader gets it right."""
    if table.scale is None:
        return {}
    return {SCALE: table.scale[:, None] if table.by_row else table.scale[None, :]}


def _read_table(path: Path) -> Table:
    tensors = read_table(path)
    table = _table(tensors.get(TENSOR), tensors.get(SCALE))
    if table is None:
        raise DataError(f"no table of float32, float16 or int8 with its scale, named {TENSOR}, in it", path)
    if not table.finite():
        raise DataError("the table holds values that are not finite numbers; copy it again", path)
    return table


def _table(values: np.ndarray | None, scale: np.ndarray | None) -> Table | None:
    """The table of what is saved; None where it is none."""
    if values is None or values.ndim != 2:
        return None
    if values.dtype != np.int8:
        return Table(values)
    by_row, by_dimension = (len(values), 1), (1, values.shape[1])
    if scale is None or scale.dtype != np.float32 or scale.shape not in (by_row, by_dimension):
        return None
    return Table(values, np.array(scale).ravel(), by_row=scale.shape == by_row)
