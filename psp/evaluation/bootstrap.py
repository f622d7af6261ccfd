"""95% intervals: percentile bootstrap for correlations, Wilson's score interval for error rates.

A resample of n pairs is written as how often each pair was drawn. With that, Pearson over all resamples is a few
matrix products, and Spearman needs no sorting: the ranks within a resample are running sums of the counts in the
order of the values, ties averaged. Both are exactly what a loop over resamples gives (tests compare them with scipy).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import stats

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.uint16]

CONFIDENCE = 0.95
#: Elements of a block of resamples: keeps the temporary arrays (8 bytes each, about six of them) near 100 MB.
_BLOCK = 2_000_000
#: An interval is not given where more than this share of the resamples has no correlation (a side of one value).
_DEGENERATE = 0.05


def resample_counts(pairs: int, resamples: int, seed: int, name: str) -> Counts:
    """How often each pair is drawn in each resample: uint16, shape (resamples, pairs), every row sums to ``pairs``.

    The draw depends on the seed and the data set's name alone, so neither another data set nor another system changes
    it, and systems are compared on the same resamples.
    """
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    counts = np.empty((resamples, pairs), dtype=np.uint16)
    for rows in _blocks(resamples, pairs):
        size = rows.stop - rows.start
        drawn = rng.integers(0, pairs, size=(size, pairs)) + pairs * np.arange(size)[:, None]
        counts[rows] = np.bincount(drawn.ravel(), minlength=size * pairs).reshape(size, pairs)
    return counts


def pearson(counts: Counts, x: Floats, y: Floats) -> Floats:
    """Pearson's correlation in each resample: shape (resamples,), NaN where a side has one value only."""
    out = np.empty(len(counts))
    x, y = _standard(x), _standard(y)
    for rows in _blocks(*counts.shape):
        weights = counts[rows] / counts.shape[1]
        mean_x, mean_y = weights @ x, weights @ y
        out[rows] = _correlation(
            weights @ (x * y) - mean_x * mean_y, weights @ (x * x) - mean_x**2, weights @ (y * y) - mean_y**2
        )
    return out


def spearman(counts: Counts, x: Floats, y: Floats) -> Floats:
    """Spearman's correlation in each resample, ranked anew in each: shape (resamples,), NaN as in :func:`pearson`."""
    out = np.empty(len(counts))
    for rows in _blocks(*counts.shape):
        weights = counts[rows].astype(np.float64)
        rank_x, rank_y = _ranks(weights, x), _ranks(weights, y)
        scale = counts.shape[1] ** 3 / 12  # about the variance of ranks, so that _correlation's threshold fits
        out[rows] = _correlation(
            np.einsum("ij,ij,ij->i", weights, rank_x, rank_y) / scale,
            np.einsum("ij,ij,ij->i", weights, rank_x, rank_x) / scale,
            np.einsum("ij,ij,ij->i", weights, rank_y, rank_y) / scale,
        )
    return out


def interval(values: Floats, digits: int = 4) -> list[float] | None:
    """The percentile 95% interval of resampled figures, rounded; None where too many of them are NaN."""
    valid = values[~np.isnan(values)]
    if len(valid) == 0 or len(valid) < (1 - _DEGENERATE) * len(values):
        return None
    low, high = np.quantile(valid, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return [round(float(low), digits), round(float(high), digits)]


def wilson(errors: int, n: int, digits: int = 4) -> list[float]:
    """Wilson's 95% interval of an error rate, in %: it stays sensible at 0 and 100 errors, where others collapse."""
    found = stats.binomtest(errors, n).proportion_ci(confidence_level=CONFIDENCE, method="wilson")
    return [round(100 * float(found.low), digits), round(100 * float(found.high), digits)]


def _blocks(resamples: int, pairs: int) -> Iterator[slice]:
    step = max(1, _BLOCK // max(1, pairs))
    for start in range(0, resamples, step):
        yield slice(start, min(start + step, resamples))


def _standard(x: Floats) -> Floats:
    """Mean 0, deviation 1: no correlation changes, and the one-pass variance of a resample loses no digits."""
    x = x - x.mean()
    deviation = x.std()
    return x / deviation if deviation > 0 else x


def _ranks(weights: Floats, x: Floats) -> Floats:
    """Rank of each value within each resample, less the mean rank (n + 1) / 2, ties averaged: as ``weights``."""
    values, group = np.unique(x, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(values)))
    drawn = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks = np.cumsum(drawn, axis=1) - (drawn - 1) / 2 - (weights.shape[1] + 1) / 2
    return ranks[:, group]


def _correlation(covariance: Floats, variance_x: Floats, variance_y: Floats) -> Floats:
    out = np.full(len(covariance), np.nan)
    # Both sides have a variance near 1 over the whole data set; under 1e-12 of it a resample holds one value only.
    valid = (variance_x > 1e-12) & (variance_y > 1e-12)
    out[valid] = covariance[valid] / np.sqrt(variance_x[valid] * variance_y[valid])
    return np.clip(out, -1.0, 1.0)
