"""Nearest neighbours, against a plain search that computes every cosine."""

from __future__ import annotations

import builtins
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import PspError
from psp.inference.search import neighbours
from psp.inference.search.neighbours import nearest, use_threads
from psp.inference.search.vectors import unit

pytest.importorskip("faiss", reason="faiss is not installed (the extra search)")


def tables(rows, dim):
    """Vectors of small whole numbers: ties, copies, opposites and zeros are frequent among them."""
    number = st.integers(-2, 2)
    return st.lists(st.lists(number, min_size=dim, max_size=dim), min_size=0, max_size=rows).map(
        lambda values: np.array(values, np.float32).reshape(-1, dim)
    )


def check(queries, rows, k, cosines, numbers):
    """What was found is what a plain search finds, its cosines right and in order, ties by the lower number."""
    k = min(k, len(rows))
    assert cosines.shape == numbers.shape == (len(queries), k)
    for query, values, found in zip(queries.tolist(), cosines.tolist(), numbers.tolist(), strict=True):
        every = [math.fsum(a * b for a, b in zip(query, row, strict=True)) for row in rows.tolist()]
        every = [min(1.0, max(-1.0, cosine)) for cosine in every]
        np.testing.assert_allclose(values, [every[number] for number in found], rtol=0, atol=1e-12)
        assert len(set(found)) == k
        assert list(zip([-value for value in values], found, strict=True)) == sorted(
            zip([-value for value in values], found, strict=True)
        )
        rest = set(range(len(rows))) - set(found)
        for number in rest:
            assert every[number] <= values[-1] + 1e-12
            for kept in found:  # a copy of what was found is left out only behind the lower number
                if (rows[kept] == rows[number]).all():
                    assert kept < number


@given(data=st.data(), dim=st.integers(1, 5), k=st.integers(1, 12), half=st.booleans())
def test_a_plain_search_finds_the_same(data, dim, k, half):
    queries, rows = (unit(data.draw(tables(size, dim)))[0] for size in (6, 40))
    if half:
        queries, rows = queries.astype(np.float16), rows.astype(np.float16)
    found = nearest(queries, rows, k)
    check(queries.astype(np.float32), rows.astype(np.float32), k, *found)


def test_neither_threads_nor_blocks_nor_batches_matter(crowd, monkeypatch):
    """Among 101 copies, of which faiss's own order is another, neither."""
    queries, rows = crowd
    expected = nearest(queries, rows, 8)
    check(queries[::10], rows, 8, expected.cosines[::10], expected.numbers[::10])
    try:
        for threads in (1, 2, 5):
            use_threads(threads)
            for block, batch, together in ((1 << 20, 4096, 100), (24 * 4 * 700, 150, 1000), (24 * 4 * 170, 31, 10**6)):
                monkeypatch.setattr(neighbours, "BLOCK_BYTES", block)
                monkeypatch.setattr(neighbours, "QUERIES", batch)
                monkeypatch.setattr(neighbours, "CANDIDATES", together)
                for wanted, found in zip(expected, nearest(queries, rows, 8), strict=True):
                    assert wanted.tobytes() == found.tobytes()
    finally:
        use_threads(1)


def test_unit_leaves_zeros_out_and_keeps_tiny_and_huge_ones():
    vectors, kept = unit(np.array([[3, 4], [0, 0], [1e-40, 0], [3e38, 3e38]], np.float32))
    assert kept.tolist() == [0, 2, 3]
    np.testing.assert_allclose(vectors, [[0.6, 0.8], [1, 0], [0.5**0.5, 0.5**0.5]], rtol=1e-6)
    assert vectors.dtype == np.float32


def test_what_a_graph_did_not_find_comes_last():
    rows = np.eye(4, dtype=np.float32)
    found = neighbours.exact_cosines(rows[:1], rows, np.array([[-1, 3, 0, -1]]))
    assert found.numbers.tolist() == [[0, 3, -1, -1]] and found.cosines.tolist() == [[1, 0, 0, 0]]


def test_without_faiss_the_error_names_the_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == "faiss":
            raise ModuleNotFoundError(name)
        return real(name, *rest)

    monkeypatch.delitem(sys.modules, "faiss", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(PspError, match=r"pip install 'paraphrastic\[search\]'"):
        use_threads(1)
