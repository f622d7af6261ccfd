"""Sentences as ids: the one form in which a tokenizer passes them to a store, to training and to a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


def offsets_of(lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Where things of these lengths, one after another, begin, and where the last ends: 0 and the running sums."""
    lengths = np.asarray(lengths)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, dtype=np.int64, out=offsets[1:])
    return offsets


@dataclass(frozen=True)
class Encoded:
    """Encoded sentences, flat.

    Attributes:
        ids: subword ids of all sentences, one after another, shape (tokens,); int32 from a tokenizer, uint16 from a
            store of a small vocabulary.
        offsets: sentence i is ``ids[offsets[i]:offsets[i + 1]]``; int64, shape (sentences + 1,), starting at 0.
    """

    ids: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: npt.NDArray[np.int64]) -> Encoded:
        """Select the sentences ``rows``, in that order; rows may repeat."""
        if len(rows) == len(self) and np.array_equal(rows, np.arange(len(rows))):
            return self
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        offsets = offsets_of(lengths)
        places = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        return Encoded(self.ids[places], offsets)

    @staticmethod
    def join(parts: Sequence[Encoded]) -> Encoded:
        """Concatenate the sentences of ``parts``."""
        if len(parts) == 1:
            return parts[0]
        shifts = np.cumsum([0, *(part.offsets[-1] for part in parts)])
        offsets = [part.offsets[:-1] + shift for part, shift in zip(parts, shifts, strict=False)]
        return Encoded(np.concatenate([part.ids for part in parts]), np.concatenate([*offsets, shifts[-1:]]))

    def without(self, dropped: npt.NDArray[np.bool_], unknown: int) -> Encoded:
        """Remove the ids where ``dropped``, shape (tokens,), is true.

        A sentence that would lose all of its ids gets one, ``unknown``; one without ids stays so.
        """
        if not dropped.any():
            return self
        keep = ~dropped
        kept = np.diff(offsets_of(keep)[self.offsets])
        lost = (kept == 0) & (np.diff(self.offsets) > 0)
        keep[self.offsets[:-1][lost]] = True
        kept[lost] = 1
        offsets = offsets_of(kept)
        ids = self.ids[keep]
        ids[offsets[:-1][lost]] = unknown
        return Encoded(ids, offsets)

    def without_sentences_of(self, silent: npt.NDArray[np.bool_]) -> Encoded:
        """Remove all ids of the sentences that have only such ids; ``silent`` tells of each, shape (vocabulary,)."""
        starts = self.offsets[:-1]
        rows = np.flatnonzero(starts < self.offsets[1:])
        rows = rows[silent[self.ids[starts[rows]]]]  # most texts begin with another id: 2% of the time
        if not len(rows):
            return self
        some = self.take(rows)
        rows = rows[np.logical_and.reduceat(silent[some.ids], some.offsets[:-1])]
        lengths = np.diff(self.offsets)
        dropped = np.zeros(len(self), bool)
        dropped[rows] = True
        kept = self.ids[np.repeat(~dropped, lengths)]
        lengths[rows] = 0
        return Encoded(kept, offsets_of(lengths))
