"""LSTMs in torch: NumPy's vectors within rounding, and in bfloat16 their directions; models that ask for them."""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import psp
from psp.core.errors import PspError
from psp.models.combined import CombinedModel
from psp.models.lstm import Direction, Lstm
from psp.models.lstm_torch import TorchLstm
from psp.models.model import Model
from psp.models.table import EmbeddingMatrix
from psp.text.encoded import Encoded
from tests.models.conftest import CONFIG, DIM
from tests.models.test_lstm import TEXTS, forms

WIDTH = 24


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Threads that wait for each other at every step take seconds where another process has the cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def gentle(directions: int = 2, combine: str = "average", pooling: str = "mean") -> Lstm:
    """An LSTM with matrices as large as those that training begins with."""
    rng = np.random.default_rng(1)
    shapes = (4 * WIDTH, DIM), (4 * WIDTH, WIDTH), (4 * WIDTH,)
    return Lstm(
        [Direction(*(rng.uniform(-0.2, 0.2, shape).astype(np.float32) for shape in shapes)) for _ in range(directions)],
        combine,
        pooling,
    )


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)


@forms
def test_vectors_and_states_are_numpys(directions: int, combine: str, pooling: str) -> None:
    rng = np.random.default_rng(2)
    lengths = np.concatenate([rng.integers(0, 9, 150), [0, 1, 30]])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    encoded = Encoded(rng.integers(0, 30, offsets[-1]).astype(np.int32), offsets)
    table = EmbeddingMatrix(rng.standard_normal((30, DIM), dtype=np.float32))
    plain = gentle(directions, combine, pooling)
    wanted = np.empty((len(lengths), plain.dim), np.float32)
    plain.pool(table, encoded, wanted)
    for precision, most in (("float32", 1e-5), ("bfloat16", 0.03)):
        made = TorchLstm(plain, precision)
        found = np.full_like(wanted, np.nan)
        made.pool(table, encoded, found)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=most)
        assert not found[lengths == 0].any() and cosines(found[lengths > 0], wanted[lengths > 0]).min() > 0.999
        states = made.states(table, encoded)
        assert states.dtype == found.dtype == np.float32
        np.testing.assert_allclose(states, plain.states(table, encoded), rtol=0, atol=most)
    none = np.empty((2, plain.dim), np.float32)
    made.pool(table, Encoded(np.empty(0, np.int32), np.zeros(3, np.int64)), none)
    assert not none.any()


@pytest.fixture(scope="module")
def folder(table, sentencepiece_model, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("models")
    Model(table, sentencepiece_model, CONFIG, contextual=gentle()).save(path / "lstm")
    Model(table, sentencepiece_model, CONFIG).save(path / "mean")
    CombinedModel([psp.load_model(path / name) for name in ("mean", "lstm")]).save(path / "both")
    CombinedModel([psp.load_model(path / "mean")] * 2).save(path / "means")
    return path


@pytest.mark.parametrize(("wanted", "most"), [("torch", 1e-5), ("bfloat16", 0.03)])
def test_a_model_asks_for_torch(wanted: str, most: float, folder: Path, tmp_path: Path) -> None:
    plain, made = psp.load_model(folder / "lstm"), psp.load_model(folder / "lstm", accelerate=wanted)
    assert type(plain.contextual) is Lstm and type(made.contextual) is TorchLstm
    vectors = made.embed_raw_text(TEXTS)
    np.testing.assert_allclose(vectors, plain.embed_raw_text(TEXTS), rtol=0, atol=most)
    assert not vectors[1].any() and vectors.shape == (len(TEXTS), WIDTH)
    assert cosines(vectors[[0, 2, 3, 4, 5]], plain.embed_raw_text(TEXTS)[[0, 2, 3, 4, 5]]).min() > 0.999
    rows = np.asarray(made.encode(TEXTS[0], output_value="token_embeddings"))
    np.testing.assert_allclose(rows.mean(axis=0), vectors[0], rtol=0, atol=most)
    for same in (pickle.loads(pickle.dumps(made)), made.quantized("float32")):
        assert type(same.contextual) is TorchLstm and np.array_equal(same.embed_raw_text(TEXTS), vectors)
    assert type(made.quantized("int8").contextual) is TorchLstm
    made.save(tmp_path / "again")
    for path in (folder / "lstm").iterdir():
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes(), path.name


def test_a_combination_passes_it_to_its_lstms(folder: Path) -> None:
    plain, made = psp.load_model(folder / "both"), psp.load_model(folder / "both", accelerate="bfloat16")
    assert [type(part.contextual) for part in made.parts] == [type(None), TorchLstm]
    np.testing.assert_allclose(made.embed_raw_text(TEXTS), plain.embed_raw_text(TEXTS), rtol=0, atol=0.03)
    assert np.array_equal(made.embed_raw_text(TEXTS)[:, :DIM], plain.embed_raw_text(TEXTS)[:, :DIM])


@pytest.mark.parametrize("name", ["mean", "means"])
@pytest.mark.parametrize("wanted", ["torch", "bfloat16"])
def test_a_model_without_an_lstm_refuses(name: str, wanted: str, folder: Path) -> None:
    with pytest.raises(ValueError, match=f"accelerate='{wanted}' is for LSTMs; this model is not one; write") as error:
        psp.load_model(folder / name, accelerate=wanted)
    assert "\n" not in str(error.value)


def test_what_there_is_not_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"accelerate is 'bf16'; it is True, False, None, 'torch' or 'bfloat16'"):
        psp.load_model(folder / "lstm", accelerate="bf16")
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "torch" else find(name, *more))
    with pytest.raises(PspError, match="accelerate='torch' needs torch: pip install torch"):
        psp.load_model(folder / "lstm", accelerate="torch")


@pytest.mark.parametrize(("can", "warns"), [(True, False), (False, True), (None, False)])
def test_a_processor_without_bfloat16_is_told(can, warns, folder, monkeypatch, caplog) -> None:
    monkeypatch.setattr("psp.models.accelerate.multiplies_bfloat16", lambda: can)
    psp.load_model(folder / "lstm", accelerate="torch")
    assert not caplog.messages
    psp.load_model(folder / "lstm", accelerate="bfloat16")
    assert ["has no bfloat16 multiplication" in message for message in caplog.messages] == [True] * warns


def test_an_lstm_without_torch_leaves_it_unloaded(folder: Path) -> None:
    code = f"import psp, sys; psp.load_model({str(folder / 'lstm')!r}).encode(['a']); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
