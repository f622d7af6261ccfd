"""Training sentences as additional candidates in the retrieval of held-out pairs, so that errors tell models apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from psp.pairs.encoded_pairs import BLOCK_PAIRS, PairSource
from psp.text.tokenizer import Encoded
from psp.training.encoders.base import Encoder

Vectors = npt.NDArray[np.float32]


def candidate_vectors(encoder: Encoder, source: PairSource, count: int) -> Iterator[tuple[Vectors, Vectors]]:
    """Embed both sides of training pairs, in blocks at equal distances through all of them.

    No sentence of these pairs is one of a held-out pair (:mod:`psp.pairs.mix`).

    Args:
        encoder: with dropout off.
        source: the training pairs, encoded.
        count: number of pairs; all, if they are fewer.

    Yields:
        For each block the vectors of sources and targets, float32 (pairs, dim).
    """
    left = min(count, len(source))
    if not left:
        return
    starts = [int(start) for start in np.linspace(0, len(source), -(-left // BLOCK_PAIRS), endpoint=False)]
    for start, then in zip(starts, [*starts[1:], len(source)], strict=True):
        pairs = source.read(start, start + min(BLOCK_PAIRS, left, then - start))
        left -= len(pairs.source)
        source_vectors, target_vectors = (
            encoder.encode(Encoded(side.ids.astype(np.int32), side.offsets)).cpu().float().numpy()
            for side in (pairs.source, pairs.target)
        )
        yield source_vectors, target_vectors
