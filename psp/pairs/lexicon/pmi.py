"""Pointwise mutual information of two words across the sides of pairs, and within sentences.

With n pairs of paraphrases there are 2n ordered pairs of a sentence and its paraphrase. c(u, v) counts those with u in
the sentence and v in the paraphrase, so c is symmetric; f(u) counts the sentences that hold u, of both sides, 2n in
all. By chance, e = f(u) f(v) / 2n are expected. Bitext has one order, and c, f and e are over its n pairs.

Within sentences, references and translations are counted apart: w(u, v) sentences hold both words, where chance
would give f(u) f(v) / n. The two figures are averaged.

A PMI is log((c + a) / (e + a)). The paper has no a; with it, two words have a PMI even if they never occur
together, and it stays finite. The adjusted PMI is that across minus that within: words of one topic share sentences as
often as pairs, while paraphrases hardly ever share a sentence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class JointCounts:
    """The counts of some pairs of words.

    Attributes:
        first, second: int64 (n,): the numbers of the two words, in the words of the first and the second side.
        across: int64 (n,): c.
        within: int64 (2, n): w in the first and in the second sides; None for bitext, where it has no meaning.
    """

    first: Counts
    second: Counts
    across: Counts
    within: Counts | None


def across(joint: JointCounts, frequency: list[Counts], pairs: int, smoothing: float) -> Floats:
    """PMI_cross, float64 (n,); with ``smoothing`` 0 it is minus infinity for words that are never seen together."""
    one, other, sentences = _marginals(joint, frequency, pairs)
    return _pmi(joint.across, one * other / sentences, smoothing)


def within(joint: JointCounts, frequency: list[Counts], pairs: int, smoothing: float) -> Floats:
    """PMI within sentences, of paraphrases, float64 (n,).

    Without smoothing, 0 for words that share no sentence: without counts there is no correction.
    """
    assert joint.within is not None
    sides = []
    for side, counts in zip(frequency, joint.within, strict=True):
        values = _pmi(counts, side[joint.first].astype(np.float64) * side[joint.second] / pairs, smoothing)
        sides.append(np.where(counts > 0, values, 0.0) if smoothing == 0 else values)
    return (sides[0] + sides[1]) / 2


def _marginals(joint: JointCounts, frequency: list[Counts], pairs: int) -> tuple[Floats, Floats, int]:
    if joint.within is None:
        first, second, sentences = frequency[0], frequency[1], pairs
    else:
        first = second = frequency[0] + frequency[1]
        sentences = 2 * pairs
    return first[joint.first].astype(np.float64), second[joint.second].astype(np.float64), sentences


def _pmi(observed: Counts, expected: Floats, smoothing: float) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        values: Floats = np.log((observed + smoothing) / (expected + smoothing))
    return values
