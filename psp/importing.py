"""Checkpoints of the published system, read without running what is in them.

Such a checkpoint is a torch pickle: ``state_dict`` with ``embedding.weight``, ``vocab`` (piece -> row, in the order in
which the pieces were first seen, so that rows are not sentencepiece ids), ``vocab_fr``, ``args`` (a Namespace), and the
optimizer's state, two thirds of it. Its vectors are means as ours are, over the pieces that have a row. So the rows,
put into sentencepiece's order, make an ordinary model; pieces without a row are left out as unknown ones are.

Two things are not as there. An empty text has zeros here, there the unknown word's row. And there a character that
sentencepiece does not know is looked up by its spelling, after lower-casing: of text with a letter that only the
normalisation makes a capital (the M of U+2122, the trade mark sign) a piece more may count there.
"""

from __future__ import annotations

import argparse
import logging
import pickle
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from psp.errors import DataError, PspError
from psp.files import new_folder
from psp.model import Model
from psp.modelfolder import save_model
from psp.subword import load_sentencepiece

log = logging.getLogger(__name__)

UNKNOWN = "UUUNKKK"
#: What our models always do, as the published code's arguments call it (its defaults, for checkpoints without them).
_ARGUMENTS = {"model": "avg", "pool": "mean", "ngrams": 0, "tokenize": 0, "zero_unk": 1, "share_vocab": 1}


class Imported(NamedTuple):
    """A checkpoint's table in sentencepiece's order, float32 (pieces, dim), and the keys for config.json."""

    weight: np.ndarray
    config: dict[str, Any]


def import_checkpoint(checkpoint: Path | str, sentencepiece_model: Path | str, folder: Path | str) -> dict[str, Any]:
    """Write a published checkpoint as a model's folder that gives the same vectors.

    Returns:
        The folder's config.

    Raises:
        DataError: as :func:`read_checkpoint`; or ``folder`` exists or cannot be written.
    """
    with new_folder(folder) as temporary:
        imported = read_checkpoint(checkpoint, sentencepiece_model)
        return save_model(temporary, imported.weight, sentencepiece_model, imported.config)


def load_checkpoint(checkpoint: Path | str, sentencepiece_model: Path | str, *, threads: int = 1) -> Model:
    """Use a published checkpoint without writing anything; raises what :func:`read_checkpoint` does."""
    imported = read_checkpoint(checkpoint, sentencepiece_model)
    return Model(imported.weight, sentencepiece_model, imported.config, threads=threads)


def read_checkpoint(checkpoint: Path | str, sentencepiece_model: Path | str) -> Imported:
    """Read a published checkpoint; of its optimizer's state nothing is read but the layout.

    Raises:
        DataError: a file is missing or damaged; the pickle wants to run code; it is of a kind of model that ours are
            not (LSTM, max pooling, character n-grams, two tables, unknown words counted); or vocabulary, table and
            sentencepiece model do not belong together.
        PspError: torch is not installed.
    """
    path = Path(checkpoint)
    processor = load_sentencepiece(Path(sentencepiece_model))
    content = _unpickle(path)
    if not isinstance(content, dict) or not {"state_dict", "vocab", "args"} <= content.keys():
        raise DataError("not a checkpoint of the published code (state_dict, vocab and args are expected)", path)
    lower_case = _lower_case(content["args"], path)
    weight = _table(content["state_dict"], path)
    vocabulary = _vocabulary(content["vocab"], content.get("vocab_fr"), len(weight), path)

    numbers = [
        number
        for number in range(processor.get_piece_size())
        if not (processor.is_unknown(number) or processor.is_control(number))
    ]
    pieces = [processor.id_to_piece(number) for number in numbers]
    # There pieces are looked up by their spelling, lower-cased once more after sentencepiece's normalisation, which
    # makes capitals of some characters.
    rows = [vocabulary.get(piece.lower() if lower_case else piece) for piece in pieces]
    unused = len(vocabulary) - 1 - len(set(rows) - {None})
    if unused * 2 > len(vocabulary):
        raise DataError(
            f"{unused} of the {len(vocabulary)} pieces of its vocabulary are not in {sentencepiece_model}; "
            "name the sentencepiece model that it was trained with",
            path,
        )
    if unused:
        log.warning("%s: %d of its rows are of no piece of %s, and are not used", path, unused, sentencepiece_model)
    table = np.zeros((processor.get_piece_size(), weight.shape[1]), np.float32)
    found = [(number, row) for number, row in zip(numbers, rows, strict=True) if row is not None]
    found.append((processor.unk_id(), vocabulary[UNKNOWN]))
    ids, of_ids = np.array(found).T
    table[ids] = weight[of_ids]
    left_out = [number for number, row in zip(numbers, rows, strict=True) if row is None]
    return Imported(table, {"lower_case": lower_case, "left_out": left_out, "imported_from": path.name})


def _unpickle(path: Path) -> Any:
    try:
        import torch
    except ModuleNotFoundError:
        raise PspError(f"{path} is a torch pickle, and torch is not installed: pip install 'psp[train]'") from None
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            # Mapped, where it is of the kind that can be: the optimizer's state is then never read.
            return torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except Exception as error:  # which class it is depends on where the file is cut
        # Torch's advice, to load it all the same, is not passed on.
        found = re.search(r"GLOBAL (\S+)", str(error)) if isinstance(error, pickle.UnpicklingError) else None
        if found:
            problem = f"holds {found[1]}, which may run code; nothing was run; no published checkpoint holds it"
        else:
            problem = f"not a torch pickle, or cut short or damaged ({type(error).__name__}); get it again"
        raise DataError(problem, path) from None


def _lower_case(args: Any, path: Path) -> bool:
    values = vars(args) if isinstance(args, argparse.Namespace) else {}
    if not isinstance(values.get("lower_case"), int):
        raise DataError("its args do not say whether text is lower-cased (lower_case)", path)
    for name, ours in _ARGUMENTS.items():
        if values.get(name, ours) != ours:
            raise DataError(
                f"was made with {name} = {values[name]!r}; only models with {name} = {ours!r} can be imported", path
            )
    return bool(values["lower_case"])


def _table(state: Any, path: Path) -> np.ndarray:
    tensor = state.get("embedding.weight") if isinstance(state, Mapping) else None
    if tensor is None or not hasattr(tensor, "numpy") or tensor.ndim != 2 or not tensor.is_floating_point():
        raise DataError("its state_dict has no table embedding.weight", path)
    table = np.asarray(tensor.float().numpy())
    if not np.isfinite(table).all():
        raise DataError("its table holds values that are not finite numbers; get it again", path)
    return table


def _vocabulary(source: Any, target: Any, rows: int, path: Path) -> dict[str, int]:
    if not isinstance(source, dict) or not all(
        isinstance(piece, str) and type(row) is int and 0 <= row < rows for piece, row in source.items()
    ):
        raise DataError(f"its vocabulary does not fit the table of {rows} rows", path)
    if len(source) != rows or len(set(source.values())) != rows:
        raise DataError(f"its vocabulary of {len(source)} pieces does not fit the table of {rows} rows", path)
    if UNKNOWN not in source:
        raise DataError(f"its vocabulary has no unknown word ({UNKNOWN})", path)
    if target is not None and target != source:
        raise DataError("it has a vocabulary for each language; only models with one for both can be imported", path)
    return source
