"""Variants side by side: the figures of their seeds, from files as a run writes them."""

import statistics

import numpy as np
import pytest

from psp.evaluation.variants import figures, summary

CONDITIONS = {"confidence": 0.95, "resamples": 100, "seed": 1}


def correlation(value):
    return {
        "pearson": value, "pearson_interval": [value - 1, value + 1], "spearman": value, "spearman_interval": None,
        "pairs": 10,
    }  # fmt: skip


def body(pearson, errors):
    return {
        "conditions": CONDITIONS,
        "sts": {"average": {"pearson_mean": pearson, "spearman_concatenated": pearson - 1}},
        "semeval2017": {},
        "stsb": {"dev": correlation(pearson + 1), "test": correlation(pearson + 2)},
        "tatoeba": {
            iso: {f"{iso}-eng": {"error": a}, f"eng-{iso}": {"error": b}} for iso, (a, b) in errors.items()
        },
        "files": {},
        "skipped": [],
    }  # fmt: skip


def test_figures_have_spearman_and_the_means_of_directions_and_languages():
    found = figures(body(60.0, {"fra": (4.0, 6.0), "deu": (1.0, 2.0)}))
    assert found == {
        "sts": 60.0, "sts/spearman": 59.0, "stsb/dev": 61.0, "stsb/test": 62.0,
        "tatoeba/fra-eng": 4.0, "tatoeba/eng-fra": 6.0, "tatoeba/deu-eng": 1.0, "tatoeba/eng-deu": 2.0,
        "tatoeba/fra": 5.0, "tatoeba/deu": 1.5, "tatoeba": 3.25,
    }  # fmt: skip


@pytest.mark.parametrize("values", [[1.5], [68.9, 69.3, 69.05], [20_000.0, 21_500.5, 19_000.25, 3.0]])
def test_mean_and_deviation_are_those_of_a_sample(values):
    found = summary(values)
    assert found["values"] == values
    assert found["mean"] == pytest.approx(statistics.mean(values), abs=5e-5)
    if len(values) == 1:
        assert found["deviation"] is None
    else:
        assert found["deviation"] == pytest.approx(np.std(values, ddof=1), abs=5e-5)


def test_a_missing_figure_leaves_no_mean():
    assert summary([1.0, None]) == {"values": [1.0, None], "mean": None, "deviation": None}
