"""STS: reading every layout as released, and the paper's figures."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from psp.evaluation import testsets
from psp.evaluation.tasks import sts


class Given:
    """A scorer whose similarity of (a, b) is b read as a number."""

    def pairwise(self, a, b):
        return np.array([float(text) for text in b])

    def cross(self, a, b):
        raise NotImplementedError


def scored(name: str, similarity, gold, resamples: int = 50) -> sts.Scored:
    data = testsets.StsSet(
        name, ["a"] * len(gold), [repr(float(x)) for x in similarity], np.array(gold, dtype=np.float64)
    )
    return sts.score_set(Given(), data, name=f"test/{name}", resamples=resamples, seed=1)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(-1, 1, width=16), st.integers(0, 5)), min_size=2, max_size=20))
def test_figures_equal_scipy_or_are_null_with_a_reason(pairs):
    similarity, gold = zip(*pairs, strict=True)
    figures = scored("x", similarity, gold).figures
    json.dumps(figures, allow_nan=False)
    assert figures["pairs"] == len(pairs)
    if len(set(similarity)) == 1 or len(set(gold)) == 1:
        assert figures["pearson"] is figures["spearman"] is figures["pearson_interval"] is None
        assert "equal" in figures["why"]
    else:
        assert figures["pearson"] == pytest.approx(100 * stats.pearsonr(similarity, gold).statistic, abs=1e-4)
        assert figures["spearman"] == pytest.approx(100 * stats.spearmanr(similarity, gold).statistic, abs=1e-4)


def test_similarities_equal_but_for_rounding_rank_nothing():
    figures = scored("x", [1.0, 1.0 - 1e-15, 1.0 - 2e-15], [1, 2, 3]).figures
    assert figures["pearson"] is None
    assert figures["why"] == "the system finds every pair equally similar"


def random_year(names, rng, pairs=40):
    out = []
    for name in names:
        gold = rng.integers(0, 6, pairs)
        out.append(scored(name, gold / 5 + rng.standard_normal(pairs), gold))
    return out


def test_a_year_is_the_mean_over_sets_and_the_concatenation():
    sets = random_year(["images", "belief"], np.random.default_rng(0))
    body = sts.score_year("2015", sets).body
    mean = np.mean([stats.pearsonr(one.similarity, one.data.gold).statistic for one in sets])
    together = stats.spearmanr(
        np.concatenate([one.similarity for one in sets]), np.concatenate([one.data.gold for one in sets])
    ).statistic
    assert body["pearson_mean"] == pytest.approx(100 * mean, abs=1e-4)
    assert body["spearman_concatenated"] == pytest.approx(100 * together, abs=1e-4)
    assert (body["pairs"], body["pairs_concatenated"]) == (80, 80)
    assert list(body["sets"]) == ["images", "belief"]
    assert "pearson_mean_without_smt" not in body
    for key in ("pearson_mean", "spearman_concatenated"):
        low, high = body[f"{key}_interval"]
        assert low < body[key] < high


def test_the_years_intervals_resample_within_each_set():
    sets = random_year(["images", "belief"], np.random.default_rng(2))
    year = sts.score_year("2015", sets)
    for draw in range(5):
        parts = [
            (np.repeat(one.similarity, one.counts[draw]), np.repeat(one.data.gold, one.counts[draw])) for one in sets
        ]
        mean = np.mean([stats.pearsonr(*part).statistic for part in parts])
        together = stats.spearmanr(*np.concatenate(parts, axis=1)).statistic
        assert year.resampled["pearson_mean"][draw] == pytest.approx(mean, abs=1e-9)
        assert year.resampled["spearman_concatenated"][draw] == pytest.approx(together, abs=1e-9)


def test_2013_has_smt_in_the_published_mean_and_not_in_the_concatenation():
    sets = random_year(testsets.YEARS["2013"], np.random.default_rng(1))
    year = sts.score_year("2013", sets)
    values = {one.data.name: stats.pearsonr(one.similarity, one.data.gold).statistic for one in sets}
    assert year.body["pearson_mean"] == pytest.approx(100 * np.mean(list(values.values())), abs=1e-4)
    del values["SMT"]
    assert year.body["pearson_mean_without_smt"] == pytest.approx(100 * np.mean(list(values.values())), abs=1e-4)
    assert (year.body["pairs"], year.body["pairs_concatenated"]) == (160, 120)
    rest = [one for one in sets if one.data.name != "SMT"]
    together = stats.spearmanr(
        np.concatenate([one.similarity for one in rest]), np.concatenate([one.data.gold for one in rest])
    ).statistic
    assert year.body["spearman_concatenated"] == pytest.approx(100 * together, abs=1e-4)


def test_the_average_is_over_years_not_pairs():
    rng = np.random.default_rng(3)
    years = {
        "2013": sts.score_year("2013", random_year(testsets.YEARS["2013"], rng)),
        "2015": sts.score_year("2015", random_year(["images"], rng, pairs=300)),
    }
    body = sts.average(years)
    assert body["years"] == ["2013", "2015"]
    for key in ("pearson_mean", "spearman_concatenated"):
        assert body[key] == pytest.approx(np.mean([year.body[key] for year in years.values()]), abs=1e-3)
    without = (years["2013"].body["pearson_mean_without_smt"] + years["2015"].body["pearson_mean"]) / 2
    assert body["pearson_mean_without_smt"] == pytest.approx(without, abs=1e-3)
    assert (body["pairs"], body["pairs_concatenated"]) == (460, 420)


def test_a_set_without_correlation_leaves_no_mean_and_says_so():
    sets = [*random_year(["images"], np.random.default_rng(4)), scored("belief", [0.5, 0.5, 0.5], [1, 2, 3])]
    year = sts.score_year("2015", sets)
    assert year.body["pearson_mean"] is None
    assert year.body["pearson_mean_why"] == "no correlation on belief"
    assert year.body["spearman_concatenated"] is not None
    body = sts.average({"2015": year})
    assert body["pearson_mean"] is None
    assert body["pearson_mean_why"] == "no figure for 2015"
    json.dumps([year.body, body], allow_nan=False)


def test_smt_alone_has_no_concatenation():
    body = sts.score_year("2013", random_year(["SMT"], np.random.default_rng(5))).body
    assert body["pearson_mean"] is not None
    assert body["spearman_concatenated"] is None
    assert body["pearson_mean_without_smt"] is None
    assert body["pairs_concatenated"] == 0
