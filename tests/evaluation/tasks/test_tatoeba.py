"""Retrieval by nearest neighbour, and the codes of its test sets."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from psp.evaluation.tasks.base import BootstrapSpec
from psp.evaluation.tasks.tatoeba import Tatoeba
from psp.text.languages import NAMES, TATOEBA


class Fixed:
    """A scorer with a given matrix."""

    def __init__(self, matrix):
        self.matrix = np.asarray(matrix, dtype=np.float64)

    def pairwise(self, a, b):
        return np.diag(self.matrix)

    def cross(self, a, b):
        return self.matrix


def score(matrix, foreign, english):
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / side) for side in ("fr", "en")]
        for path, lines in zip(paths, (foreign, english), strict=True):
            Path(path).write_text("".join(f"{line}\n" for line in lines))
        return Tatoeba({"sets": {"fr": paths}}).score(Fixed(matrix), BootstrapSpec(20, 1, "tatoeba"))


@given(hnp.arrays(np.int8, st.integers(1, 8).map(lambda n: (n, n)), elements=st.integers(0, 3)))
def test_errors_in_both_directions_equal_a_plain_search(matrix):
    n = len(matrix)
    foreign, english = [f"f{i}" for i in range(n)], [f"e{i}" for i in range(n)]
    found = score(matrix, foreign, english)

    def plain(rows):
        # The first of the best candidates, as a search that keeps the first one it meets.
        return sum(max(range(n), key=lambda j: (rows[i][j], -j)) != i for i in range(n))

    errors = plain(matrix.tolist()), plain(matrix.T.tolist())
    assert [found[key].further["errors"] for key in ("fra-eng", "eng-fra")] == [*errors]
    assert found["fra-eng"].metrics["error"].value == pytest.approx(100 * errors[0] / n, abs=1e-4)
    assert found["fra-eng"].items == n
    assert found["fra"].metrics["error"].value == pytest.approx(100 * sum(errors) / n / 2, abs=1e-3)
    assert found["mean"].metrics["error"].value == found["fra"].metrics["error"].value
    assert found["mean"].mean_of == ["fra"] and found["fra"].mean_of == ["fra-eng", "eng-fra"]


def test_the_right_text_elsewhere_is_an_error_and_a_duplicate():
    # English 0 and 1 are one text, and a tie goes to the first: foreign 1 finds index 0.
    found = score([[1, 1, 0], [1, 1, 0], [1, 0, 0]], ["a", "b", "c"], ["x", "x", "z"])["fra-eng"]
    assert found.report["figures"]["error"]["value"] == 66.6667
    assert (found.further, found.items) == ({"errors": 2, "duplicates": 1}, 3)


def test_every_language_has_a_name():
    assert set(TATOEBA) <= set(NAMES)
    assert NAMES["zh"] == "Mandarin Chinese"
