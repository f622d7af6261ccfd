"""Which pairs of a mini-batch must not be each other's negatives, under an objective that compares all of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from psp.core.jit import compiled
from psp.pairs.encoded_pairs import Pairs
from psp.training.negatives.mining import text_hashes


def masked(pairs: Pairs, rows: npt.NDArray[np.int64], mask_equal: bool) -> npt.NDArray[np.bool_]:
    """Whether two pairs of a mini-batch must not be each other's negatives: bool (n, n), false on the diagonal.

    Masked are pairs of the other kind, as in mining: for a French sentence, an English one's paraphrase would be
    a candidate of the wrong language. So are, with ``mask_equal``, pairs that share a text, on whichever sides.

    Args:
        pairs: the mega-batch.
        rows: the mini-batch's pairs of it, int64, shape (n,).
        mask_equal: as in :class:`~psp.training.negatives.mining.Excluded`.
    """
    kinds = pairs.paraphrase[rows]
    mask = np.zeros((len(rows), len(rows)), np.bool_)
    if kinds.any() and not kinds.all():
        np.not_equal(kinds[:, None], kinds, out=mask)
    if mask_equal:
        whole = len(rows) == len(pairs) and bool((rows == np.arange(len(pairs))).all())
        chosen = pairs if whole else pairs.take(rows)
        keys = np.concatenate([text_hashes(chosen.source), text_hashes(chosen.target)])
        _mask_equal(keys, np.argsort(keys), mask)
    np.fill_diagonal(mask, False)
    return mask


def without_negative(mask: npt.NDArray[np.bool_]) -> int:
    """Sentences of a mini-batch, two of a pair, whose every candidate but their own is masked: they have no loss."""
    others = len(mask) - 1
    if others and not mask.any():
        return 0
    return int(sum((np.count_nonzero(mask, axis=axis) == others).sum() for axis in (0, 1)))


@compiled(parallel=False)
def _mask_equal(keys, order, masked):  # type: ignore[no-untyped-def]
    """Mask the columns of pairs that have a text of the row's; texts are the pairs' sources, then their targets."""
    pairs = len(masked)
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and keys[order[stop]] == keys[order[start]]:
            stop += 1
        for first in range(start, stop):
            for second in range(start, stop):
                masked[order[first] % pairs, order[second] % pairs] = True
        start = stop
