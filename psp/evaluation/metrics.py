"""Metrics on similarities: retrieval errors, and whether a correlation is defined."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from psp.evaluation.scorers import Floats


def no_correlation(similarity: Floats, gold: Floats) -> str | None:
    """Return why the correlation is undefined, or None if it is defined."""
    if len(gold) < 2:
        return "fewer than two pairs"
    if np.ptp(gold) == 0:
        return "all gold scores are equal"
    # For a model that gives every pair the same vectors, only meaningless rounding differences are left.
    if np.ptp(similarity) <= 1e-12 * max(1.0, float(np.abs(similarity).max())):
        return "the system finds every pair equally similar"
    return None


def pearson(x: Floats, gold: Floats) -> float:
    """Pearson's correlation, float64 (pairs,) each; NaN where a side is constant."""
    x, gold = x - x.mean(), gold - gold.mean()
    with np.errstate(invalid="ignore"):
        return float((x @ gold) / np.sqrt((x @ x) * (gold @ gold)))


def average_precision(x: Floats, gold: Floats | npt.NDArray[np.bool_]) -> float:
    """The area under the precision-recall curve of pairs with a positive score, as scikit-learn computes it.

    Pairs of equal similarity share a threshold. NaN without such pairs.
    """
    order = np.argsort(-x, kind="stable")
    right = np.cumsum(gold[order] > 0)
    ends = np.append(np.flatnonzero(np.diff(x[order])), len(x) - 1)  # the last pair of each threshold
    with np.errstate(invalid="ignore"):
        gains = np.diff(right[ends] / right[-1], prepend=0.0)
        return float((gains * right[ends] / (ends + 1)).sum())


#: The metrics of a system's similarities of scored pairs, at most 1.
OF_PAIRS: Mapping[str, Callable[[Floats, Floats], float]] = {
    "pearson": pearson, "average_precision": average_precision,
}  # fmt: skip


def standard_error(metric: Callable[[Floats, Floats], float], x: Floats, gold: Floats, resamples: int = 300) -> float:
    """The standard error of a metric over other pairs of this kind, by the bootstrap with a fixed seed."""
    rng = np.random.default_rng(1)
    drawn = (rng.integers(0, len(x), len(x)) for _ in range(resamples))
    return float(np.nanstd([metric(x[rows], gold[rows]) for rows in drawn]))


def retrieved(similarity: Floats, texts: list[str]) -> tuple[np.ndarray, npt.NDArray[np.bool_], int]:
    """Each query's nearest candidate, which of them are wrong, and how many of these have the right text.

    ``similarity[i, j]`` is that of query i and candidate ``texts[j]``; candidate i is right. Ties go to the first
    candidate.
    """
    nearest = np.argmax(similarity, axis=1)
    wrong = nearest != np.arange(len(texts))
    return nearest, wrong, sum(texts[nearest[row]] == texts[row] for row in np.flatnonzero(wrong))
