"""Products in bfloat16: within their bound, and what search by them finds is what it finds without, bit for bit."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.inference.search import bfloat16, neighbours
from psp.inference.search.bitext import mine
from psp.inference.search.neighbours import nearest
from psp.inference.search.on_disk import GrowingArray, ReleasedRows
from psp.inference.search.vectors import to_stored, unit
from tests.inference.search.test_lists import DTYPES, drawn
from tests.inference.search.test_neighbours import check, tables

pytest.importorskip("faiss", reason="faiss is not installed (the extra search)")
torch = pytest.importorskip("torch", reason="torch is not installed (the extra train)")


def use(patch, queries=70, part=16, block=32, group=4):
    """Search by products in bfloat16, however little there is to do and whatever the processor."""
    patch.setattr(neighbours, "QUERIES", 1)
    patch.setattr("psp.inference.search.base.QUERIES", queries)
    patch.setattr(bfloat16, "batch", lambda dim: queries)
    for name, value in {"WORK": 0, "PART": part, "BLOCK": block, "GROUP": group}.items():
        patch.setattr(bfloat16, name, value)
    patch.setattr(bfloat16, "available", lambda: True)


def both(queries, rows, k, **sizes):
    """What is found by faiss alone and what with bfloat16."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bfloat16, "available", lambda: False)
        expected = nearest(queries, rows, k)
        use(patch, **sizes)
        called, found = [], bfloat16.candidates
        patch.setattr(bfloat16, "candidates", lambda *args, **named: (called.append(1), found(*args, **named))[1])
        got = nearest(queries, rows, k)
    return expected, got, len(called)


def same(expected, got):
    return all(one.tobytes() == two.tobytes() for one, two in zip(expected, got, strict=True))


@given(data=st.data(), dim=st.integers(1, 5), k=st.integers(1, 60), dtype=st.sampled_from(DTYPES))
def test_a_plain_search_finds_the_same(data, dim, k, dtype):
    queries, rows = (to_stored(unit(data.draw(tables(size, dim)))[0], np.dtype(dtype)) for size in (20, 150))
    expected, got, _ = both(queries, rows, k)
    assert same(expected, got)
    if dtype != "int8":  # whose vectors have length 1 only within rounding
        check(queries.astype(np.float32), rows.astype(np.float32), k, *got)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("part", "block", "group"), [(16, 32, 4), (1024, 8192, 64), (7, 640, 64), (100, 64, 1)])
def test_any_sizes_types_and_threads_find_the_same(dtype, part, block, group):
    rows = to_stored(drawn(9000, seed=1), np.dtype(dtype))
    queries = to_stored(drawn(150, seed=2), np.dtype(dtype))
    try:
        for threads in (1, 3):
            neighbours.use_threads(threads)
            before = torch.get_num_threads()  # in some installations both have one OpenMP, and so one number
            expected, got, called = both(queries, ReleasedRows(rows), 4, part=part, block=block, group=group)
            assert same(expected, got) and called == 3
            assert torch.get_num_threads() == before
    finally:
        neighbours.use_threads(1)


def near_ties(rng, count, dim):
    """Rows within 10^-7 to 10^-2 of one, copies among them: what rounding to bfloat16 confuses."""
    noise = rng.standard_normal((count, dim)) * 10.0 ** -rng.integers(2, 8, (count, 1))
    rows = rng.standard_normal(dim) + noise
    rows[rng.integers(0, count, count // 5)] = rows[0]
    return unit(rows.astype(np.float32))[0]


@pytest.mark.parametrize("order", ["any", "rising", "falling"])
@pytest.mark.parametrize("k", [1, 4, 48])
def test_near_ties_are_told_apart(order, k):
    rng = np.random.default_rng(3)
    queries = near_ties(rng, 40, 24)
    rows = np.concatenate([queries[::2], near_ties(rng, 500, 24), drawn(500, 24)])
    if order != "any":
        by = np.argsort(rows @ queries[0])
        rows = rows[by if order == "rising" else by[::-1]]
    expected, got, called = both(queries, rows, k)
    assert same(expected, got) and called == 1


def test_too_many_copies_are_left_to_faiss(crowd):
    queries, rows = crowd
    # In one block of 24 groups, the rows of a group are 24 apart: the copies fill one group and a part of another.
    copies = (rows == rows[17]).all(axis=1)
    order = np.empty(1500, int)
    places = np.argsort(np.arange(1500) % 24, kind="stable")
    order[places] = np.argsort(~copies, kind="stable")
    rows, sizes = rows[order], {"block": 1536, "group": 64}
    with pytest.MonkeyPatch.context() as patch:
        use(patch, **sizes)
        numbers, others = bfloat16.candidates(queries, rows, 20, threads=1)
    assert np.isinf(others[:40]).all() and (numbers[:40] == -1).all()
    assert np.isfinite(others[40:]).mean() > 0.5
    expected, got, _ = both(queries, rows, 4, **sizes)
    assert same(expected, got)


@pytest.mark.parametrize("dim", [1, 3, 64, 1024])
def test_a_product_is_within_its_bound(dim):
    rng = np.random.default_rng(dim)
    halfway = (128 + rng.integers(0, 128, (400, dim)) + 0.5) / 128  # between two numbers of bfloat16: the largest error
    signs = rng.choice([-1, 1], halfway.shape)
    vectors = unit(np.concatenate([halfway, halfway * signs, rng.standard_normal((400, dim))]))[0]
    # Of length 1, they are halfway no more; rows of equal numbers are again.
    vectors = np.concatenate([vectors, np.full((1, dim), 1.00390625 * 2.0**-5 if dim == 1024 else dim**-0.5)])
    half = torch.from_numpy(vectors).bfloat16()
    products = (half @ half.T).float().numpy()
    exact = vectors.astype(np.float64) @ vectors.astype(np.float64).T
    assert np.abs(products - exact).max() <= bfloat16.error(dim)


@pytest.mark.parametrize("wanted", [5, 20, 64])
def test_no_other_row_is_above_the_bound(wanted):
    queries, rows = drawn(300, seed=5), np.concatenate([drawn(3000, seed=6), -drawn(300, seed=5)])
    with pytest.MonkeyPatch.context() as patch:
        use(patch, block=2048, group=16)
        numbers, others = bfloat16.candidates(queries, rows, wanted, threads=2)
    cosines = queries.astype(np.float64) @ rows.astype(np.float64).T
    for query, found in enumerate(numbers):
        assert len(set(found[found >= 0])) == (found >= 0).sum()
        assert np.delete(cosines[query], found[found >= 0]).max() <= others[query]
    assert ((numbers >= 0).sum(1) >= min(wanted, 20) - 5).mean() > 0.9


@pytest.mark.parametrize("begun_with", [True, False])
def test_a_killed_run_goes_on_with_or_without_them(tmp_path, monkeypatch, begun_with):
    source, target = (to_stored(drawn(700, seed=seed), np.dtype(np.int8)) for seed in (1, 2))
    monkeypatch.setattr(bfloat16, "available", lambda: False)
    expected = mine(source, target, threshold=0.9)
    use(monkeypatch)
    append, written = GrowingArray.append, []

    def killed(self, rows, durable=True):
        append(self, rows, durable)
        written.append(len(rows))
        if len(written) == 13:  # of 20
            raise KeyboardInterrupt

    monkeypatch.setattr(GrowingArray, "append", killed)
    monkeypatch.setattr(bfloat16, "available", lambda: begun_with)
    with pytest.raises(KeyboardInterrupt):
        mine(source, target, threshold=0.9, folder=tmp_path)
    assert written == [*[70] * 10, *[70] * 3] and (tmp_path / "backward.neighbours").exists()
    monkeypatch.setattr(bfloat16, "available", lambda: not begun_with)
    for array, right in zip(mine(source, target, threshold=0.9, folder=tmp_path), expected, strict=True):
        assert array.tobytes() == right.tobytes()
    assert len(expected.margins) > 100


def test_when_they_pay(monkeypatch):
    rows = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), (1 << 20, 256), (0, 0))
    monkeypatch.setattr(bfloat16, "available", lambda: True)
    assert bfloat16.pays(8192, rows, 20)
    assert not bfloat16.pays(8192, rows, 100) and not bfloat16.pays(8192, rows[:90_000], 20)
    assert not bfloat16.pays(1 << 40, rows[:8000], 20)
    queries_in = neighbours.Exact.prepare(rows).queries_in
    assert queries_in(1 << 30, 4, None) == 32_768 > queries_in(1 << 29, 4, None) == neighbours.QUERIES
    monkeypatch.setattr(bfloat16, "available", lambda: False)
    assert not bfloat16.pays(8192, rows, 20) and queries_in(1 << 30, 4, None) == neighbours.QUERIES


def test_small_searches_do_not_import_torch():
    code = (
        "import sys, numpy as np; from psp.inference.search import bfloat16, neighbours; bfloat16.available(); "
        "rows = np.eye(64, dtype=np.float32).repeat(200, 0); neighbours.nearest(rows, rows, 4); "
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_neither_amx_nor_torch_is_no_error(monkeypatch):
    bfloat16.available.cache_clear()
    try:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        assert not bfloat16.available()
        bfloat16.available.cache_clear()
        monkeypatch.setattr("pathlib.Path.exists", lambda path: False)
        assert not bfloat16.available()
    finally:
        bfloat16.available.cache_clear()
