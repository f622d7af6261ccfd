"""Counting word pairs by sparse matrix products, in memory: the fast way for small corpora.

With R and T, matrices (sentences, words) of ones, R'T counts words across the sides, R'R and T'T within them. All of
103,545 pairs of sentences take two seconds on one core. Memory grows with the number of distinct pairs of words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from psp.pairs.lexicon.pmi import Counts, JointCounts
from psp.pairs.lexicon.sentences import Sentences

#: Occurrences of pairs of words: up to this many are counted here, in a process of at most 800 MB.
MOST_PRODUCTS = 1 << 25


def count(sentences: Sentences, least: int, asked: tuple[Counts, Counts], *, symmetric: bool) -> Iterator[JointCounts]:
    """Count the pairs of words: those seen at least ``least`` times and, last, those requested.

    Args:
        sentences: the sentences.
        least: see above.
        asked: numbers of words, int64 (n,): the first and the second of each requested pair.
        symmetric: the pairs are paraphrases. Each pair of two different words comes once then, the larger number first.
    """
    (block,) = sentences.blocks(max(1, sentences.pairs))
    one, other = block.matrices(sentences.words)
    across = (one.T @ other).tocsr()
    insides = []
    if symmetric:
        across = (across + across.T).tocsr()
        insides = [(side.T @ side).tocsr() for side in (one, other)]

    def at(table: Any, first: Counts, second: Counts) -> Counts:
        return np.asarray(table[first, second], np.int64).reshape(len(first)) if len(first) else first

    def joint(first: Counts, second: Counts) -> JointCounts:
        within = np.stack([at(side, first, second) for side in insides]) if symmetric else None
        return JointCounts(first, second, at(across, first, second), within)

    entries = across.tocoo()
    kept = entries.data >= least
    if symmetric:
        kept &= entries.row > entries.col
    yield joint(entries.row[kept].astype(np.int64), entries.col[kept].astype(np.int64))
    yield joint(*asked)
