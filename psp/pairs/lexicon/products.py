"""Counting word pairs by sparse matrix products.

With R and T, matrices (sentences, words) of ones, R'T counts words across the sides, R'R and T'T within them. The
products of some rows at a time are made, those of words that follow one another by frequency, so that memory grows with
the sentences alone: 16 bytes for each word of each, and 1 GB.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from psp.core.logs import Progress
from psp.pairs.lexicon.pmi import Counts, JointCounts
from psp.pairs.lexicon.sentences import Sentences

#: Occurrences of pairs of words that are counted at a time, unless one word has more.
MOST_PRODUCTS = 1 << 25


def count(
    sentences: Sentences, least: int, asked: tuple[Counts, Counts], *, symmetric: bool, most: int = MOST_PRODUCTS
) -> Iterator[JointCounts]:
    """Count the pairs of words: those seen at least ``least`` times and, last, those requested.

    Args:
        sentences: the sentences.
        least: see above.
        asked: numbers of words, int64 (n,): the first and the second of each requested pair.
        symmetric: the pairs are paraphrases. Each pair of two different words comes once then, the larger number first.
        most: occurrences of pairs of words that are counted at a time. It does not change the result.
    """
    rows = sentences.matrices()
    columns = [side.tocsc() for side in rows]
    orders = [(0, 1), (1, 0)] if symmetric else [(0, 1)]
    sizes = [np.diff(side.indptr).astype(np.int64) for side in rows]
    work = np.cumsum(sum(columns[one].T @ sizes[other] for one, other in orders))
    start = 0
    with Progress("lexicon: counting pairs of words", "words", len(work)) as bar:
        while start < len(work):
            end = int(np.searchsorted(work, (work[start - 1] if start else 0) + most, side="right"))
            end = max(end, start + 1)
            some = [side[:, start:end].T for side in columns]
            # Words are numbered from the most frequent on: a pair of paraphrases belongs to the rarer word's row.
            others = [side[:, :end] for side in rows] if symmetric else rows
            across = sum(some[one] @ others[other] for one, other in orders).tocoo()
            kept = across.data >= least
            if symmetric:
                kept &= across.row + start > across.col
            first, second = across.row[kept], across.col[kept].astype(np.int64)
            found = across.data[kept].astype(np.int64)
            del across
            within = None
            if symmetric:
                within = np.stack([_at(one @ other, first, second) for one, other in zip(some, others, strict=True)])
            yield JointCounts(first.astype(np.int64) + start, second, found, within)
            bar.add(end - start)
            start = end
    one, other = asked
    found = _together(columns[0][:, one], columns[1][:, other])
    within = None
    if symmetric:
        found = found + _together(columns[0][:, other], columns[1][:, one])
        within = np.stack([_together(side[:, one], side[:, other]) for side in columns])
    yield JointCounts(one, other, found, within)


def _at(table: Any, first: Counts, second: Counts) -> Counts:
    """The entries of a matrix at some places."""
    table.sort_indices()  # each entry of a row is found by halving then
    return np.asarray(table[first, second], np.int64).reshape(len(first)) if len(first) else np.zeros(0, np.int64)


def _together(one: Any, other: Any) -> Counts:
    """How many sentences hold both words, int64 (n,), of matrices (sentences, n)."""
    return np.asarray(one.multiply(other).sum(axis=0), np.int64).ravel()
