"""Metrics on similarities, beside those of SciPy and scikit-learn."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as reference

from psp.evaluation.metrics import OF_PAIRS, average_precision, pearson, standard_error

VALUES = st.lists(st.tuples(st.integers(-5, 5), st.integers(0, 2)), min_size=2, max_size=30)


def arrays(values):
    x, gold = np.array(values, np.float64).T
    return x / 7, gold


@given(VALUES)
def test_average_precision_is_scikit_learns(values):
    x, gold = arrays(values)
    if gold.max() > 0:
        assert average_precision(x, gold) == pytest.approx(reference.average_precision_score(gold > 0, x), abs=1e-12)
    else:
        assert np.isnan(average_precision(x, gold))


@given(VALUES)
def test_pearson_is_scipys(values):
    x, gold = arrays(values)
    if np.ptp(x) > 0 and np.ptp(gold) > 0:
        assert pearson(x, gold) == pytest.approx(stats.pearsonr(x, gold).statistic, abs=1e-12)


@pytest.mark.parametrize("name", OF_PAIRS)
def test_the_standard_error_is_the_deviation_over_other_pairs_of_the_kind(name):
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 2, (400, 150)).astype(np.float64)
    x = gold + rng.standard_normal(gold.shape)
    over_sets = np.std([OF_PAIRS[name](*pair) for pair in zip(x, gold, strict=True)])
    found = np.mean([standard_error(OF_PAIRS[name], x[row], gold[row]) for row in range(10)])
    assert found == pytest.approx(over_sets, rel=0.2)
    assert standard_error(OF_PAIRS[name], x[0], gold[0]) == standard_error(OF_PAIRS[name], x[0], gold[0])


def test_the_standard_error_of_a_set_that_may_lose_its_paraphrases_is_finite():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0 <= standard_error(average_precision, np.array([0.1, 0.2, 0.3]), np.array([0.0, 0, 1])) < 1
