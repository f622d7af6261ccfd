"""Retrieval by nearest neighbour, and the codes of its test sets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from psp.evaluation.tasks import tatoeba
from psp.text.languages import NAMES, TATOEBA


class Fixed:
    """A scorer with a given matrix."""

    def __init__(self, matrix):
        self.matrix = np.asarray(matrix, dtype=np.float64)

    def pairwise(self, a, b):
        return np.diag(self.matrix)

    def cross(self, a, b):
        return self.matrix


@given(hnp.arrays(np.int8, st.integers(1, 8).map(lambda n: (n, n)), elements=st.integers(0, 3)))
def test_errors_in_both_directions_equal_a_plain_search(matrix):
    n = len(matrix)
    foreign, english = [f"f{i}" for i in range(n)], [f"e{i}" for i in range(n)]
    found = tatoeba.score(Fixed(matrix), foreign, english, "fra")

    def plain(rows):
        # The first of the best candidates, as a search that keeps the first one it meets.
        return sum(max(range(n), key=lambda j: (rows[i][j], -j)) != i for i in range(n))

    assert found["fra-eng"]["errors"] == plain(matrix.tolist())
    assert found["eng-fra"]["errors"] == plain(matrix.T.tolist())
    assert found["fra-eng"]["error"] == pytest.approx(100 * plain(matrix.tolist()) / n, abs=1e-4)
    assert found["fra-eng"]["pairs"] == n


def test_directions_are_not_confused():
    # Every foreign sentence finds English sentence 0; every English one finds its own.
    matrix = [[9, 1, 1], [8, 7, 1], [8, 1, 7]]
    found = tatoeba.score(Fixed(matrix), ["a", "b", "c"], ["x", "y", "z"], "fra")
    assert found["fra-eng"]["errors"] == 2
    assert found["eng-fra"]["errors"] == 0


def test_the_right_text_elsewhere_is_an_error_and_a_duplicate():
    # English 0 and 1 are one text, and a tie goes to the first: foreign 1 finds index 0.
    found = tatoeba.score(Fixed([[1, 1, 0], [1, 1, 0], [1, 0, 0]]), ["a", "b", "c"], ["x", "x", "z"], "fra")
    assert found["fra-eng"] | {"interval": None} == {
        "error": 66.6667,
        "interval": None,
        "errors": 2,
        "duplicates": 1,
        "pairs": 3,
    }


def test_every_language_has_a_name():
    assert set(TATOEBA) <= set(NAMES)
    assert NAMES["zh"] == "Mandarin Chinese"
