r"""Make a lexicon: words that match across the two sides of pairs, with their mutual information.

For paraphrases (one language), ``lexicon.tsv`` has for each pair of words ``u \t v \t count \t cross \t adjusted``, u
before v by code points, the highest adjusted PMI first (:mod:`psp.pairs.lexicon.pmi`). For bitext it is a translation
lexicon, ``u \t v \t count \t cross``, with u in the source and v in the target language, by PMI. It has no adjusted
PMI, since words of two languages share no sentence. The first line names the columns. All counts are exact, so neither
the order of the pairs nor how the counting is divided changes a byte.

In memory are the words that occur ``min_count`` times, up to a million counts of others (200 MB) and then, instead of
these, 20 bytes for each word of each sentence, 20 for each entry, and up to 1 GB: 0.76 GB for 573,678 real pairs, 1.4
GB for three times as many, so some 3.3 GB for 5 million.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from psp.core.errors import ConfigError
from psp.core.files import atomic_text, folder_beside
from psp.core.logs import Progress
from psp.pairs.lexicon import pmi, products
from psp.pairs.lexicon.pmi import Counts, Floats, JointCounts
from psp.pairs.lexicon.sentences import LexiconLimits, Sentences, SentenceSource, vocabularies
from psp.pairs.vocabulary import MOST_IN_MEMORY

log = logging.getLogger(__name__)

#: Decimal places of a PMI; entries are sorted by the rounded value, so the last bits do not matter.
DIGITS = 4
#: Entries that are written at a time.
MOST_WRITTEN = 1 << 20

_ENTRY = np.dtype([("value", "<i4"), ("cross", "<i4"), ("count", "<u4"), ("u", "<u4"), ("v", "<u4")])


@dataclass(frozen=True)
class PairCounts:
    """The counts of the requested pairs of words.

    Attributes:
        joint: their counts, in the order requested; all 0 for unknown words.
        known: bool (n,): both words are in the vocabulary.
        frequency: of each side, int64 (words,): the sentences that hold a word.
        pairs: the number of pairs of sentences.
    """

    joint: JointCounts
    known: npt.NDArray[np.bool_]
    frequency: list[Counts]
    pairs: int

    def cross(self, smoothing: float) -> Floats:
        """PMI across sentences, float64 (n,); 0 for unknown words."""
        return self._of_known(pmi.across(self.joint, self.frequency, self.pairs, smoothing))

    def adjusted(self, smoothing: float) -> Floats:
        """The adjusted PMI, float64 (n,); 0 for unknown words."""
        return self._of_known(
            pmi.across(self.joint, self.frequency, self.pairs, smoothing)
            - pmi.within(self.joint, self.frequency, self.pairs, smoothing)
        )

    def _of_known(self, values: Floats) -> Floats:
        return np.where(self.known, values, 0.0)


def make_lexicon(
    sources: Sequence[SentenceSource],
    out: Path,
    *,
    paraphrases: bool,
    settings: Mapping[str, Any],
    asked: Iterable[tuple[str, str]] = (),
    most_products: int = products.MOST_PRODUCTS,
    most_in_memory: int = MOST_IN_MEMORY,
) -> tuple[dict[str, Any], PairCounts]:
    """Write the lexicon of some corpora.

    Args:
        sources: the corpora.
        out: the lexicon; see above.
        paraphrases: both sides are in one language.
        settings: the block ``lexicon``.
        asked: pairs of words that are counted however rare they are.
        most_products: occurrences of pairs of words that are counted at a time.
        most_in_memory: distinct words that are counted in memory. Neither changes the result.

    Returns:
        ``corpora`` (:class:`psp.pairs.lexicon.sentences.Sentences`), ``pairs``, ``words`` (the vocabulary's, of each
        side), ``entries``; and the counts requested.

    Raises:
        ConfigError: no word, or no pair of words, is seen ``min_count`` times.
        DataError: a file is missing or malformed, lacks the scores that ``min_score`` needs, or no pair is within the
            limits; or the disk is full.
    """
    limits = LexiconLimits(settings["within_length"], settings["min_score"])
    questions = [(one.lower(), other.lower()) for one, other in asked]
    with folder_beside(out) as folder:
        lexicon_words = vocabularies(
            sources,
            limits,
            folder,
            apart=not paraphrases,
            min_count=settings["min_count"],
            stop_top=settings["stop_top"],
            wanted=frozenset(word for pair in questions for word in pair),
            most_in_memory=most_in_memory,
        )
    sentences = Sentences(lexicon_words)
    del lexicon_words
    for source in sources:
        sentences.add(source, limits)
    sentences.encoded()
    known, numbers = _numbers(sentences, questions)
    entries = _Entries(sentences, settings["smoothing"])
    of_known = (numbers[0][known], numbers[1][known])
    counter = products.count(sentences, settings["min_count"], of_known, symmetric=paraphrases, most=most_products)
    answer = next(counter)
    for joint in counter:  # the last one answers the questions
        entries.add(answer)
        answer = joint
    if not entries.total:
        raise ConfigError(
            f"lexicon.min_count is {settings['min_count']}, but no two words occur together that often in the "
            f"{sentences.pairs:,} pairs within the limits; write a lower one"
        )
    entries.write(out)
    summary = {
        "corpora": sentences.corpora,
        "pairs": sentences.pairs,
        "words": [len(words) for words in sentences.words],
        "entries": entries.total,
    }
    log.info("%d pairs, %d entries", sentences.pairs, entries.total)
    across, within = np.zeros(len(known), np.int64), np.zeros((2, len(known)), np.int64)
    across[known] = answer.across
    within[:, known] = 0 if answer.within is None else answer.within
    joint = JointCounts(*numbers, across, within if paraphrases else None)
    return summary, PairCounts(joint, known, sentences.frequency, sentences.pairs)


def _numbers(
    sentences: Sentences, questions: Sequence[tuple[str, str]]
) -> tuple[npt.NDArray[np.bool_], tuple[Counts, Counts]]:
    """Whether both words of each pair are known, and their numbers, 0 for unknown words."""
    sides = [
        np.array([numbers.get(pair[side], -1) for pair in questions], np.int64)
        for side, numbers in enumerate(sentences.numbers)
    ]
    known = (sides[0] >= 0) & (sides[1] >= 0)
    return known, (np.where(known, sides[0], 0), np.where(known, sides[1], 0))


class _Entries:
    """The entries of a lexicon: gathered, and written in order."""

    def __init__(self, sentences: Sentences, smoothing: float) -> None:
        self._sentences, self._smoothing = sentences, smoothing
        self._made: list[npt.NDArray[Any]] = []
        self._adjusted = False
        # The place of each word by code points: pairs with the same value are in the order of their words.
        self._words = sentences.of_each(lambda words: np.array(sorted(words), object))
        self._places = sentences.of_each(_places)

    @property
    def total(self) -> int:
        return sum(map(len, self._made))

    def add(self, joint: JointCounts) -> None:
        """Add some pairs of words."""
        frequency, pairs = self._sentences.frequency, self._sentences.pairs
        cross = pmi.across(joint, frequency, pairs, self._smoothing)
        value = cross
        u, v = self._places[0][joint.first], self._places[1][joint.second]
        if joint.within is not None:
            self._adjusted = True
            value = cross - pmi.within(joint, frequency, pairs, self._smoothing)
            u, v = np.minimum(u, v), np.maximum(u, v)
        made = np.empty(len(u), _ENTRY)
        made["cross"], made["value"] = (np.rint(one * 10**DIGITS).astype(np.int32) for one in (cross, value))
        made["count"], made["u"], made["v"] = joint.across, u, v
        self._made.append(made)

    def write(self, out: Path) -> None:
        """Write all entries, those with the highest value first."""
        names = ["u", "v", "count", "cross", *(["adjusted"] if self._adjusted else [])]
        made = np.concatenate(self._made)
        made = made[np.lexsort((made["v"], made["u"], -made["value"]))]
        with atomic_text(out) as file, Progress("lexicon: writing", "entries", len(made)) as bar:
            file.write("\t".join(names) + "\n")
            for start in range(0, len(made), MOST_WRITTEN):
                some = made[start : start + MOST_WRITTEN]
                words = (one[some[name]] for one, name in zip(self._words, "uv", strict=True))
                columns = [*words, some["count"], _decimals(some["cross"])]
                if self._adjusted:
                    columns.append(_decimals(some["value"]))
                file.writelines(
                    "\t".join(map(str, row)) + "\n" for row in zip(*(one.tolist() for one in columns), strict=True)
                )
                bar.add(len(some))


def _places(words: list[str]) -> npt.NDArray[np.uint32]:
    """The place of each word among all by code points."""
    places = np.empty(len(words), np.uint32)
    places[sorted(range(len(words)), key=words.__getitem__)] = np.arange(len(words), dtype=np.uint32)
    return places


def _decimals(values: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
    return np.array([f"{value / 10**DIGITS:.{DIGITS}f}" for value in values.tolist()], object)
