"""The sentences in which a lexicon is counted: the pairs used, and the numbers of their words.

A sentence counts as the set of its words, no matter how often a word occurs in it (type counts). Words are the runs of
letters and digits of :func:`psp.text.word_tokenizer.split_words`, lower-cased; punctuation marks count towards the
length of a sentence, but are not words.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from psp.core.errors import ConfigError, DataError
from psp.core.logs import Progress
from psp.pairs.pair_file import BLOCK_BYTES, SCORED, blocks, columns_of, own_layout
from psp.pairs.vocabulary import counted
from psp.text.tokenizer import Encoded
from psp.text.word_tokenizer import WordTokenizer, split_words

T = TypeVar("T")

Ids = npt.NDArray[np.int32]
Counts = npt.NDArray[np.int64]


class SentenceSource(NamedTuple):
    """A corpus: its name, and its pair file."""

    label: str
    path: Path


class LexiconLimits(NamedTuple):
    """Which pairs are used.

    Attributes:
        within_length: the most words of a side, punctuation marks included; None for any number.
        min_score: the lowest score, which the third column then holds; None: there need be none.
    """

    within_length: int | None
    min_score: float | None


class LexiconWords(NamedTuple):
    """The words of one vocabulary, the most frequent first, and their lookup; id 0 is the first."""

    words: list[str]
    tokenizer: WordTokenizer


def read(source: SentenceSource, limits: LexiconLimits) -> Iterator[tuple[list[str], list[str], int]]:
    """Yield both sides of a corpus, lower-cased, in blocks, and how many of the block's pairs had too low a score.

    Raises:
        DataError: the file is missing or malformed, or has no scores though there is a lowest one.
    """
    path = source.path
    layout = own_layout(path)
    if limits.min_score is not None:
        if layout.columns != SCORED.columns:
            raise DataError(
                "has no scores, a third column, but min_score asks for them; leave min_score out, or score the pairs",
                path,
            )
        layout = SCORED
    for number, block in blocks(path, BLOCK_BYTES):
        first, second, *third = columns_of(block, path, number, layout)
        low = 0
        if limits.min_score is not None:
            right = [float(score) >= limits.min_score for score in third[0]]
            low = right.count(False)
            first, second = ([text for text, one in zip(side, right, strict=True) if one] for side in (first, second))
        yield [text.lower() for text in first], [text.lower() for text in second], low


def vocabularies(
    sources: Sequence[SentenceSource],
    limits: LexiconLimits,
    folder: Path,
    *,
    apart: bool,
    min_count: int,
    stop_top: int,
    wanted: frozenset[str] = frozenset(),
    most_in_memory: int,
) -> list[LexiconWords]:
    """Collect the words that can be in the lexicon, of both sides together or of each apart.

    A word that occurs less than ``min_count`` times is in no pair of words that is seen so often, so nothing is lost.

    Args:
        wanted: words to keep however rare they are.
        most_in_memory: distinct words counted in memory.

    Raises:
        ConfigError: no word is left.
        DataError: as :func:`read`; or no pair is within the limits.
    """
    words = []
    for side in (0, 1) if apart else (None,):
        tally = {"read": 0, "low_score": 0, "kept": 0}
        counts = counted(_word_lists(sources, limits, side, tally), list, folder, most_in_memory)
        kept = sorted(
            ((word, count) for word, count in counts if _is_word(word) and (count >= min_count or word in wanted)),
            key=lambda entry: (-entry[1], entry[0]),
        )[stop_top:]
        if not tally["kept"]:
            raise DataError(_nothing(tally, limits), sources[0].path if len(sources) == 1 else None)
        if not any(count >= min_count for _, count in kept):
            left = f" beyond the {stop_top} most frequent" if stop_top else ""
            raise ConfigError(
                f"lexicon.min_count is {min_count}, but no word{left} occurs so often in the pairs within the limits; "
                "write a lower one"
            )
        words.append(LexiconWords([word for word, _ in kept], WordTokenizer(kept)))
        for path in folder.iterdir():
            path.unlink()
    return words if apart else words * 2


def _is_word(token: str) -> bool:
    return any(map(str.isalnum, token))


def _nothing(tally: dict[str, int], limits: LexiconLimits) -> str:
    read, low = tally["read"], tally["low_score"]
    if not read:
        return "no pairs; a lexicon needs some"
    reasons = []
    if low:
        reasons.append(f"{low:,} score below min_score, {limits.min_score:g}")
    if read > low:
        reasons.append(f"{read - low:,} have a side of more words than within_length, {limits.within_length}")
    return f"none of its {read:,} pairs is within the limits: {', '.join(reasons)}; change them"


def _word_lists(
    sources: Sequence[SentenceSource], limits: LexiconLimits, side: int | None, tally: dict[str, int]
) -> Iterator[list[str]]:
    """The words of each sentence within the limits, marks included: of both sides, or of one."""
    most = limits.within_length
    with Progress("lexicon: counting words", "pairs") as bar:
        for source in sources:
            for *sides, low in read(source, limits):
                tally["read"] += len(sides[0]) + low
                tally["low_score"] += low
                for one, other in zip(*sides, strict=True):
                    pair = split_words(one), split_words(other)
                    if most is None or (len(pair[0]) <= most and len(pair[1]) <= most):
                        tally["kept"] += 1
                        yield from pair if side is None else (pair[side],)
                bar.add(len(sides[0]))


class Sentences:
    """The words of all pairs as numbers.

    Args:
        vocabularies: of the first and the second side; the same object twice for paraphrases.

    Attributes:
        words: the words of each side.
        frequency: of each side, int64 (words,): the sentences that hold a word.
        pairs: how many pairs there are.
        corpora: for each corpus ``label``, and its pairs: ``read``, ``low_score``, ``too_long``, ``kept``.
    """

    def __init__(self, vocabularies: Sequence[LexiconWords]) -> None:
        # Of each side the ids of each sentence's distinct words, ascending, and how many it has.
        self._ids: tuple[list[Ids], list[Ids]] = ([], [])
        self._sizes: tuple[list[Ids], list[Ids]] = ([], [])
        self._tokenizers = [one.tokenizer for one in vocabularies]
        self.words = [one.words for one in vocabularies]
        self.frequency = [np.zeros(len(words), np.int64) for words in self.words]
        self.pairs = 0
        self.corpora: list[dict[str, Any]] = []

    def add(self, source: SentenceSource, limits: LexiconLimits) -> None:
        """Encode a corpus.

        Raises:
            DataError: as :func:`read`.
        """
        counts = {"read": 0, "low_score": 0, "too_long": 0, "kept": 0}
        with Progress(f"lexicon: encoding {source.label}", "pairs") as bar:
            for *sides, low in read(source, limits):
                encoded = [
                    tokenizer.encode_whole(side) for tokenizer, side in zip(self._tokenizers, sides, strict=True)
                ]
                fits = np.ones(len(sides[0]), bool)
                if limits.within_length is not None:
                    for whole in encoded:
                        fits &= np.diff(whole.offsets) <= limits.within_length
                for side, whole in enumerate(encoded):
                    ids, sizes = _distinct(whole, fits)
                    self.frequency[side] += np.bincount(ids, minlength=len(self.words[side]))
                    self._ids[side].append(ids)
                    self._sizes[side].append(sizes)
                kept = int(fits.sum())
                self.pairs += kept
                for key, more in (
                    ("read", len(fits) + low), ("low_score", low), ("too_long", len(fits) - kept),
                    ("kept", kept),
                ):  # fmt: skip
                    counts[key] += more
                bar.add(len(fits) + low)
        self.corpora.append({"label": source.label, **counts})

    def matrices(self) -> list[Any]:
        """The sides as sparse matrices of ones, int32 (sentences, words of the side)."""
        import scipy.sparse

        found = []
        for ids, sizes, words in zip(self._ids, self._sizes, self.words, strict=True):
            columns = np.concatenate(ids)
            ends = np.append(0, np.cumsum(np.concatenate(sizes), dtype=np.int64))
            found.append(
                scipy.sparse.csr_matrix((np.ones(len(columns), np.int32), columns, ends), (self.pairs, len(words)))
            )
        return found

    @functools.cached_property
    def numbers(self) -> list[dict[str, int]]:
        """Each side's words and their ids; of one vocabulary, one mapping."""
        return self.of_each(lambda words: {word: number for number, word in enumerate(words)})

    def of_each(self, make: Callable[[list[str]], T]) -> list[T]:
        """A function's result for each side's words, computed once if both sides have the same."""
        first, second = self.words
        made = make(first)
        return [made, made if second is first else make(second)]

    def encoded(self) -> None:
        """Drop the tokenizers: all corpora have been added."""
        self._tokenizers = []


def _distinct(whole: Encoded, fits: npt.NDArray[np.bool_]) -> tuple[Ids, Ids]:
    """The distinct known words of the sentences that fit: their ids from 0 on, ascending, and how many each has."""
    lengths = np.diff(whole.offsets)
    rows = np.repeat(np.cumsum(fits) - 1, lengths)
    taken = np.repeat(fits, lengths) & (whole.ids > 0)
    keys = np.sort(rows[taken] << 32 | (whole.ids[taken].astype(np.int64) - 1))
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    sizes = np.bincount(keys >> 32, minlength=int(fits.sum()))
    return (keys & 0xFFFFFFFF).astype(np.int32), sizes.astype(np.int32)
