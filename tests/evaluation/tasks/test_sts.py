"""STS: reading every layout as released, and the paper's figures."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from psp.evaluation import bootstrap, testsets
from psp.evaluation.tasks import sts
from psp.evaluation.tasks.base import Part
from psp.evaluation.tasks.similarity import correlations


def scored(name: str, similarity, gold, resamples: int = 50) -> sts.Scored:
    x, gold = np.array(similarity, np.float64), np.array(gold, np.float64)
    counts = bootstrap.resample_counts(len(gold), resamples, 1, f"test/{name}")
    data = testsets.StsSet(name, ["a"] * len(gold), ["b"] * len(gold), gold)
    return sts.Scored(data, x, counts, correlations(x, gold, counts))


def value(part: Part, metric: str):
    return part.metrics[metric].report["value"]


@settings(max_examples=30)
@given(st.lists(st.tuples(st.floats(-1, 1, width=16), st.integers(0, 5)), min_size=2, max_size=20))
def test_figures_equal_scipy_or_are_null_with_a_reason(pairs):
    similarity, gold = zip(*pairs, strict=True)
    figures = Part(len(pairs), scored("x", similarity, gold).metrics).report["figures"]
    json.dumps(figures, allow_nan=False)
    if len(set(similarity)) == 1 or len(set(gold)) == 1:
        assert figures["pearson"]["value"] is figures["spearman"]["value"] is figures["pearson"]["interval"] is None
        assert "equal" in figures["pearson"]["why"]
    else:
        assert figures["pearson"]["value"] == pytest.approx(100 * stats.pearsonr(similarity, gold).statistic, abs=1e-4)
        expected = stats.spearmanr(similarity, gold).statistic
        assert figures["spearman"]["value"] == pytest.approx(100 * expected, abs=1e-4)


def test_similarities_equal_but_for_rounding_rank_nothing():
    metrics = scored("x", [1.0, 1.0 - 1e-15, 1.0 - 2e-15], [1, 2, 3]).metrics
    assert metrics["pearson"].value is None
    assert metrics["pearson"].why == "the system finds every pair equally similar"


def random_year(names, rng, pairs=40):
    out = []
    for name in names:
        gold = rng.integers(0, 6, pairs)
        out.append(scored(name, gold / 5 + rng.standard_normal(pairs), gold))
    return out


def test_a_year_is_the_mean_over_sets_and_the_concatenation():
    sets = random_year(["images", "belief"], np.random.default_rng(0))
    part = sts._year("2015", sets)
    mean = np.mean([stats.pearsonr(one.similarity, one.data.gold).statistic for one in sets])
    together = stats.spearmanr(
        np.concatenate([one.similarity for one in sets]), np.concatenate([one.data.gold for one in sets])
    ).statistic
    assert value(part, "pearson") == pytest.approx(100 * mean, abs=1e-4)
    assert value(part, "spearman") == pytest.approx(100 * together, abs=1e-4)
    assert (part.items, part.metrics["spearman"].items) == (80, 80)
    assert list(part.further["sets"]) == ["images", "belief"]
    assert list(part.metrics) == ["pearson", "spearman"]
    for metric in part.metrics.values():
        low, high = metric.report["interval"]
        assert low < metric.value < high


def test_the_years_intervals_resample_within_each_set():
    sets = random_year(["images", "belief"], np.random.default_rng(2))
    year = sts._year("2015", sets)
    for draw in range(5):
        parts = [
            (np.repeat(one.similarity, one.counts[draw]), np.repeat(one.data.gold, one.counts[draw])) for one in sets
        ]
        mean = np.mean([stats.pearsonr(*part).statistic for part in parts])
        together = stats.spearmanr(*np.concatenate(parts, axis=1)).statistic
        assert year.metrics["pearson"].resampled[draw] == pytest.approx(100 * mean, abs=1e-7)
        assert year.metrics["spearman"].resampled[draw] == pytest.approx(100 * together, abs=1e-7)


def test_2013_has_smt_in_the_published_mean_and_not_in_the_concatenation():
    sets = random_year(testsets.YEARS["2013"], np.random.default_rng(1))
    part = sts._year("2013", sets)
    values = {one.data.name: stats.pearsonr(one.similarity, one.data.gold).statistic for one in sets}
    assert value(part, "pearson") == pytest.approx(100 * np.mean(list(values.values())), abs=1e-4)
    del values["SMT"]
    assert value(part, "pearson_without_smt") == pytest.approx(100 * np.mean(list(values.values())), abs=1e-4)
    assert (part.items, part.metrics["pearson"].items) == (160, None)
    assert part.metrics["spearman"].items == part.metrics["pearson_without_smt"].items == 120
    rest = [one for one in sets if one.data.name != "SMT"]
    together = stats.spearmanr(
        np.concatenate([one.similarity for one in rest]), np.concatenate([one.data.gold for one in rest])
    ).statistic
    assert value(part, "spearman") == pytest.approx(100 * together, abs=1e-4)


def test_the_average_is_over_years_not_pairs():
    rng = np.random.default_rng(3)
    years = {
        "2013": sts._year("2013", random_year(testsets.YEARS["2013"], rng)),
        "2015": sts._year("2015", random_year(["images"], rng, pairs=300)),
    }
    part = sts._average(years)
    assert part.further["years"] == ["2013", "2015"]
    for key in ("pearson", "spearman"):
        assert value(part, key) == pytest.approx(np.mean([value(year, key) for year in years.values()]), abs=1e-3)
    without = (value(years["2013"], "pearson_without_smt") + value(years["2015"], "pearson")) / 2
    assert value(part, "pearson_without_smt") == pytest.approx(without, abs=1e-3)
    assert (part.items, part.metrics["spearman"].items, part.metrics["pearson_without_smt"].items) == (460, 420, 420)


def test_a_set_without_correlation_leaves_no_mean_and_says_so():
    sets = [*random_year(["images"], np.random.default_rng(4)), scored("belief", [0.5, 0.5, 0.5], [1, 2, 3])]
    year = sts._year("2015", sets)
    assert year.metrics["pearson"].value is None
    assert year.metrics["pearson"].why == "no correlation on belief"
    assert year.metrics["spearman"].value is not None
    part = sts._average({"2015": year})
    assert part.metrics["pearson"].value is None
    assert part.metrics["pearson"].why == "no figure for 2015"
    json.dumps([year.report, part.report], allow_nan=False)


def test_smt_alone_has_no_concatenation():
    metrics = sts._year("2013", random_year(["SMT"], np.random.default_rng(5))).metrics
    assert metrics["pearson"].value is not None
    assert metrics["spearman"].value is None and metrics["spearman"].items == 0
    assert metrics["pearson_without_smt"].value is None
