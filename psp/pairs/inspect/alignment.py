"""Decide from words alone whether the sides of a corpus are translations: no encoder, no dictionary, any languages.

Words that translate one another occur in the same pairs. Their counts come from the samples of all corpora of two
languages; then each pair is compared with its source and another target of the same length. In correct pairs, the own
target has more words that match the source's: in 95 to 100% of pairs in the sample's corpora of five languages. In
wrong pairs, in 50%.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from psp.core.errors import from_extra
from psp.pairs.filters.language import as_identified
from psp.pairs.inspect.reading import Sampled
from psp.text.words import words

if TYPE_CHECKING:
    from scipy import sparse

#: Fewer pairs of two languages, in all corpora together, say too little about which words match.
LEAST_PAIRS = 1000
#: Pairs of a corpus that are compared with exchanged ones.
COMPARED = 1000
#: Words of a side that are compared, and characters of a word: the beginning says as much as the whole, and
#: inflected forms count together.
MOST_WORDS, PREFIX = 60, 5
#: In text written without spaces, two characters in a row are a word.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af]"
)

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class Fit(NamedTuple):
    """How well the words of pairs fit.

    Attributes:
        pairs: the number of pairs compared.
        own: the share whose own target fits better than an exchanged one of the same length; ties count half.
        before, after: the share that fits the target of the pair before, or after, better than its own by half.
        worst: pairs that fit worst, as indices of the sample.
    """

    pairs: int
    own: float
    before: float
    after: float
    worst: list[int]

    @property
    def doubtful(self) -> float:
        """The share of pairs that fit no better than exchanged ones: these win half of the comparisons."""
        return min(max(2 * (1 - self.own), 0.0), 1.0)


def pieces(text: str) -> list[str]:
    """The words of a text in the form compared: beginnings of words in lower case, distinct and sorted."""
    parts: list[str] = []
    for word in words(as_identified(text), marks=False)[:MOST_WORDS]:
        if _UNSPACED.search(word):
            parts += [word[place : place + 2] for place in range(min(len(word) - 1, MOST_WORDS))] or [word]
        else:
            parts.append(word[:PREFIX])
    return sorted(set(parts[:MOST_WORDS]))


class _Column(NamedTuple):
    """Words of texts as flat indices and offsets."""

    words: Indices
    starts: Indices

    @classmethod
    def of(cls, texts: Sequence[str], known: dict[str, int], *, grow: bool = True) -> _Column:
        numbers: list[int] = []
        starts = [0]
        for text in texts:
            if grow:
                numbers += [known.setdefault(word, len(known)) for word in pieces(text)]
            else:
                numbers += [known.get(word, -1) for word in pieces(text)]
            starts.append(len(numbers))
        return cls(np.array(numbers, np.int64), np.array(starts, np.int64))

    def take(self, rows: Indices) -> _Column:
        sizes = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes) + np.repeat(self.starts[:-1][rows], sizes)
        return _Column(self.words[places], starts)

    def matrix(self, words: int) -> sparse.csr_matrix:
        from scipy import sparse

        ones = np.ones(len(self.words), np.float32)
        return sparse.csr_matrix((ones, self.words, self.starts), shape=(len(self.starts) - 1, words))


class AlignedWords:
    """Which words of two languages occur together, counted in pairs.

    Args:
        pairs: those of all corpora in these languages.
    """

    def __init__(self, pairs: Sequence[Sampled]) -> None:
        with from_extra("train", "inspecting a corpus needs scipy"):
            import scipy  # noqa: F401
        self._source: dict[str, int] = {}
        self._target: dict[str, int] = {}
        self.enough = len(pairs) >= LEAST_PAIRS
        if not self.enough:
            return
        one = _Column.of([pair.source for pair in pairs], self._source)
        other = _Column.of([pair.target for pair in pairs], self._target)
        self._pairs = len(pairs)
        self._in_source = np.bincount(one.words, minlength=len(self._source)).astype(np.float64)
        self._in_target = np.bincount(other.words, minlength=len(self._target)).astype(np.float64)
        both = (one.matrix(len(self._source)).T @ other.matrix(len(self._target))).tocoo()
        # A single co-occurrence proves nothing; nine tenths occur once.
        often = both.data > 1
        keys = both.row[often].astype(np.int64) * len(self._target) + both.col[often]
        order = np.argsort(keys)
        self._keys, self._counts = keys[order], both.data[often][order].astype(np.float64)

    def fit(self, pairs: Sequence[Sampled]) -> Fit | None:
        """Compare pairs, which were among those counted, with shuffled ones; None if they are too few.

        A pair's own occurrence does not count for it.
        """
        chosen = [index for index, pair in enumerate(pairs) if pair.source and pair.target][:COMPARED]
        if not self.enough or len(chosen) < 2 or not len(self._keys):
            return None
        some = [pairs[index] for index in chosen]
        source = _Column.of([pair.source for pair in some], self._source, grow=False)
        own = _Column.of([pair.target for pair in some], self._target, grow=False)
        # Each target goes to a pair whose target is about as long: the length must not give it away.
        order = np.argsort([len(pair.target) for pair in some], kind="stable")
        exchanged = np.empty(len(some), np.int64)
        exchanged[order] = np.roll(order, min(7, len(some) // 2))
        scores = self._score(source, own, own=True)
        other = self._score(source, own.take(exchanged), own=False)
        beside = [
            self._score(source, _Column.of(column, self._target, grow=False), own=False)
            for column in ([pair.before for pair in some], [pair.after for pair in some])
        ]
        wins = float((scores > other).mean() + (scores == other).mean() / 2)
        before, after = (float((shifted > 1.5 * scores + 0.02).mean()) for shifted in beside)
        worst = np.lexsort((np.arange(len(some)), scores - other)).tolist()
        return Fit(len(some), wins, before, after, [chosen[index] for index in worst])

    def _score(self, source: _Column, target: _Column, *, own: bool) -> Array:
        """For each pair, the mean over the target's words (rare ones weigh more) of the best association with one.

        The association of two words is the cosine of their occurrences, less what chance gives.
        """
        rows = len(source.starts) - 1
        sizes, others = np.diff(source.starts), np.diff(target.starts)
        links = sizes * others
        begins = np.repeat(np.cumsum(links) - links, links)
        place = np.arange(int(links.sum())) - begins
        width = np.repeat(others, links)
        ones = source.words[np.repeat(source.starts[:-1], links) + place // np.maximum(width, 1)]
        at = np.repeat(target.starts[:-1], links) + place % np.maximum(width, 1)
        twos = target.words[at]
        keys = np.where(twos >= 0, ones * len(self._target) + twos, -1)
        places = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        together = np.where(self._keys[places] == keys, self._counts[places], 0) - own
        in_source, in_target = self._in_source[ones] - 1, self._in_target[twos] - own
        chance = in_source * in_target / self._pairs
        norm = np.sqrt(np.maximum(in_source * in_target, 1))
        strength = np.where(together > 1, np.maximum(together - 0.5 - chance, 0) / norm, 0)
        best = np.zeros(len(target.words))
        np.maximum.at(best, at, strength)
        weight = np.log(self._pairs / np.maximum(self._in_target[target.words], 1))
        weight[target.words < 0] = np.log(self._pairs)
        row = np.repeat(np.arange(rows), others)
        total = np.bincount(row, weight, rows)
        return np.bincount(row, best * weight, rows) / np.maximum(total, 1e-9)
