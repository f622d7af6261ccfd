"""The table before training: drawn at random, or taken over from a model that there is."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from torch import Tensor

from psp.errors import ConfigError, DataError
from psp.model import Model
from psp.training.encoder import normal_table
from psp.training.settings import TrainSettings

log = logging.getLogger(__name__)


def initial_table(
    pieces: list[str], settings: TrainSettings, init_from: Path | None
) -> tuple[Tensor, dict[str, Any] | None]:
    """The initial table, float32 on the CPU, and what was taken over (None without ``init_from``).

    Rows are taken over by the piece's text, whatever its number in either vocabulary; a piece that the other model
    lacks keeps the row that ``init`` gives it.

    Raises:
        ConfigError: the other model has another width.
    """
    table = normal_table(len(pieces), settings.dim, settings.seed)
    if init_from is None:
        return table, None
    other = Model.load(init_from)
    if other.dim != settings.dim:
        raise ConfigError(
            f"train.dim: {settings.dim} is not the {other.dim} of init_from: {init_from}. "
            f"Write `dim: {other.dim}`, or leave init_from out"
        )
    places = {piece: row for row, piece in enumerate(vocabulary(other.sentencepiece))}
    shared = [(row, places[piece]) for row, piece in enumerate(pieces) if piece in places]
    if not shared:
        raise DataError("shares no piece with the new vocabulary; leave init_from out", init_from)
    mine, theirs = (torch.tensor(rows) for rows in zip(*shared, strict=True))
    table[mine] = torch.from_numpy(other.weight[theirs.numpy()])
    log.info("took over the rows of %d of %d pieces from %s", len(shared), len(pieces), init_from)
    return table, {"pieces": len(pieces), "taken_over": len(shared)}


def vocabulary(processor: sentencepiece.SentencePieceProcessor) -> list[str]:
    """The pieces by their ids."""
    return [processor.id_to_piece(row) for row in range(processor.get_piece_size())]
