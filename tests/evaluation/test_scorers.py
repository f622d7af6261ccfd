"""Similarities of embeddings: cosine, zero where there is nothing to compare, one embedding a distinct text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from psp.core.errors import DataError
from psp.evaluation.scorers import EmbeddingScorer, distinct


class Table:
    """Texts are row numbers of a table."""

    def __init__(self, rows):
        self.rows = np.asarray(rows)
        self.asked = []

    def embed_raw_text(self, sentences):
        self.asked.extend(sentences)
        return self.rows[[int(text) for text in sentences]]


@given(
    hnp.arrays(np.float32, (5, 3), elements=st.floats(width=32, allow_nan=False, allow_infinity=False)),
    st.lists(st.integers(0, 4), min_size=1, max_size=8),
)
def test_cosine_of_any_finite_vectors_is_finite_and_bounded(rows, picks):
    scorer = EmbeddingScorer(Table(rows))
    texts = [str(pick) for pick in picks]
    cross = scorer.cross(texts, texts)
    assert np.isfinite(cross).all()
    assert (np.abs(cross) <= 1).all()
    np.testing.assert_allclose(np.diag(cross), scorer.pairwise(texts, texts), atol=1e-12)
    nonzero = np.array([rows[pick].any() for pick in picks])
    np.testing.assert_allclose(np.diag(cross), nonzero.astype(float), atol=1e-12)


def test_matches_the_formula():
    rows = np.random.default_rng(0).standard_normal((6, 8)).astype(np.float32)
    scorer = EmbeddingScorer(Table(rows))
    expected = rows @ rows.T / np.outer(np.linalg.norm(rows, axis=1), np.linalg.norm(rows, axis=1))
    texts = list("012345")
    np.testing.assert_allclose(scorer.cross(texts, texts), expected, atol=1e-6)
    np.testing.assert_allclose(scorer.pairwise(list("012"), list("345")), np.diag(expected[:3, 3:]), atol=1e-6)


def test_each_distinct_text_is_embedded_once():
    table = Table(np.eye(3))
    EmbeddingScorer(table).pairwise(["0", "1", "0"], ["1", "2", "1"])
    assert sorted(table.asked) == ["0", "1", "2"]


def test_the_models_own_array_is_left_alone():
    rows = np.array([[3.0, 4.0], [1.0, 0.0]])

    class Same:
        def embed_raw_text(self, sentences):
            return rows

    EmbeddingScorer(Same()).pairwise(["a"], ["b"])
    assert rows.tolist() == [[3.0, 4.0], [1.0, 0.0]]


def test_equal_texts_have_equal_columns():
    rows = np.random.default_rng(1).standard_normal((40, 300)).astype(np.float32)
    texts = [str(i % 40) for i in range(97)]
    cross = EmbeddingScorer(Table(rows)).cross(texts, texts)
    np.testing.assert_array_equal(cross[:, :40], cross[:, 40:80])
    np.testing.assert_array_equal(cross[:40], cross[40:80])


def test_nothing_to_score():
    scorer = EmbeddingScorer(Table(np.eye(2)))
    assert scorer.pairwise([], []).shape == (0,)
    assert scorer.cross(["0"], []).shape == (1, 0)


def test_a_diverged_model_is_named():
    with pytest.raises(DataError, match="vector of '1' is not finite"):
        EmbeddingScorer(Table([[1.0, 0.0], [np.nan, 0.0]])).pairwise(["0"], ["1"])


@given(st.lists(st.text(max_size=2)))
def test_distinct_keeps_order_and_gives_the_texts_back(texts):
    found, rows = distinct(texts)
    assert found == list(dict.fromkeys(texts))
    assert [found[row] for row in rows] == texts
