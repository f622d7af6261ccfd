"""Scores of languages: py3langid's naive Bayes over byte n-grams, its automaton walked by compiled loops.

py3langid (BSD-3) has its model in its wheel: an automaton that finds 100,000 byte n-grams, and the log probability of
each in each of 140 languages. Its own ``rank`` takes one line at a time; the loops here take a batch, at least 25 times
as fast. Sums are float64, in the order in which a line's n-grams first occur and never fused, so that every machine
decides alike; py3langid's float32 sums differ from them by up to 1e-6 of a score.

Most lines are clearly in their own language. Weights rounded to a byte, whose error is known, settle 95 to 97 of 100
lines of real text, and only the others are scored: the same answers at four times the rate.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from psp.core.errors import PspError
from psp.text.scripts import letters_by_script, may_be
from psp.text.tokenizer import offsets_of

#: More occurrences of an n-gram in a text than this count as this many.
_COUNTS = 1 << 16
#: A difference of two rounded weights is off by one step at most, and by a little for float32's own rounding.
_ERROR = 1.001
#: More than float64 sums of such numbers lose by rounding.
_SLACK = 1e-6
#: Rows of weights that are rounded at a time.
_BLOCK = 4096

#: Languages that look like a part of another: English is not Nigerian Pidgin because they share words.
_INSIDE = {"en": ("pcm",)}


class _Automaton(NamedTuple):
    """``moves[rows[state] + byte]`` is the next state; ``ngrams[state]`` the n-gram that ends there, or -1."""

    moves: npt.NDArray[np.uint32]
    rows: npt.NDArray[np.int64]
    ngrams: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]  # (n-grams, columns)
    priors: npt.NDArray[np.float64]  # (columns,)
    factors: npt.NDArray[np.float64]  # log(1 + count), by count
    rounded: npt.NDArray[np.int8]  # the weights in steps from the middle of their row
    step: float


class _Found(NamedTuple):
    """The n-gram that ends at each byte of some texts, or -1, and each text's first byte."""

    ngrams: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]


class Suspect(NamedTuple):
    """A text that is more probable in another language than in its own.

    ``row`` is its index, ``gap`` the most probable language's log score minus its own's, ``partner`` the same for
    the partner language (minus infinity if the text's letters rule it out), ``letters`` its letters by script.
    """

    row: int
    gap: float
    partner: float
    letters: Mapping[str, int]


class LanguageScores:
    """The log scores of texts in each language that py3langid knows.

    Attributes:
        labels: its languages, ISO 639-1 or 639-3, and ``zxx``, for no language.

    Raises:
        PspError: py3langid or numba is not installed.
    """

    def __init__(self) -> None:
        automaton, columns = _model()
        self._automaton, self._columns = automaton, columns
        self.labels = list(dict.fromkeys(columns))
        # Some languages have a column for each of their scripts; the larger score counts.
        self._first = np.array([columns.index(label) for label in self.labels])
        self._further = [(columns.index(name), place) for place, name in enumerate(columns) if name in columns[:place]]

    def __call__(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Score texts in all languages.

        Args:
            texts: a text in capitals alone is read in lower case, and each in Unicode's form NFC, as by py3langid.

        Returns:
            float64 (texts, labels): natural logarithms; larger is better, and only differences in a row mean anything.
            A text without any n-gram has zeros.
        """
        return self._scores(self._find(texts), np.arange(len(texts)))

    def _find(self, texts: Sequence[str]) -> _Found:
        from psp.text.language_walk import find

        coded = [
            unicodedata.normalize("NFC", text.lower() if text.isupper() else text).encode("utf-8", "surrogatepass")
            for text in texts
        ]
        offsets = offsets_of([len(text) for text in coded])
        starts = np.zeros(offsets[-1] + 1, bool)
        starts[offsets[:-1]] = True
        found = _Found(np.empty(offsets[-1], np.int32), offsets)
        letters = np.frombuffer(b"".join(coded), np.uint8)
        find(letters, starts, self._automaton.moves, self._automaton.rows, self._automaton.ngrams, found.ngrams)
        return found

    def _scores(self, found: _Found, texts: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Score the texts of these numbers."""
        from psp.text.language_walk import add

        model = self._automaton
        scores = np.zeros((len(texts), len(model.priors)))
        add(*found, texts, model.weights, model.priors, model.factors, scores)
        for first, place in self._further:
            np.maximum(scores[:, first], scores[:, place], out=scores[:, first])
        return scores[:, self._first]

    def suspects(
        self, texts: Sequence[str], own: str, partner: str, alike: Collection[str], least: float = 0.0
    ) -> Iterator[Suspect]:
        """Yield the texts that another language explains better than their own.

        Args:
            texts: supposed to be in the language ``own``.
            own: one of :attr:`labels`.
            partner: a label whose gap is reported too, if it is known.
            alike: labels that do not count against it.
            least: gaps up to this are not reported.
        """
        from psp.text.language_walk import settle

        silent = {own, "zxx", *alike, *(_INSIDE.get(own, ()))}
        found, model = self._find(texts), self._automaton
        settled = np.empty(len(texts), bool)
        is_own = np.array([name == own for name in self._columns])
        speaks = np.array([name not in silent for name in self._columns])
        settle(
            *found, model.rounded, model.step, _ERROR, model.priors, model.factors, is_own, speaks,
            least - _SLACK, settled,
        )  # fmt: skip
        numbers = np.flatnonzero(~settled)
        scores = self._scores(found, numbers)
        column = self.labels.index(own)
        mine = scores[:, column].copy()
        of_partner = scores[:, self.labels.index(partner)] - mine if partner in self.labels else None
        scores[:, [place for place, label in enumerate(self.labels) if label in silent]] = -np.inf
        best = scores.max(axis=1) - mine
        for row in np.flatnonzero(best > least).tolist():
            letters = letters_by_script(texts[numbers[row]])
            # By score, until one can be written in the text's letters; mostly the first.
            for place in np.argsort(-scores[row], kind="stable").tolist():
                gap = float(scores[row, place] - mine[row])
                if gap <= least:
                    break
                if may_be(self.labels[place], letters):
                    beside = -np.inf
                    if of_partner is not None and may_be(partner, letters):
                        beside = float(of_partner[row])
                    yield Suspect(int(numbers[row]), gap, beside, letters)
                    break


def _rounded(weights: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], float]:
    """The weights in whole steps from the middle of their row, and the step."""
    low, high = weights.min(axis=1), weights.max(axis=1)
    middle, step = (low + high) / 2, float((high - low).max()) / 254
    rounded = np.empty(weights.shape, np.int8)
    for start in range(0, len(weights), _BLOCK):  # all at once would be 60 MB several times
        part = slice(start, start + _BLOCK)
        rounded[part] = np.rint((weights[part] - middle[part, None]) / np.float32(step))
    return rounded, step


@functools.cache
def _model() -> tuple[_Automaton, list[str]]:
    try:
        import numba  # noqa: F401
        from py3langid.langid import MODEL_FILE, LanguageIdentifier
    except ModuleNotFoundError as error:
        raise PspError(f"language evidence needs the package {error.name}: pip install 'paraphrastic[data]'") from None
    try:
        model = LanguageIdentifier.from_model_file(MODEL_FILE)
    except Exception as error:  # its class depends on where the file is damaged
        raise PspError(
            f"py3langid cannot read its model ({error}); install it again: pip install --force-reinstall py3langid"
        ) from None
    weights = np.ascontiguousarray(model.nb_ptc, np.float32)
    automaton = _Automaton(
        np.asarray(model.tk_nextmove, np.uint32),
        np.asarray(model.tk_row, np.int64) << 8,
        np.asarray(model.tk_output, np.int32),
        weights,
        np.asarray(model.nb_pc, np.float64),
        # Rounded far above a unit in the last place, in which libraries' logarithms may differ.
        np.round(np.log1p(np.arange(_COUNTS)) * 2**32) / 2**32,
        *_rounded(weights),
    )
    return automaton, list(model.nb_classes)
