"""The negatives of a mini-batch under InfoNCE.

A source's candidates are the mini-batch's targets and, if negatives were mined, those of all its sources: a sentence
that is hard for one anchor is often hard for others too, and its vector is computed anyway. Likewise for targets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from psp.core.jit import compiled
from psp.pairs.encoded_pairs import Pairs
from psp.training.negatives.mining import Negatives, text_hashes


@dataclass(frozen=True)
class Candidates:
    """The candidates of a mini-batch of n pairs besides its own sentences, and which of all are masked.

    Attributes:
        source: extra negatives of all sources, by their numbers among the mega-batch's sentences as in
            :class:`~psp.training.negatives.mining.Negatives`; distinct, int64, shape (k,).
        target: those of all targets, likewise, shape (l,).
        masked: bool, shape (n, n + k + l): whether a column must not be a negative of pair i; the columns are the
            mini-batch's pairs, then the extra sources, then the extra targets. False on the diagonal.
    """

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    masked: npt.NDArray[np.bool_]

    @property
    def without_negative(self) -> int:
        """Anchors of the mini-batch whose every candidate but their own is masked: they have no loss."""
        return int(_without_negative(self.masked, len(self.source)))


def candidates(pairs: Pairs, rows: npt.NDArray[np.int64], negatives: Negatives | None, mask_equal: bool) -> Candidates:
    """The candidates of a mini-batch.

    Masked are pairs of the other kind, as in mining: for a French sentence, an English one's paraphrase would be
    a candidate of the wrong language. So are sentences of the own pair, and with ``mask_equal`` those of a pair
    with which it shares a text, on whichever sides: what was mined for one anchor may be another's translation.

    Args:
        pairs: the mega-batch.
        rows: the mini-batch's pairs of it, int64, shape (n,).
        negatives: those of the mega-batch; None = there are no extra negatives.
        mask_equal: as in :class:`~psp.training.negatives.mining.Excluded`.
    """
    of_source = of_target = np.zeros(0, np.int64)
    if negatives is not None:
        # The mini-batch's targets are always candidates of every source, its sources of every target.
        of_source = _distinct(negatives.source[rows], rows + len(pairs))
        of_target = _distinct(negatives.target[rows], rows)
    numbers = np.concatenate([rows, of_source % len(pairs), of_target % len(pairs)])
    kinds = pairs.paraphrase[numbers]
    masked = np.zeros((len(rows), len(numbers)), np.bool_)
    if kinds.any() and not kinds.all():
        np.not_equal(kinds[: len(rows), None], kinds, out=masked)
    masked[:, len(rows) :] |= rows[:, None] == numbers[len(rows) :]
    if mask_equal:
        whole = len(numbers) == len(pairs) and bool((numbers == np.arange(len(pairs))).all())
        chosen = pairs if whole else pairs.take(numbers)
        keys = np.concatenate([text_hashes(chosen.source), text_hashes(chosen.target)])
        _mask_equal(keys, np.argsort(keys), masked)
    np.fill_diagonal(masked, False)
    return Candidates(of_source, of_target, masked)


@compiled(parallel=False)
def _without_negative(masked, sources):  # type: ignore[no-untyped-def]
    pairs, columns = masked.shape
    count = 0
    for i in range(pairs):  # most have a candidate that is not masked among the first
        alone = True
        for j in range(pairs + sources):
            if j != i and not masked[i, j]:
                alone = False
                break
        count += alone
        alone = True
        for j in range(pairs):
            if j != i and not masked[j, i]:
                alone = False
                break
        if alone:
            for j in range(pairs + sources, columns):
                if not masked[i, j]:
                    alone = False
                    break
        count += alone
    return count


@compiled(parallel=False)
def _mask_equal(keys, order, masked):  # type: ignore[no-untyped-def]
    """Mask the columns of pairs that have a text of the row's; texts are the pairs' sources, then their targets."""
    rows, columns = masked.shape
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and keys[order[stop]] == keys[order[start]]:
            stop += 1
        for first in range(start, stop):
            row = order[first] % columns
            if row < rows:
                for second in range(start, stop):
                    masked[row, order[second] % columns] = True
        start = stop


def _distinct(numbers: npt.NDArray[np.int64], present: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Each number once, in ascending order, without -1 (none) and those already present."""
    return np.setdiff1d(numbers[numbers >= 0], present)
