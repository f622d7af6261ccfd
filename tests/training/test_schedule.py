from __future__ import annotations

import numpy as np
import pytest

from psp.training.trainer import learning_rate, megabatch_size


def test_grows_by_one_each_150_steps_up_to_the_maximum() -> None:
    assert [megabatch_size(step, 150, 60) for step in (0, 149, 150, 299, 300, 8849, 8850, 10**6)] == [
        1, 1, 2, 2, 3, 59, 60, 60,
    ]  # fmt: skip
    assert megabatch_size(0, 1, 1) == 1


def test_without_annealing_it_is_full_from_the_first_step() -> None:
    assert [megabatch_size(step, 0, 40) for step in (0, 1, 39, 10**6)] == [40] * 4


def test_a_linear_learning_rate_rises_and_falls_in_lines_and_is_never_zero() -> None:
    places = (np.arange(1000) + 0.5) / 1000
    rates = np.array([learning_rate(0.05, "linear", 0.2, done) for done in places])
    assert rates.min() > 0 and rates.max() == pytest.approx(0.05, rel=0.01)
    assert rates.argmax() in (199, 200)
    assert np.allclose(np.diff(rates, 2)[:190], 0) and np.allclose(np.diff(rates, 2)[210:], 0)
    assert learning_rate(0.05, "linear", 0, 0.01) == pytest.approx(0.0495)
    assert {learning_rate(0.05, "constant", 0.2, done) for done in places} == {0.05}
