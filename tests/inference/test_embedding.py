"""What is done with a chunk: float16 by compiled code and by NumPy alike, and numbers that do not fit."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from psp.inference.streaming import Chunk, Embed

DIM = 3


class Fixed:
    """A model whose vectors are given."""

    dim = DIM

    def __init__(self, vectors: np.ndarray) -> None:
        self.vectors = vectors

    def embed_raw_text(self, texts):
        return self.vectors[: len(texts)]


@pytest.fixture(params=[True, False], ids=["compiled", "numpy"])
def compiled(request, monkeypatch):
    """Compiled code is in use, or not."""
    if request.param:
        pytest.importorskip("numba")
        monkeypatch.setitem(sys.modules, "psp.models.pooling", sys)
    else:
        monkeypatch.delitem(sys.modules, "psp.models.pooling", raising=False)
        monkeypatch.setitem(sys.modules, "psp.inference.halves", None)  # an import would fail


def embed(vectors, dtype):
    work = Embed(Fixed(vectors), "file", dtype)
    room = memoryview(bytearray(max(work.room, 1)))
    chunk = Chunk(b"\n" * (len(vectors) - 1), 11, len(vectors))
    size, error = work(chunk, room)
    return np.frombuffer(room[:size], dtype).reshape(-1, DIM), error


def test_float16_is_rounded_as_numpy_does(compiled):
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    exact = np.sort(halves[np.isfinite(halves)].astype(np.float32))
    ties = (exact[1:] + exact[:-1]) / 2  # to even; and what lies beside them
    near = [np.nextafter(ties, np.float32(sign)) for sign in (-np.inf, np.inf)]
    numbers = np.concatenate([exact, ties, *near, np.float32([-0.0, 1e-45, 65519.99, np.inf, -np.inf, np.nan])])
    vectors = np.resize(numbers, (len(numbers) // DIM + 1, DIM)).astype(np.float32)
    for start in range(0, len(vectors), 8192):
        part = vectors[start : start + 8192]
        made, error = embed(part, "float16")
        assert error is None
        assert np.array_equal(made.view(np.uint16), part.astype(np.float16).view(np.uint16))


@pytest.mark.parametrize("large", [65520, -1e30])
def test_a_number_too_large_for_float16_names_its_line(compiled, large):
    vectors = np.ones((5, DIM), np.float32)
    vectors[3, 1] = large
    made, error = embed(vectors, "float16")
    assert made.size == 0
    assert str(error) == "file, line 14: its vector is too large for float16; use float32"
    made, error = embed(vectors, "float32")
    assert error is None and np.array_equal(made, vectors)
