"""Read checkpoints of the published P-SP code, without running code in them.

Such a checkpoint is a PyTorch pickle: ``state_dict`` with ``embedding.weight``, ``vocab`` (piece -> row, in order of
first appearance, so rows are not sentencepiece ids), ``vocab_fr``, ``args`` (a Namespace), and the optimizer's state,
two thirds of the file. Its vectors are means over the pieces that have an embedding, like ours. Reordered to
sentencepiece's ids, the embeddings make an ordinary model; pieces without one are left out, like unknown pieces.

There are two differences. An empty text gets zeros here, but the unknown word's embedding there. And the published code
looks up a character unknown to sentencepiece by its spelling, after lower-casing: if only normalisation turns a
character into a capital (the M of U+2122, the trade mark sign), it may count an additional piece.
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

from psp.core.errors import DataError, from_extra
from psp.core.files import new_folder, open_regular
from psp.models import card, card_file
from psp.models.folder import save_model
from psp.models.table import usable
from psp.text.sentencepiece_tokenizer import load_sentencepiece

log = logging.getLogger(__name__)

UNKNOWN = "UUUNKKK"
#: The arguments of the published code that our models support (its defaults, if a checkpoint lacks them).
_ARGUMENTS = {"model": "avg", "pool": "mean", "ngrams": 0, "tokenize": 0, "zero_unk": 1, "share_vocab": 1}
#: Pieces without an embedding are those that training did not see; a larger share is of another sentencepiece model.
_MOST_WITHOUT = 0.5


class Imported(NamedTuple):
    """A checkpoint's embeddings in the order of sentencepiece ids, float32 (pieces, dim), and config.json keys."""

    weight: np.ndarray
    config: dict[str, Any]


def import_checkpoint(checkpoint: Path | str, sentencepiece_model: Path | str, folder: Path | str) -> dict[str, Any]:
    """Convert a published checkpoint to a model folder that gives the same vectors.

    Returns:
        The folder's config.

    Raises:
        DataError: as :func:`read_checkpoint`; or ``folder`` exists or cannot be written.
    """
    with new_folder(folder) as temporary:
        imported = read_checkpoint(checkpoint, sentencepiece_model)
        config = save_model(temporary, imported.weight, sentencepiece_model, imported.config)
        card_file.write(temporary, card.card(config))
        return config


def read_checkpoint(checkpoint: Path | str, sentencepiece_model: Path | str) -> Imported:
    """Read a published checkpoint, without its optimizer's state.

    Raises:
        DataError: a file is missing or damaged; the pickle would run code; the kind of model is not supported (LSTM,
            max pooling, character n-grams, two embedding matrices, unknown words counted); or vocabulary, embedding
            matrix and sentencepiece model do not match.
        PspError: PyTorch is not installed.
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
    # The published code looks pieces up by spelling, lower-cased again after sentencepiece's normalisation, which turns
    # some characters into capitals.
    rows = [vocabulary.get(piece.lower() if lower_case else piece) for piece in pieces]
    unused = len(vocabulary) - 1 - len(set(rows) - {None})
    if unused * 2 > len(vocabulary):
        raise DataError(
            f"{unused} of the {len(vocabulary)} pieces of its vocabulary are not in {sentencepiece_model}; "
            "name the sentencepiece model that it was trained with",
            path,
        )
    without = sum(row is None for row in rows)
    if without > _MOST_WITHOUT * len(pieces):
        raise DataError(
            f"{without} of the {len(pieces)} pieces of {sentencepiece_model} have no embedding in it; name the "
            "sentencepiece model that it was trained with",
            path,
        )
    if unused:
        log.warning("%s: %d of its embeddings have no piece in %s, and are unused", path, unused, sentencepiece_model)
    table = np.zeros((processor.get_piece_size(), weight.shape[1]), np.float32)
    rows_by_id = [(number, row) for number, row in zip(numbers, rows, strict=True) if row is not None]
    rows_by_id.append((processor.unk_id(), vocabulary[UNKNOWN]))
    ids, of_ids = np.array(rows_by_id).T
    table[ids] = weight[of_ids]
    excluded_ids = [number for number, row in zip(numbers, rows, strict=True) if row is None]
    config = {"lower_case": lower_case, "left_out": excluded_ids, "unknown_alone": True, "imported_from": path.name}
    return Imported(table, config)


def _unpickle(path: Path) -> Any:
    with from_extra("train", f"{path} is a torch pickle, and torch is not installed"):
        import torch
    try:
        with open_regular(path):
            pass
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            # Memory-mapped if possible, so that the optimizer's state is never read.
            return torch.load(path, map_location="cpu", weights_only=True, mmap=_can_be_mapped(path))
    except Exception as error:  # its class depends on where the file is truncated
        # Do not pass on PyTorch's advice to load it anyway.
        match = re.search(r"GLOBAL (\S+)", str(error)) if isinstance(error, pickle.UnpicklingError) else None
        if match:
            problem = f"holds {match[1]}, which may run code; nothing was run; no published checkpoint holds it"
        else:
            problem = f"not a torch pickle, or truncated or damaged ({type(error).__name__}); fetch it again"
        raise DataError(problem, path) from None


def _can_be_mapped(path: Path) -> bool:
    """Whether it is a zip with uncompressed members: torch maps deflated ones too, but as wrong numbers."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return all(member.compress_type == zipfile.ZIP_STORED for member in archive.infolist())


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
        raise DataError("its state_dict has no embedding matrix, embedding.weight", path)
    # A few numbers can claim any shape (strides of 0, or no numbers at all), and would fill the memory.
    plain = str(tensor.layout) == "torch.strided" and tensor.device.type == "cpu"
    if not plain or tensor.untyped_storage().nbytes() < tensor.numel() * tensor.element_size():
        raise DataError("its embedding matrix is not stored number by number; fetch it again", path)
    table = np.asarray(tensor.detach().float().numpy())
    if not usable(table):
        raise DataError("its embedding matrix holds values that are not numbers below 1e15; fetch it again", path)
    return table


def _vocabulary(source: Any, target: Any, rows: int, path: Path) -> dict[str, int]:
    if not isinstance(source, dict) or not all(
        isinstance(piece, str) and type(row) is int and 0 <= row < rows for piece, row in source.items()
    ):
        raise DataError(f"its vocabulary does not fit the embedding matrix of {rows} rows", path)
    if len(source) != rows or len(set(source.values())) != rows:
        raise DataError(
            f"its vocabulary of {len(source)} pieces does not fit the embedding matrix of {rows} rows", path
        )
    if UNKNOWN not in source:
        raise DataError(f"its vocabulary has no unknown word ({UNKNOWN})", path)
    if target is not None and target != source:
        raise DataError("it has a vocabulary for each language; only models with one for both can be imported", path)
    return source
