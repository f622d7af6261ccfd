"""One embedding for a punctuation mark, with or without a space before it.

sentencepiece marks a space by U+2581, so that ``.`` and ``▁.`` are two pieces, or ``▁`` and ``.`` if the second is not
a piece: "ankle ." and "ankle." have different vectors, which harms text tokenised for other programs. Training reads
such pieces as one and skips the lone mark; in the model both have the same row, and the lone mark zeros, so that every
program that reads the model does the same.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from psp.pairs.encoded_pairs import ChangedPairs, PairSource
from psp.text.tokenizer import Encoded, offsets_of

_MARK = "\N{LOWER ONE EIGHTH BLOCK}"


class Spacing:
    """The pieces that differ only by a space before a punctuation mark.

    Args:
        pieces: all, by their ids.

    Attributes:
        same: for each piece the one that it is read as, int32 (pieces,): mostly itself.
        lone: the id of the mark of a space alone; None if the vocabulary has none.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        places = {piece: row for row, piece in enumerate(pieces)}
        self.same = np.arange(len(pieces), dtype=np.int32)
        for piece, row in places.items():
            bare = piece.removeprefix(_MARK)
            if bare != piece and bare and unicodedata.category(bare[0]).startswith("P") and bare in places:
                self.same[row] = places[bare]
        self.lone = places.get(_MARK)

    def read(self, sentences: Encoded) -> Encoded:
        """Sentences as training reads them; one with only lone marks keeps them."""
        ids = self.same[sentences.ids]
        if self.lone is None or not (dropped := ids == self.lone).any():
            return Encoded(ids, sentences.offsets)
        before = offsets_of(dropped)
        starts, ends = sentences.offsets[:-1], sentences.offsets[1:]
        for row in np.flatnonzero(before[ends] - before[starts] == ends - starts):
            dropped[starts[row] : ends[row]] = False
        before = offsets_of(dropped)
        return Encoded(ids[~dropped], (sentences.offsets - before[sentences.offsets]).astype(sentences.offsets.dtype))

    def pairs(self, pairs: PairSource) -> PairSource:
        """Pairs whose sentences are read this way."""
        return ChangedPairs(
            pairs, lambda block, _: block._replace(source=self.read(block.source), target=self.read(block.target))
        )

    def fill(self, table: npt.NDArray[np.float32]) -> None:
        """Fill in the rows that no sentence reads, in place.

        Args:
            table: float32 (pieces, dim).
        """
        others = np.flatnonzero(self.same != np.arange(len(self.same)))
        table[others] = table[self.same[others]]
        if self.lone is not None:
            table[self.lone] = 0
