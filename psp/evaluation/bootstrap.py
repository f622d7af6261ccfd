"""95% intervals: percentile bootstrap for correlations, Wilson score interval for error rates.

A resample of n pairs is represented by the count of each pair. Pearson over all resamples is then a few matrix
products, and Spearman needs no sorting: ranks within a resample are cumulative sums of the counts in the order of the
values, ties averaged. Both give exactly what a loop over resamples gives (tests compare them with SciPy).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.uint16]

CONFIDENCE = 0.95
#: Elements in a block of resamples: keeps about six temporary arrays of 8-byte numbers near 100 MB.
BLOCK = 2_000_000
#: No interval is given if more than this share of resamples has no correlation (one side constant).
_DEGENERATE = 0.05
#: Decimal places of the ends of an interval.
_DIGITS = 4


def resample_counts(pairs: int, resamples: int, seed: int, name: str) -> Counts:
    """Draw resamples: the count of each pair in each, uint16 (resamples, pairs); every row sums to ``pairs``.

    The draw depends only on the seed and the data set's name, not on other data sets or the system, so systems are
    compared on the same resamples.
    """
    rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
    counts = np.empty((resamples, pairs), dtype=np.uint16)
    for rows in _blocks(resamples, pairs):
        size = rows.stop - rows.start
        drawn = rng.integers(0, pairs, size=(size, pairs)) + pairs * np.arange(size)[:, None]
        counts[rows] = np.bincount(drawn.ravel(), minlength=size * pairs).reshape(size, pairs)
    return counts


def pearson(counts: Counts, x: Floats, y: Floats) -> Floats:
    """Compute Pearson's correlation in each resample, shape (resamples,); NaN where a side is constant."""
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
    """Compute Spearman's correlation in each resample, ranking within it, shape (resamples,); NaN as in pearson()."""
    out = np.empty(len(counts))
    for rows in _blocks(*counts.shape):
        weights = counts[rows].astype(np.float64)
        rank_x, rank_y = _ranks(weights, x), _ranks(weights, y)
        scale = counts.shape[1] ** 3 / 12  # about the variance of ranks, to suit _correlation's threshold
        out[rows] = _correlation(
            np.einsum("ij,ij,ij->i", weights, rank_x, rank_y) / scale,
            np.einsum("ij,ij,ij->i", weights, rank_x, rank_x) / scale,
            np.einsum("ij,ij,ij->i", weights, rank_y, rank_y) / scale,
        )
    return out


def interval(values: Floats) -> list[float] | None:
    """Return the percentile 95% interval of resampled values, rounded; None if too many are NaN."""
    valid = values[~np.isnan(values)]
    if len(valid) == 0 or len(valid) < (1 - _DEGENERATE) * len(values):
        return None
    low, high = np.quantile(valid, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return [round(float(low), _DIGITS), round(float(high), _DIGITS)]


def wilson(errors: int, n: int) -> list[float]:
    """Return the Wilson 95% interval of an error rate, in %; it also works at 0% and 100%, where others collapse."""
    from scipy import stats  # not at Snakemake's every start: it takes a second

    proportion = stats.binomtest(errors, n).proportion_ci(confidence_level=CONFIDENCE, method="wilson")
    return [round(100 * float(proportion.low), _DIGITS), round(100 * float(proportion.high), _DIGITS)]


def _blocks(resamples: int, pairs: int) -> Iterator[slice]:
    step = max(1, BLOCK // max(1, pairs))
    for start in range(0, resamples, step):
        yield slice(start, min(start + step, resamples))


def _standard(x: Floats) -> Floats:
    """Standardise: correlations stay the same, and the one-pass variance of a resample loses no digits."""
    x = x - x.mean()
    deviation = x.std()
    return x / deviation if deviation > 0 else x


def _ranks(weights: Floats, x: Floats) -> Floats:
    """Return ranks within each resample minus the mean rank (n + 1) / 2, ties averaged; shape of ``weights``."""
    values, group = np.unique(x, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(len(values)))
    drawn = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks = np.cumsum(drawn, axis=1) - (drawn - 1) / 2 - (weights.shape[1] + 1) / 2
    return ranks[:, group]


def _correlation(covariance: Floats, variance_x: Floats, variance_y: Floats) -> Floats:
    out = np.full(len(covariance), np.nan)
    # Over the whole set both sides have variance near 1; below 1e-12 of that, a resample is constant.
    valid = (variance_x > 1e-12) & (variance_y > 1e-12)
    out[valid] = covariance[valid] / np.sqrt(variance_x[valid] * variance_y[valid])
    return np.clip(out, -1.0, 1.0)
