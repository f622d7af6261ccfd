"""Lengths, IDF, unigram entropy and overlap of sentences.

Words are those of :func:`psp.text.words.words` in lower case, where each punctuation mark is a word too, as in the
paper's tokenised text.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from psp.core.errors import DataError
from psp.core.logs import Progress
from psp.corpora.local import lines_of
from psp.text.segment import Segmenter
from psp.text.words import UNSPACED, trigram_overlap, unspaced_words, words

Values = npt.NDArray[np.float64]


def tokens_of(texts: Iterable[str], segmenter: Segmenter | None = None, language: str = "") -> list[list[str]]:
    """The lower-cased words of each text; without spaces between words, or a segmenter, its characters."""
    if segmenter is not None:
        texts = map(segmenter.segment, texts)
    split = unspaced_words if segmenter is None and language in UNSPACED else words
    return [split(text.lower()) for text in texts]


def moments(values: npt.ArrayLike) -> dict[str, float] | None:
    """Mean and standard deviation (population); None without values."""
    numbers = np.asarray(values, np.float64)
    return {"mean": float(numbers.mean()), "std": float(numbers.std())} if numbers.size else None


def entropy(counts: npt.ArrayLike) -> float:
    """The entropy in nats of a distribution given by counts: - sum p ln p."""
    numbers = np.asarray(counts, np.float64)
    shares = numbers[numbers > 0] / max(numbers.sum(), 1)
    return max(0.0, -float((shares * np.log(shares)).sum()))  # not -0


@dataclass(frozen=True)
class Frequencies:
    """In how many sentences words occur.

    Attributes:
        sentences: all of them.
        counts: for a word the sentences that hold it; words without a count are taken to be in one.
    """

    sentences: int
    counts: Mapping[str, int]


class MeasuredSentences:
    """Sentences as words.

    Args:
        tokens: the words of each.

    Attributes:
        types: the distinct words.
        lengths: words of each sentence.
        tokens: all words.
    """

    def __init__(self, tokens: Sequence[Sequence[str]]) -> None:
        ids: defaultdict[str, int] = defaultdict(itertools.count().__next__)
        self._ids = np.fromiter(map(ids.__getitem__, itertools.chain.from_iterable(tokens)), np.int32)
        self.lengths = np.fromiter(map(len, tokens), np.int64, len(tokens))
        self.types, self.tokens = list(ids), len(self._ids)

    def entropy(self) -> float:
        """The unigram entropy in nats."""
        return entropy(np.bincount(self._ids, minlength=len(self.types)))

    def frequencies(self) -> npt.NDArray[np.int64]:
        """The number of sentences that hold each type."""
        sentence = np.repeat(np.arange(len(self.lengths)), self.lengths)
        # Sorted here, since recent versions of np.unique hash, which took seconds for 2.2 million of these.
        held = np.sort(sentence * len(self.types) + self._ids)
        once = held[np.diff(held, prepend=-1) > 0]
        return np.bincount(once % max(len(self.types), 1), minlength=len(self.types))

    def idf(self, others: Frequencies | None = None) -> Values:
        """The mean IDF of each sentence's words, repeated ones included: ln(sentences / sentences with the word).

        Args:
            others: where the frequencies come from; None for these sentences themselves.
        """
        if others is None:
            total, counts = len(self.lengths), self.frequencies()
        else:
            total = others.sentences
            counts = np.array([max(others.counts.get(word, 1), 1) for word in self.types], np.int64)
        idf = np.log(total / counts)[self._ids]
        ends = np.cumsum(self.lengths)
        sums = np.diff(np.concatenate([[0.0], np.cumsum(idf)])[np.concatenate([[0], ends])])
        held = self.lengths > 0
        return sums[held] / self.lengths[held]


def frequencies_of(
    path: Path, wanted: frozenset[str], segmenter: Segmenter | None = None, language: str = ""
) -> Frequencies:
    """Count in how many sentences of a file, one a line, wanted words occur; memory does not grow with the file.

    Raises:
        DataError: the file cannot be read, is not UTF-8, or has no sentences.
    """
    counts: Counter[str] = Counter()
    sentences = 0
    with Progress(f"counting words of {path.name}", "sentences") as bar:
        for line in lines_of(path):
            if words_of_line := tokens_of([line], segmenter, language)[0]:
                counts.update(wanted.intersection(words_of_line))
                sentences += 1
            bar.add()
    if not sentences:
        raise DataError("no sentences; write one a line", path)
    return Frequencies(sentences, counts)


def overlaps(source: Sequence[Sequence[str]], target: Sequence[Sequence[str]]) -> Values:
    """The trigram overlap of each pair, in the paper's form (:func:`psp.text.words.trigram_overlap`)."""
    pairs = zip(source, target, strict=True)
    return np.fromiter((trigram_overlap(one, other) for one, other in pairs), np.float64, len(source))


def side(texts: Sequence[str], sentences: MeasuredSentences) -> dict[str, Any]:
    """The statistics of one side of a corpus, except its IDF."""
    return {
        "words": moments(sentences.lengths),
        "characters": moments(np.fromiter(map(len, texts), np.int64, len(texts))),
        "bytes": moments(np.fromiter((len(text.encode()) for text in texts), np.int64, len(texts))),
        "tokens": sentences.tokens,
        "types": len(sentences.types),
        "entropy": sentences.entropy(),
    }
