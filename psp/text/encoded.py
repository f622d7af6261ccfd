"""Sentences as ids: the one form in which a tokenizer passes them to a store, to training and to a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


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
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
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
        kept = _counts(keep, self.offsets)
        lost = (kept == 0) & (np.diff(self.offsets) > 0)
        keep[self.offsets[:-1][lost]] = True
        kept[lost] = 1
        offsets = np.zeros_like(self.offsets)
        np.cumsum(kept, out=offsets[1:])
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
        return Encoded(kept, np.concatenate([[0], np.cumsum(lengths)]))


def _counts(mask: npt.NDArray[np.bool_], offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Count the true elements of each sentence."""
    before = np.zeros(len(mask) + 1, np.int64)
    np.cumsum(mask, out=before[1:])
    return before[offsets[1:]] - before[offsets[:-1]]
