"""Shares of small and large languages in one model, by a power of their numbers of pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def language_pairs(corpus_languages: Sequence[Sequence[str]]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """The language pairs of some corpora, such as "en-fr", in alphabetical order, and each corpus's index into them."""
    names = ["-".join(sorted(languages)) for languages in corpus_languages]
    distinct = sorted(set(names))
    return distinct, np.array([distinct.index(name) for name in names], np.int64)


def shares(counts: npt.NDArray[np.int64], exponent: float) -> npt.NDArray[np.float64]:
    """The share of each language: ``counts ** exponent``, scaled to a sum of 1; 0 for languages without pairs."""
    wanted = np.where(counts > 0, counts.astype(np.float64) ** exponent, 0.0)
    return wanted / wanted.sum()


def quotas(counts: npt.NDArray[np.int64], exponent: float, total: int) -> npt.NDArray[np.int64]:
    """How many distinct pairs of each language make up ``total``: by :func:`shares`, at most all of its pairs.

    What a language lacks goes to the others in proportion to their shares.
    """
    found = np.zeros_like(counts)
    while (left := min(total, int(counts.sum())) - int(found.sum())) > 0:
        rest = counts - found
        ends = np.floor(np.cumsum(shares(np.where(rest > 0, counts, 0), exponent)) * left + 0.5).astype(np.int64)
        found += np.minimum(rest, np.diff(ends, prepend=0))
    return found
