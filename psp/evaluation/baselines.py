"""Untrained baselines, which a trained model has to beat.

- ``untrained``: the model's own subwords with random N(0, 1) embeddings. It compares texts by the pieces they share,
  which is a strong baseline: 52 mean Pearson on STS 2012-2016, where trained models reach 65 to 70.
- ``untrained+sif``: the same, each embedding weighted by a / (a + p(piece)), a = 1e-3 (smooth inverse frequency, Arora
  et al. 2017), with p counted over the training store. It reaches 64: a trained model below this has learned little.
- ``word-overlap``: cosine of the two sets of lower-cased words, without any model.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from psp.evaluation.scorers import EmbeddingScorer, Floats, Scorer
from psp.models.static import StaticModel
from psp.pairs.encoded_pairs import count_pieces
from psp.pairs.store import Store
from psp.text.tokenizer import Tokenizer
from psp.text.words import words as split_words

#: Arora, Liang and Ma (2017) recommend 1e-4 to 1e-3.
SIF_A = 1e-3


class WordOverlap:
    """Cosine of binary bags of lower-cased words, counting punctuation marks as words; 0 for a text without words.

    Words are separated by white space and punctuation, so unsegmented Chinese is compared by whole clauses.
    """

    def pairwise(self, a: Sequence[str], b: Sequence[str]) -> Floats:
        if len(a) != len(b):
            raise ValueError(f"{len(a)} texts against {len(b)}: pairwise needs as many on both sides")
        sets = [(frozenset(words(one)), frozenset(words(other))) for one, other in zip(a, b, strict=True)]
        return np.array([len(one & other) / np.sqrt(len(one) * len(other) or 1) for one, other in sets])

    def cross(self, a: Sequence[str], b: Sequence[str]) -> Floats:
        bags = _bags([*a, *b])
        one, other = bags[: len(a)], bags[len(a) :]
        # Integers until the division, so that equal similarities are bitwise equal.
        shared = np.asarray((one @ other.T).todense(), dtype=np.float64)
        sizes = np.outer(np.asarray(one.sum(axis=1)).ravel(), np.asarray(other.sum(axis=1)).ravel())
        return shared / np.sqrt(np.maximum(sizes, 1.0))


def words(text: str) -> list[str]:
    """Split into lower-cased words; every punctuation mark or symbol is a word."""
    return split_words(text.lower())


def _bags(texts: Sequence[str]) -> sparse.csr_array:
    """Make binary bags of words: int32, shape (len(texts), number of distinct words)."""
    vocabulary: dict[str, int] = {}
    bags = [sorted({vocabulary.setdefault(word, len(vocabulary)) for word in words(text)}) for text in texts]
    ends = np.cumsum([0, *map(len, bags)])
    ids = np.array([word for bag in bags for word in bag], dtype=np.int32)
    return sparse.csr_array((np.ones(len(ids), dtype=np.int32), ids, ends), shape=(len(texts), len(vocabulary)))


def piece_counts(store: Path | str, tokenizer: Tokenizer | Path) -> npt.NDArray[np.int64]:
    """Count each piece in both sides of a training store, shape (pieces,), in constant memory.

    Raises:
        DataError: the store cannot be read, or was encoded with another tokenizer.
    """
    with Store(store) as pairs:
        pairs.check_vocabulary(tokenizer)
        return count_pieces(pairs, pairs.vocab_size)


def sif_weights(counts: npt.NDArray[np.int64], a: float = SIF_A) -> npt.NDArray[np.float32]:
    """Return a / (a + p(piece)) for each piece: 1 if it never occurs, near 0 for the most frequent ones."""
    return (a / (a + counts / counts.sum())).astype(np.float32)


def random_table(pieces: int, dim: int, seed: int) -> npt.NDArray[np.float32]:
    """Draw from N(0, 1): float32, shape (pieces, dim)."""
    return np.random.default_rng(seed).standard_normal((pieces, dim), dtype=np.float32)


def untrained(model: StaticModel, table: np.ndarray) -> Scorer:
    """Replace the embedding matrix of ``model``, keeping its subwords, lower-casing and segmentation."""
    return EmbeddingScorer(StaticModel(table, model.tokenizer, model.config, threads=model.threads))
