"""The vectorised bootstrap gives what a plain loop over resamples with scipy gives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from psp.evaluation import bootstrap

# Few distinct values, so that ties (and resamples of one value) are frequent.
VALUES = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30)


def plain(function, counts, x, y):
    out = []
    for row in counts:
        a, b = np.repeat(x, row), np.repeat(y, row)
        out.append(math.nan if np.ptp(a) == 0 or np.ptp(b) == 0 else function(a, b).statistic)
    return np.array(out)


@settings(max_examples=50)
@given(VALUES, st.integers(0, 99))
def test_correlations_equal_a_loop_with_scipy(pairs, seed):
    x, y = np.array(pairs, dtype=np.float64).T
    x = x / 7 + 1e3  # an offset that a careless one-pass variance would lose digits on
    counts = bootstrap.resample_counts(len(x), 20, seed, "set")
    np.testing.assert_allclose(bootstrap.pearson(counts, x, y), plain(stats.pearsonr, counts, x, y), atol=1e-9)
    np.testing.assert_allclose(bootstrap.spearman(counts, x, y), plain(stats.spearmanr, counts, x, y), atol=1e-9)


def test_blocks_of_resamples_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 50))
    whole = bootstrap.resample_counts(50, 101, 3, "set")
    expected = bootstrap.pearson(whole, x, y), bootstrap.spearman(whole, x, y)
    monkeypatch.setattr(bootstrap, "BLOCK", 350)  # seven resamples at a time
    np.testing.assert_array_equal(bootstrap.resample_counts(50, 101, 3, "set"), whole)
    np.testing.assert_allclose(bootstrap.pearson(whole, x, y), expected[0], atol=1e-12)
    np.testing.assert_allclose(bootstrap.spearman(whole, x, y), expected[1], atol=1e-12)


def test_resamples_depend_on_seed_and_name_only():
    one = bootstrap.resample_counts(40, 10, 1, "2012/MSRpar")
    assert (one.sum(axis=1) == 40).all()
    np.testing.assert_array_equal(one, bootstrap.resample_counts(40, 10, 1, "2012/MSRpar"))
    assert (one != bootstrap.resample_counts(40, 10, 2, "2012/MSRpar")).any()
    assert (one != bootstrap.resample_counts(40, 10, 1, "2012/MSRvid")).any()


def test_draws_are_uniform():
    counts = bootstrap.resample_counts(10, 20_000, 0, "set")
    # Each pair is drawn 20,000 times on average, with a deviation of 134.
    assert np.abs(counts.sum(axis=0) - 20_000.0).max() < 5 * 134


def test_interval_of_normal_data_is_near_fishers():
    rng = np.random.default_rng(5)
    x = rng.standard_normal(2000)
    y = 0.6 * x + 0.8 * rng.standard_normal(2000)
    counts = bootstrap.resample_counts(2000, 2000, 0, "set")
    found = bootstrap.interval(bootstrap.pearson(counts, x, y))
    fisher = stats.pearsonr(x, y).confidence_interval(0.95)
    assert found is not None
    np.testing.assert_allclose(found, [fisher.low, fisher.high], atol=0.006)


def test_interval_needs_enough_valid_resamples():
    values = np.linspace(0, 1, 1001)
    assert bootstrap.interval(values) == [0.025, 0.975]
    values[:40] = np.nan
    assert bootstrap.interval(values) is not None
    values[:60] = np.nan
    assert bootstrap.interval(values) is None
    assert bootstrap.interval(np.full(10, np.nan)) is None


@given(st.integers(1, 2000), st.data())
def test_wilson_is_wilsons_formula(n, data):
    errors = data.draw(st.integers(0, n))
    p, z = errors / n, stats.norm.ppf(0.975)
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert bootstrap.wilson(errors, n) == pytest.approx([100 * (middle - half), 100 * (middle + half)], abs=1e-4)
