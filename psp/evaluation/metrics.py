"""Metrics on similarities: retrieval errors, and whether a correlation is defined."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from psp.evaluation.scorers import Floats


def no_correlation(similarity: Floats, gold: Floats) -> str | None:
    """Return why the correlation is undefined, or None if it is defined."""
    if len(gold) < 2:
        return "fewer than two pairs"
    if np.ptp(gold) == 0:
        return "all gold scores are equal"
    # A model that gives every pair the same vectors leaves rounding differences, which mean nothing.
    if np.ptp(similarity) <= 1e-12 * max(1.0, float(np.abs(similarity).max())):
        return "the system finds every pair equally similar"
    return None


def wrong(similarity: Floats) -> npt.NDArray[np.bool_]:
    """Tell which queries retrieve the wrong candidate, bool (queries,); ties go to the first candidate."""
    return np.argmax(similarity, axis=1) != np.arange(len(similarity))


def count_errors(similarity: Floats, texts: list[str]) -> tuple[int, int, int]:
    """Count the errors of nearest-neighbour search, the errors that found the right text elsewhere, and the queries.

    ``similarity[i, j]`` is that of query i and candidate ``texts[j]``; candidate i is right. Ties go to the first
    candidate.
    """
    found = np.argmax(similarity, axis=1)
    wrong = np.flatnonzero(found != np.arange(len(texts)))
    return len(wrong), sum(texts[found[i]] == texts[i] for i in wrong), len(texts)
