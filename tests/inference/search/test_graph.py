"""Approximate search in a graph: against exact search."""

from __future__ import annotations

import numpy as np
import pytest

from psp.core.errors import DataError
from psp.inference.search.graph import Graph
from psp.inference.search.neighbours import nearest, use_threads
from psp.inference.search.vectors import unit

pytest.importorskip("faiss", reason="faiss is not installed (the extra search)")


def test_a_graph_finds_nearly_what_the_exact_search_finds(crowd):
    queries, rows = crowd
    graph = Graph.prepare(rows)
    exact = nearest(queries, rows, 5)

    def recall(effort):
        found = graph.nearest(queries, 5, effort)
        for cosines, numbers in zip(found.cosines, found.numbers, strict=True):
            assert len(set(numbers.tolist())) == 5 and (np.diff(cosines) <= 0).all()
        # Of copies any will do: what counts is the cosine.
        return np.mean(found.cosines >= exact.cosines[:, -1:] - 1e-9)

    assert 0.6 < recall(1) < recall(1500)
    assert recall(1500) > 0.99


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_graph_of_few_rows_finds_them_all(rows):
    table = unit(np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float32))[0]
    found = Graph.prepare(table).nearest(table, 10, 1)
    assert [sorted(numbers) for numbers in found.numbers.tolist()] == [list(range(rows))] * rows


def test_a_graph_is_the_same_again_on_one_thread_and_after_saving(crowd, tmp_path):
    queries, rows = crowd
    use_threads(1)
    graph = Graph.prepare(rows)
    graph.save(tmp_path / "a")
    Graph.prepare(rows).save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    loaded = Graph.load(tmp_path / "a", rows, np.arange(len(rows)))
    for wanted, found in zip(graph.nearest(queries, 5, 9), loaded.nearest(queries, 5, 9), strict=True):
        assert np.array_equal(wanted, found)


def test_a_graph_that_is_cut_short_or_cannot_be_written(crowd, tmp_path):
    path = tmp_path / "graph"
    Graph.prepare(crowd[1]).save(path)
    path.write_bytes(path.read_bytes()[:-1000])
    with pytest.raises(DataError, match="graph: missing, truncated or damaged; make the index again"):
        Graph.load(path, crowd[1], np.arange(len(crowd[1])))
    with pytest.raises(DataError, match="cannot be written; free space or choose another place"):
        Graph.prepare(crowd[1]).save(tmp_path / "no/such/folder")


def test_no_query(crowd):
    assert Graph.prepare(crowd[1]).nearest(crowd[0][:0], 2).numbers.shape == (0, 2)
