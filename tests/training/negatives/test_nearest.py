from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from psp.core.jit import set_threads
from psp.training.negatives import nearest as module
from psp.training.negatives.nearest import CAPACITY, Nearest, nearest

ROUNDING = 2e-6  # of a product in float32


def nothing(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)


def some(pairs: set[tuple[int, int]]) -> module.Places:
    """Excluded pairs, both ways round."""

    def places(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = [(place, j) for place, row in enumerate(rows.tolist()) for i, j in sorted(pairs) if i == row]
        found += [(place, i) for place, row in enumerate(rows.tolist()) for i, j in sorted(pairs) if j == row]
        return np.array([i for i, _ in found], dtype=np.int64), np.array([j for _, j in found], dtype=np.int64)

    return places


def check(found: Nearest, similarity: np.ndarray) -> None:
    """The choice is the best in float64, or as good within float32's rounding."""
    for query, (value, index) in enumerate(zip(found.value, found.index, strict=True)):
        best = similarity[query].max()
        if np.isneginf(best):
            assert np.isneginf(value)
        else:
            assert similarity[query, index] >= best - ROUNDING
            assert abs(value - best) <= ROUNDING


def vectors(rng: np.random.Generator, kind: str, count: int, dim: int) -> torch.Tensor:
    """Hard cases: nearly equal cosines, equal vectors, cosines around zero and below."""
    random = rng.standard_normal((count, dim))
    made = {
        "random": random,
        "near": 1.0 + 0.01 * random,  # all cosines about 1, and closer than bfloat16 can tell
        "copies": random[rng.integers(0, max(count // 50, 1), count)],
        "opposed": -np.abs(random),
        "zeros": np.where(rng.random((count, 1)) < 0.5, random, 0.0),
        "few": np.eye(dim)[rng.integers(0, dim, count)],
    }[kind]
    return functional.normalize(torch.from_numpy(made.astype(np.float32)), dim=1)


KINDS = ["random", "near", "copies", "opposed", "zeros", "few"]


@pytest.mark.parametrize("reduced", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("m", "n", "chunk"), [(1, 1, 4), (7, 200, 3), (200, 130, 64), (300, 300, 1000)])
def test_the_nearest_are_those_of_a_plain_product(reduced: bool, kind: str, m: int, n: int, chunk: int) -> None:
    rng = np.random.default_rng(m)
    rows, columns = vectors(rng, kind, m, 24), vectors(rng, "random" if kind == "opposed" else kind, n, 24)
    if kind == "opposed":
        columns = columns.abs()  # every cosine is negative
    similarity = rows.double().numpy() @ columns.double().numpy().T
    of_rows, of_columns = nearest(rows, columns, nothing, reduced=reduced, chunk_rows=chunk)
    check(of_rows, similarity)
    check(of_columns, similarity.T)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(KINDS),
    n=st.integers(1, 60),
    chunk=st.integers(1, 70),
    reduced=st.booleans(),
)
def test_what_is_excluded_is_never_chosen(seed: int, kind: str, n: int, chunk: int, reduced: bool) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = vectors(rng, kind, n, 8), vectors(rng, kind, n, 8)
    excluded = {(i, i) for i in range(n)} | {(int(i), int(j)) for i, j in rng.integers(0, n, (2 * n, 2))}
    similarity = rows.double().numpy() @ columns.double().numpy().T
    for i in range(len(rows)):
        for j in range(n):
            if (i, j) in excluded or (j, i) in excluded:
                similarity[i, j] = -np.inf
    of_rows, of_columns = nearest(rows, columns, some(excluded), reduced=reduced, chunk_rows=chunk)
    check(of_rows, similarity)
    check(of_columns, similarity.T)


def test_more_candidates_than_fit_are_compared_with_everything() -> None:
    """Copies of one sentence: all are nearest to each, and bfloat16 can tell none of them from near-copies."""
    rng = np.random.default_rng(1)
    base = rng.standard_normal((1, 64))
    near = torch.from_numpy((base + 1e-3 * rng.standard_normal((5 * CAPACITY, 64))).astype(np.float32))
    near = functional.normalize(near, dim=1)
    diagonal = some({(i, i) for i in range(len(near))})
    of_rows, of_columns = nearest(near, near, diagonal, reduced=True, chunk_rows=50)
    similarity = near.double().numpy() @ near.double().numpy().T
    np.fill_diagonal(similarity, -np.inf)
    check(of_rows, similarity)
    check(of_columns, similarity)


def test_reduced_precision_chooses_as_float32_does() -> None:
    rng = np.random.default_rng(5)
    rows, columns = vectors(rng, "random", 700, 64), vectors(rng, "random", 700, 64)
    found = [nearest(rows, columns, nothing, reduced=reduced) for reduced in (True, False)]
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_array_equal(ours.index, theirs.index)
    # It does not by itself: that bfloat16's own choice differs shows that candidates were compared again.
    alone = (rows.bfloat16() @ columns.bfloat16().T).max(dim=1).indices.numpy()
    assert (alone != found[0][0].index).any()


@pytest.mark.slow
def test_of_equals_the_first_is_taken_for_any_chunk_and_threads() -> None:
    rng = np.random.default_rng(1)
    rows, columns = (functional.normalize(torch.eye(4)[rng.integers(0, 4, 90)], dim=1) for _ in range(2))
    expected = (rows @ columns.T).numpy()
    for reduced in (True, False):
        for threads in (1, 2):
            for chunk in (7, 90):
                before = set_threads(threads)
                of_rows, of_columns = nearest(rows, columns, nothing, reduced=reduced, chunk_rows=chunk)
                set_threads(before)
                np.testing.assert_array_equal(of_rows.index, expected.argmax(axis=1))
                np.testing.assert_array_equal(of_columns.index, expected.argmax(axis=0))


@pytest.mark.parametrize("kind", KINDS)
def test_torchs_own_path_chooses_the_same(kind: str) -> None:
    """The path of a GPU, on the CPU."""
    rng = np.random.default_rng(2)
    columns = vectors(rng, kind, 60, 16)
    rows = columns if kind == "copies" else vectors(rng, kind, 60, 16)
    excluded = some({(i, i) for i in range(60)} | {(20, j) for j in range(60)})  # this row has none left
    similarity = rows.double().numpy() @ columns.double().numpy().T
    similarity[np.arange(60), np.arange(60)] = similarity[20] = similarity[:, 20] = -np.inf
    for reduced in (True, False):
        of_rows, of_columns = module._TorchSearch(rows, columns, excluded, True, reduced, 32).run()
        check(of_rows, similarity)
        check(of_columns, similarity.T)


def test_torchs_own_path_compares_candidates_of_reduced_precision_again() -> None:
    """Cosines that differ by about what bfloat16 rounds off: with a quarter of the bound it takes wrong ones."""
    rng = np.random.default_rng(5)
    near = rng.standard_normal((1, 64)) + 0.05 * rng.standard_normal((600 + CAPACITY, 64))
    rows, columns = functional.normalize(torch.from_numpy(near.astype(np.float32)), dim=1).split([600, CAPACITY])
    reduced, exact = (module._TorchSearch(rows, columns, nothing, True, how, 256).run() for how in (True, False))
    for ours, theirs in zip(reduced, exact, strict=True):
        np.testing.assert_array_equal(ours.index, theirs.index)
        np.testing.assert_allclose(ours.value, theirs.value, atol=ROUNDING)
    alone = (rows.bfloat16() @ columns.bfloat16().T).max(dim=1).indices.numpy()
    assert (alone != exact[0].index).any()


def test_torchs_own_path_bounds_the_candidates_that_it_compares(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of near-copies all are candidates of each: they are compared by a product, as is any query with too many."""
    rng = np.random.default_rng(1)
    near = rng.standard_normal((1, 64)) + 1e-3 * rng.standard_normal((5 * CAPACITY, 64))
    rows = functional.normalize(torch.from_numpy(near.astype(np.float32)), dim=1)
    columns = torch.cat([rows, vectors(rng, "random", 40, 64)])
    monkeypatch.setattr(module, "RANKED", 7)
    of_rows, of_columns = module._TorchSearch(rows, columns, nothing, True, True, 64).run()
    similarity = rows.double().numpy() @ columns.double().numpy().T
    check(of_rows, similarity)
    check(of_columns, similarity.T)
