"""Tables of 32, 16 and 8 bits: their means, by NumPy and by compiled code, against plain float64 arithmetic."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.models import pooling
from psp.models.static import BUFFER_BYTES, write_means
from psp.models.table import CHUNK, SHARES, EmbeddingMatrix, packed, read_table, unpacked, write_table

ROWS = 60


def tables(dim: int, seed: int = 0) -> list[EmbeddingMatrix]:
    """One of each kind."""
    rng = np.random.default_rng(seed)
    rows = (rng.standard_normal((ROWS, dim)) * rng.lognormal(0, 1, (ROWS, 1))).astype(np.float32)
    whole = rng.integers(-127, 128, (ROWS, dim)).astype(np.int8)
    return [
        EmbeddingMatrix(rows),
        EmbeddingMatrix(rows.astype(np.float16)),
        EmbeddingMatrix(whole, rng.lognormal(0, 1, ROWS).astype(np.float32), by_row=True),
        EmbeddingMatrix(whole, rng.lognormal(0, 1, dim).astype(np.float32), by_row=False),
    ]


def flat(sentences: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
    return np.array([number for ids in sentences for number in ids], np.int32), offsets


def pooled(table: EmbeddingMatrix, sentences: list[list[int]], compiled: object = None) -> np.ndarray:
    out = np.full((len(sentences), table.dim), np.nan, np.float32)
    write_means(table, *flat(sentences), out, compiled)
    return out


@given(
    sentences=st.lists(st.lists(st.integers(0, ROWS - 1), max_size=12), max_size=12),
    dim=st.sampled_from([1, 3, 8, 17, 64, 1000]),
    kind=st.integers(0, 3),
)
def test_means_are_the_rows_means_and_both_ways_have_the_same_bytes(sentences, dim, kind):
    table = tables(dim)[kind]
    found = pooled(table, sentences)
    rows = table.rows().astype(np.float64)
    expected = np.array([rows[ids].mean(axis=0) if ids else np.zeros(dim) for ids in sentences]).reshape(-1, dim)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)
    assert pooled(table, sentences, pooling).tobytes() == found.tobytes()


@pytest.mark.parametrize("kind", range(4))
def test_long_sentences_and_more_of_one_length_than_the_buffer_holds(kind):
    table, rng = tables(1024)[kind], np.random.default_rng(3)
    rows = BUFFER_BYTES // (4 * 1024)
    sizes = (5000, rows + 1, rows // 2 + 1, 0, 1, *[3] * (rows + 3), *rng.integers(0, 60, 500))
    sentences = [rng.integers(0, ROWS, size).tolist() for size in sizes]
    found = pooled(table, sentences)
    assert pooled(table, sentences, pooling).tobytes() == found.tobytes()
    expected = [table.rows()[ids].astype(np.float64).mean(axis=0) if ids else np.zeros(1024) for ids in sentences]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-3)


@pytest.mark.parametrize("kind", range(4))
def test_memory_does_not_grow_with_a_sentence(kind):
    table = tables(256)[kind]
    ids, offsets, out = *flat([list(range(ROWS)) * 1000]), np.empty((1, table.dim), np.float32)
    tracemalloc.start()
    try:
        write_means(table, ids, offsets, out)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * BUFFER_BYTES < ids.size * table.values[0].nbytes / 2


@pytest.mark.slow
def test_every_half_is_the_float_that_it_is():
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    table = EmbeddingMatrix(halves[np.isfinite(halves)][:, None])
    sentences = [[row] for row in range(len(table))]
    assert pooled(table, sentences, pooling).tobytes() == table.values.astype(np.float32).tobytes()


def test_a_table_in_a_file_is_read_where_it_lies(tmp_path):
    """Its rows begin wherever the header ends, and it may not be written to."""
    for table in tables(5):
        write_table(tmp_path / "t", {"a": table.values, "longer name": np.zeros((2, 2), np.float32)})
        found = read_table(tmp_path / "t")
        assert not found["a"].flags.writeable and not found["a"].flags.owndata
        assert found["a"].dtype == table.values.dtype
        again = EmbeddingMatrix(found["a"], table.scale, by_row=table.by_row)
        assert pooled(again, [[3, 4], [5]], pooling).tobytes() == pooled(table, [[3, 4], [5]]).tobytes()
        assert np.array_equal(safetensors.numpy.load_file(tmp_path / "t")["a"], table.values)


@pytest.mark.parametrize("keep", [0, 4, 8, 50, -1])
def test_a_cut_file_is_refused(tmp_path, keep):
    write_table(tmp_path / "t", {"a": np.ones((9, 9), np.float32)})
    whole = (tmp_path / "t").read_bytes()
    (tmp_path / "t").write_bytes(whole[:keep])
    with pytest.raises(DataError, match="t: truncated or damaged"):
        read_table(tmp_path / "t")


def test_a_header_that_reaches_past_the_file_is_refused(tmp_path):
    header = json.dumps({"a": {"dtype": "F32", "shape": [2**40, 4], "data_offsets": [0, 2**44]}}).encode()
    (tmp_path / "t").write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 64)
    with pytest.raises(DataError, match="damaged"):
        read_table(tmp_path / "t")


@given(seed=st.integers(0, 1000), dim=st.integers(1, 40))
def test_conversions_lose_what_their_bits_lose(seed, dim):
    table = tables(dim, seed)[0]
    assert table.converted() is table and table.converted("float32", dim) is table
    half = table.converted("float16")
    np.testing.assert_allclose(half.rows(), table.values, rtol=2**-11, atol=2**-24)
    byte = table.converted("int8")
    step = byte.scale[:, None] if byte.by_row else byte.scale[None, :]
    assert (np.abs(byte.rows() - table.values) <= step * 0.501).all()
    assert byte.nbytes == table.values.size + 4 * len(byte.scale)
    part = table.converted(dim=max(1, dim // 2))
    assert np.array_equal(part.values, table.values[:, : max(1, dim // 2)]) and part.values.flags.c_contiguous
    assert np.array_equal(half.converted("float32").values, half.rows())


@given(seed=st.integers(0, 1000), dim=st.integers(1, 40))
def test_4_bits_are_the_best_of_the_scales_tried_and_come_back_from_their_bytes(seed, dim):
    table = tables(dim, seed)[0]
    small = table.converted("int4")
    assert (small.dtype, small.by_row, small.converted("int4")) == ("int4", True, small) and small.finite()
    assert np.array_equal(unpacked(packed(small.values), dim), small.values) and np.abs(small.values).max() <= 7
    assert small.nbytes == packed(small.values).nbytes + small.scale.nbytes
    largest = np.abs(table.values).max(axis=1, keepdims=True)
    for share in SHARES:
        step = np.where(largest == 0, 1, largest * share / 7)
        plain = np.clip(np.rint(table.values / step), -7, 7) * step
        errors = [np.square(one - table.values).sum(axis=1) for one in (small.rows(), plain)]
        assert (errors[0] <= errors[1] * 1.001 + 1e-9).all()


def test_8_bits_are_scaled_along_the_axis_that_loses_less():
    rng = np.random.default_rng(1)
    rows = rng.choice([-1, 1], (3 * CHUNK + 7, 16)).astype(np.float32)
    assert EmbeddingMatrix(rows * rng.lognormal(0, 2, (len(rows), 1)).astype(np.float32)).converted("int8").by_row
    assert not EmbeddingMatrix(rows * rng.lognormal(0, 2, 16).astype(np.float32)).converted("int8").by_row
    zeros = EmbeddingMatrix(np.zeros((4, 3), np.float32)).converted("int8")
    assert not zeros.rows().any() and zeros.finite()


def test_what_cannot_be_had_is_refused():
    table = tables(8)[0]
    for dtype, dim, message in (("float64", None, "float64"), (None, 0, "dim is 0"), (None, 9, "8 dimensions")):
        with pytest.raises(ValueError, match=message):
            table.converted(dtype, dim)
    with pytest.raises(ValueError, match="too large for float16"):
        EmbeddingMatrix(np.full((2, 2), 1e5, np.float32)).converted("float16")
    with pytest.raises(ValueError, match="scale"):
        EmbeddingMatrix(np.zeros((2, 3), np.int8), np.ones(3, np.float32), by_row=True)
    with pytest.raises(ValueError, match="a table of"):
        EmbeddingMatrix(np.zeros((2, 3), np.int8))
    assert not EmbeddingMatrix(np.array([[1, np.nan]], np.float32)).finite()
    assert not EmbeddingMatrix(np.array([[1, np.inf]], np.float16)).finite()
    assert not EmbeddingMatrix(np.array([[1, -3e38]], np.float32)).finite()  # its square is infinite
    assert (
        EmbeddingMatrix(np.array([[-6e4, 6e4]], np.float16)).finite()
        and EmbeddingMatrix(np.zeros((0, 3), np.float32)).finite()
    )
