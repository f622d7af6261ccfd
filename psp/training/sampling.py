"""How often an epoch draws the pairs of each language, if many languages share one model.

If every pair occurs once, small languages are rare. Drawing languages in proportion to a power of their numbers of
pairs, as for multilingual language models, evens that out; an epoch keeps its length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from psp.core.logs import Progress
from psp.pairs.encoded_pairs import BLOCK_PAIRS
from psp.pairs.language_shares import language_pairs, shares


class LanguageSampling:
    """The number of pairs of each language pair in an epoch: ``n ** exponent``, scaled to keep the total.

    Each epoch draws a pair as often as its language requires, rounded down or up; which pairs are rounded up is drawn
    anew for each block and epoch.

    Attributes:
        languages: the language pairs, such as "en-fr", in alphabetical order.
        counts: how many pairs there are of each, int64, shape (language pairs,).
        drawn: how many an epoch has of each, likewise.
        block_pairs: pairs of the source in a block; the last may have fewer.
    """

    def __init__(self, pairs: Any, exponent: float, block_pairs: int = BLOCK_PAIRS) -> None:
        """Count the pairs of each language; ``pairs`` is a store (:class:`psp.pairs.store.Store`)."""
        self.languages, self._of_corpus = language_pairs(pairs.corpus_languages)
        self.block_pairs = block_pairs
        counts = _by_block(pairs, self._of_corpus, len(self.languages), block_pairs)
        self.counts = counts.sum(axis=0)
        rates = shares(self.counts, exponent) * self.counts.sum() / np.maximum(self.counts, 1)
        ends = np.vstack([np.zeros_like(self.counts), np.cumsum(counts, axis=0)])
        self._counts = np.diff(np.floor(ends * rates + 0.5).astype(np.int64), axis=0)
        self.drawn = self._counts.sum(axis=0)

    def __len__(self) -> int:
        """The pairs of an epoch."""
        return int(self.drawn.sum())

    def report(self) -> dict[str, dict[str, int]]:
        """The numbers of pairs by language pair, in total and in an epoch."""
        columns = zip(self.languages, self.counts.tolist(), self.drawn.tolist(), strict=True)
        return {name: {"pairs": pairs, "drawn": drawn} for name, pairs, drawn in columns}

    def sizes(self, blocks: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The number of pairs that an epoch has from each of these blocks."""
        return self._counts[blocks].sum(axis=1)

    def rows(self, block: int, corpus: npt.NDArray[Any], generator: np.random.Generator) -> npt.NDArray[np.int64]:
        """The rows of a block that an epoch has, some of them several times or not at all, int64 (pairs,).

        Args:
            block: its number.
            corpus: each pair's index into the corpora of the store, shape (pairs of the block,).
            generator: decides between rounding down and up.
        """
        languages = self._of_corpus[corpus]
        rows = []
        for language, wanted in enumerate(self._counts[block]):
            own = np.flatnonzero(languages == language)
            if len(own):
                rows += [own] * (wanted // len(own)) + [generator.permutation(own)[: wanted % len(own)]]
        return np.concatenate(rows) if rows else np.zeros(0, np.int64)


def language_sampling(pairs: Any, exponent: float) -> LanguageSampling | None:
    """The sampling of a store's languages; None if each pair is drawn once, as for text, which has one language."""
    if exponent == 1 or len(language_pairs(getattr(pairs, "corpus_languages", ()))[0]) < 2:
        return None
    return LanguageSampling(pairs, exponent)


def _by_block(pairs: Any, of_corpus: npt.NDArray[np.int64], languages: int, size: int) -> npt.NDArray[np.int64]:
    """The pairs of each block and language pair, int64 (blocks, languages)."""
    counts = []
    with Progress("counting languages", "pairs", len(pairs)) as progress:
        for start in range(0, len(pairs), size):
            stop = min(start + size, len(pairs))
            counts.append(np.bincount(of_corpus[pairs.corpus_of(start, stop)], minlength=languages))
            progress.add(stop - start)
    return np.array(counts, np.int64).reshape(-1, languages)
