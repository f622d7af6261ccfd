"""Cosines, against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.models.cosines import cosines, fast_cosines, unit

pairs_of_vectors = st.lists(st.tuples(*[st.floats(-5, 5, width=32)] * 6), max_size=9).map(
    lambda rows: np.array(rows, np.float32).reshape(-1, 6)
)


@pytest.mark.parametrize("function", [cosines, fast_cosines])
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@given(rows=pairs_of_vectors)
def test_cosines_equal_their_definition(function, scale, rows):
    rows = rows * np.float32(scale)
    expected = []
    for row in rows.astype(np.float64):
        norm = np.linalg.norm(row[:3]) * np.linalg.norm(row[3:])
        expected.append(row[:3] @ row[3:] / norm if norm > 0 else 0.0)
    found = function(rows[:, :3], rows[:, 3:])
    assert (found.shape, found.dtype) == ((len(rows),), np.float64)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert (np.abs(found) <= 1).all()


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@given(rows=pairs_of_vectors)
def test_normalised_vectors_have_length_1_or_are_zeros(scale, rows):
    rows = rows * np.float32(scale)
    found = unit(rows)
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    assert (found.shape, found.dtype) == (rows.shape, np.float32)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), lengths > 0, atol=1e-6)
    np.testing.assert_allclose(found * lengths[:, None], rows, rtol=0, atol=5e-6 * scale)
