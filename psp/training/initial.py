"""The embeddings before training: drawn at random, or copied from an existing model."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from psp.config.blocks.training import TrainSettings
from psp.core.errors import ConfigError, DataError
from psp.models.static import StaticModel
from psp.models.word_vectors import read_vectors
from psp.pairs.encoded_pairs import PairSource, count_pieces
from psp.text.tokenizer import Tokenizer
from psp.training.encoders.mean import normal_table
from psp.training.piece_vectors import mix_in, read_piece_vectors
from psp.training.spelling import spelled_rows

log = logging.getLogger(__name__)

#: An encoder's vectors are divided along each principal component by the standard deviation to this power: 1 whitens
#: them, 0 leaves them unchanged. Chosen on development data.
WHITENING = 0.5


def initial_table(
    tokenizer: Tokenizer,
    settings: TrainSettings,
    init_from: Path | None,
    source: PairSource,
    init_vectors: Path | None = None,
    piece_vectors: Path | None = None,
) -> tuple[Tensor, dict[str, Any] | None]:
    """Return the initial embedding table, float32 on the CPU, and how much was copied (None without a source).

    ``init: zipf`` reads all pairs once, to count their pieces. ``init_scale`` multiplies what is drawn, not what is
    copied. Another encoder's vectors of the pieces (:mod:`psp.training.piece_vectors`) have their share beside both.

    Embeddings are copied by the piece's text, whatever its id in either vocabulary; pieces that the other model lacks
    keep the embedding that ``init`` gave them. Words are looked up in ``init_vectors`` as they are.

    Raises:
        ConfigError: the other model, or the file of word vectors, has another number of dimensions; or
            ``init_spelling`` is not for these pieces.
        DataError: they share no piece with the vocabulary, or cannot be read; or the file has a word twice, or text
            that is not UTF-8.
    """
    pieces, spellings = tokenizer.pieces(), tokenizer.spellings()
    table = normal_table(len(pieces), settings.dim, settings.seed)
    if share := settings.init_spelling:
        if spellings is None:
            raise ConfigError(
                f"train.init_spelling: {share} is not allowed for {tokenizer.pieces_called}, whose spelling is not "
                "informative. Write `init_spelling: 0`"
            )
        spelled, there = spelled_rows(spellings, settings.dim, settings.seed)
        spelled *= np.float32(share**0.5)
        spelled += np.float32((1 - share) ** 0.5) * table.numpy()
        table[torch.from_numpy(there)] = torch.from_numpy(spelled[there])
    if piece_vectors is not None:
        rows, vectors = read_piece_vectors(piece_vectors, pieces)
        share = settings.init_encoder_share
        mix_in(table.numpy(), rows, vectors, share=share, whitening=WHITENING, seed=settings.seed)
    if settings.init == "zipf":
        counts = count_pieces(source, len(pieces))
        frequency = counts / max(counts.sum(), 1)
        table *= torch.from_numpy(settings.init_smoothing / (settings.init_smoothing + frequency)).float()[:, None]
    table *= settings.init_scale
    if init_vectors is not None:
        known = read_vectors(init_vectors, vocabulary=set(pieces), strict=True)
        return table, _copy_rows(table, pieces, known.index, known.vectors, "init_vectors", init_vectors)
    if init_from is not None:
        other = StaticModel.load(init_from)
        places = {piece: row for row, piece in enumerate(other.tokenizer.pieces())}
        return table, _copy_rows(table, pieces, places, other.weight, "init_from", init_from)
    return table, None


def _copy_rows(
    table: Tensor,
    pieces: list[str],
    places: Mapping[str, int],
    vectors: npt.NDArray[np.float32],
    key: str,
    path: Path,
) -> dict[str, Any]:
    """Copy the vectors of pieces, which are at these places, into the table, in place."""
    dim = vectors.shape[1]  # of embeddings: an LSTM's vectors may have another number
    if dim != table.shape[1]:
        raise ConfigError(
            f"train.dim: {table.shape[1]} is not the {dim} of {key}: {path}. Write `dim: {dim}`, or leave {key} out"
        )
    shared = [(row, places[piece]) for row, piece in enumerate(pieces) if piece in places]
    if not shared:
        raise DataError(f"shares no piece with the new vocabulary; leave {key} out", path)
    mine, theirs = np.array(shared).T
    table[torch.from_numpy(mine)] = torch.from_numpy(vectors[theirs])
    log.info("copied the rows of %d of %d pieces from %s", len(shared), len(pieces), path)
    return {"pieces": len(pieces), "taken_over": len(shared)}
