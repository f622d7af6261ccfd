"""Approximate search in lists: against exact search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.inference.search.lists import Lists
from psp.inference.search.neighbours import nearest
from psp.inference.search.vectors import to_stored, unit

pytest.importorskip("faiss", reason="faiss is not installed (the extra search)")

DTYPES = ["float32", "float16", "int8"]


def drawn(rows, dim=16, seed=1):
    """Vectors of length 1, drawn at random."""
    return unit(np.random.default_rng(seed).standard_normal((rows, dim)).astype(np.float32))[0]


@given(
    rows=st.integers(1, 300), dim=st.integers(2, 9), k=st.integers(1, 9), dtype=st.sampled_from(DTYPES),
    seed=st.integers(0, 9),
)  # fmt: skip
def test_all_lists_find_what_exact_search_finds(tmp_path_factory, rows, dim, k, dtype, seed):
    vectors = to_stored(drawn(rows, dim, seed), np.dtype(dtype))
    queries = to_stored(drawn(50, dim, seed + 10), np.dtype(dtype))
    lists = Lists.prepare(vectors, tmp_path_factory.mktemp("lists"), "x")
    order = lists.numbers[:]
    np.testing.assert_array_equal(vectors[order], lists.rows[:])
    assert sorted(order.tolist()) == sorted([*range(rows)] * (2 if rows > 1 else 1))
    for number in range(len(lists.centroids)):  # a row's copies are in two lists
        first, end = lists.starts[number : number + 2]
        assert len(set(order[first:end].tolist())) == end - first
    found, right = lists.nearest(queries, k, 10_000), nearest(queries, vectors, k)
    width = right.cosines.shape[1]
    np.testing.assert_allclose(found.cosines[:, :width], right.cosines, atol=1e-12)
    assert (found.numbers[:, :width] >= 0).all() and (found.numbers[:, width:] == -1).all()
    assert all(len(set(row)) == width for row in found.numbers[:, :width].tolist())


def test_lists_find_most_neighbours_in_a_part_of_the_rows(tmp_path):
    """Of texts with near copies, as translations are to one another."""
    rows = drawn(4000, 32)
    noise = np.random.default_rng(5).standard_normal((500, 32)).astype(np.float32)
    queries = unit(rows[:500] + 0.1 * noise)[0]
    lists = Lists.prepare(rows, tmp_path, "x")
    exact = nearest(queries, rows, 1).numbers
    shares = [(lists.nearest(queries, 1, effort).numbers == exact).mean() for effort in (1, 4, 64)]
    assert shares[0] < shares[1] < shares[2] and shares[2] > 0.98, shares


def test_saved_lists_are_the_same(tmp_path):
    lists = Lists.prepare(drawn(500), tmp_path, "x")
    lists.save(tmp_path / "lists.npz")
    grouped = lists.rows[:]
    loaded = Lists.load(tmp_path / "lists.npz", grouped, lists.numbers)
    for array, right in zip(loaded.nearest(drawn(9), 3, 4), lists.nearest(drawn(9), 3, 4), strict=True):
        np.testing.assert_array_equal(array, right)
    for data in (b"", (tmp_path / "lists.npz").read_bytes()[:200]):
        (tmp_path / "bad.npz").write_bytes(data)
        with pytest.raises(DataError, match=r"bad.npz: missing, truncated or damaged; make the index again"):
            Lists.load(tmp_path / "bad.npz", grouped, lists.numbers)


def test_the_more_memory_the_more_queries_at_a_time(tmp_path):
    lists = Lists.prepare(drawn(500), tmp_path, "x")
    sizes = [lists.queries_in(memory, 4, 8) for memory in (1, 4 << 20, 1 << 40)]
    assert sizes == sorted(set(sizes)) and sizes[0] == 1024
