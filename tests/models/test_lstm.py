"""LSTMs in NumPy: what torch makes of the same matrices, and models that have one."""

from __future__ import annotations

import itertools
import json
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import psp
from psp.core.errors import DataError, PspError
from psp.inference.serve.pieces import explain
from psp.models import exports
from psp.models.lstm import Direction, Lstm, vector_dim
from psp.models.static import StaticModel
from psp.models.table import EmbeddingMatrix, read_table, write_table
from psp.models.text_model import TextModel
from psp.text.tokenizer import Encoded
from tests.models.conftest import CONFIG, DIM

WIDTH = 10
FORMS = list(itertools.product((1, 2), ("average", "concat"), ("mean", "max")))
forms = pytest.mark.parametrize(("directions", "combine", "pooling"), FORMS)
TEXTS = ["the red car is near the house", "", "la voiture rouge", "house", "the the the", "☃ car"]


def matrices(seed: int, dim: int = DIM, width: int = WIDTH) -> Direction:
    rng = np.random.default_rng(seed)
    shapes = (4 * width, dim), (4 * width, width), (4 * width,)
    return Direction(*(rng.standard_normal(shape, dtype=np.float32) for shape in shapes))


def lstm(directions: int = 2, combine: str = "average", pooling: str = "mean", dim: int = DIM) -> Lstm:
    return Lstm([matrices(seed, dim) for seed in range(directions)], combine, pooling)


def of_torch(made: Lstm, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A sentence's states and its vector, by torch's own LSTM."""
    both = len(made.directions) == 2
    other = torch.nn.LSTM(made.input_dim, made.width, bidirectional=both)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
        for suffix, direction in zip(("", "_reverse"), made.directions, strict=False):
            for name, matrix in zip(("weight_ih", "weight_hh", "bias_ih"), direction, strict=True):
                getattr(other, f"{name}_l0{suffix}").copy_(torch.from_numpy(matrix))
        states = other(torch.from_numpy(rows))[0].numpy()
    if both and made.combine == "average":
        states = (states[:, : made.width] + states[:, made.width :]) / 2
    return states, states.mean(axis=0) if made.pooling == "mean" else states.max(axis=0)


@forms
@settings(max_examples=6)
@given(st.lists(st.integers(0, 9), max_size=20), st.integers(0, 2**32 - 1))
def test_vectors_and_states_are_torchs(
    directions: int, combine: str, pooling: str, lengths: list[int], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((30, DIM), dtype=np.float32)
    offsets = np.cumsum([0, *lengths])
    encoded = Encoded(rng.integers(0, 30, offsets[-1]).astype(np.int32), offsets)
    made = lstm(directions, combine, pooling)
    vectors = np.full((len(lengths), made.dim), np.nan, np.float32)
    made.pool(EmbeddingMatrix(table), encoded, vectors)
    states = made.states(EmbeddingMatrix(table), encoded)
    for start, stop, vector in zip(offsets, offsets[1:], vectors, strict=False):
        if start == stop:
            assert not vector.any()
            continue
        wanted, pooled = of_torch(made, table[encoded.ids[start:stop]])
        np.testing.assert_allclose(vector, pooled, rtol=0, atol=1e-5)
        np.testing.assert_allclose(states[start:stop], wanted, rtol=0, atol=1e-5)


def test_long_and_many_sentences_are_read_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psp.models.lstm.TOKENS", 1000)
    rng = np.random.default_rng(1)
    lengths = np.array([2000, *[3] * 700, *[5] * 700])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    encoded = Encoded(rng.integers(0, 30, offsets[-1]).astype(np.int32), offsets)
    table, made = rng.standard_normal((30, DIM), dtype=np.float32), lstm()
    vectors = np.empty((len(lengths), made.dim), np.float32)
    made.pool(EmbeddingMatrix(table), encoded, vectors)
    for number in (0, 1, 700, 701, 1400):
        ids = encoded.ids[offsets[number] : offsets[number + 1]]
        np.testing.assert_allclose(vectors[number], of_torch(made, table[ids])[1], rtol=0, atol=1e-5)


@pytest.fixture(params=FORMS, ids=str)
def model(request, table, sentencepiece_model):
    return StaticModel(table, sentencepiece_model, CONFIG, contextual=lstm(*request.param))


def test_a_model_is_the_same_after_saving(model: TextModel, tmp_path: Path) -> None:
    model.save(tmp_path / "a")
    loaded = psp.load_model(tmp_path / "a")
    assert np.array_equal(loaded.embed_raw_text(TEXTS), model.embed_raw_text(TEXTS))
    assert np.array_equal(pickle.loads(pickle.dumps(loaded)).embed_raw_text(TEXTS), model.embed_raw_text(TEXTS))
    loaded.save(tmp_path / "b")
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name
    config = json.loads((tmp_path / "a/config.json").read_text())
    assert config["format"] == 1 and config["encoder"]["kind"] == model.contextual.kind
    assert vector_dim(config) == loaded.dim == model.embed_raw_text(TEXTS).shape[1]
    assert loaded.nbytes == loaded.table.nbytes + model.contextual.nbytes
    assert model.contextual.kind.upper() in repr(loaded)


def test_texts_have_the_same_vectors_in_batches_and_the_mean_or_maximum_of_their_tokens(model: TextModel) -> None:
    vectors = model.embed_raw_text(TEXTS)
    assert not vectors[1].any() and np.isfinite(vectors).all()
    np.testing.assert_allclose(model.encode(TEXTS, batch_size=2), vectors, rtol=0, atol=1e-6)
    rows = model.encode(TEXTS[0], output_value="token_embeddings")
    pooled = np.asarray(rows).mean(axis=0) if model.contextual.pooling == "mean" else np.asarray(rows).max(axis=0)
    np.testing.assert_allclose(pooled, vectors[0], rtol=0, atol=1e-6)


def test_torch_is_neither_asked_for_nor_loaded(table, sentencepiece_model, tmp_path: Path) -> None:
    model = StaticModel(table, sentencepiece_model, CONFIG, contextual=lstm())
    model.save(tmp_path / "lstm")
    with pytest.raises(ValueError, match="accelerate is 'bfloat16'; it is True, False or None"):
        psp.load_model(tmp_path / "lstm", accelerate="bfloat16")
    code = (
        f"import psp, sys; psp.load_model({str(tmp_path / 'lstm')!r}).encode(['a']); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_an_lstm_does_not_have_is_refused(table, sentencepiece_model, tmp_path) -> None:
    model = StaticModel(table, sentencepiece_model, CONFIG, contextual=lstm())
    assert model.quantized("int8").embed_raw_text(TEXTS).shape == (len(TEXTS), WIDTH)
    with pytest.raises(ValueError, match=r"BLSTM needs all dimensions of its embeddings.*truncate_dim"):
        model.quantized(dim=4)
    with pytest.raises(PspError, match="word2vec holds means only; this model's vectors come from a BLSTM"):
        exports.export("word2vec", model, tmp_path / "out", ["a"])
    assert not (tmp_path / "out").exists()
    with pytest.raises(PspError, match="not a sum of its pieces'"):
        explain(model, "a", "b")


def test_an_index_belongs_to_its_lstm(table, sentencepiece_model) -> None:
    changed = [Direction(m.input, m.hidden * 2, m.bias) for m in lstm().directions]
    models = [
        StaticModel(table, sentencepiece_model, CONFIG, contextual=s) for s in (None, lstm(), Lstm(changed), lstm(1))
    ]
    assert len({model.identity() for model in models}) == 4


@pytest.mark.parametrize("damage", ["missing", "more", "nan", "float64", "narrow", "pooling", "width"])
def test_damage_is_one_error(damage: str, table, sentencepiece_model, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    StaticModel(table, sentencepiece_model, CONFIG, contextual=lstm()).save(folder)
    weights = {name: np.array(tensor) for name, tensor in read_table(folder / "model.safetensors").items()}
    config = json.loads((folder / "config.json").read_text())
    name = "lstm.backward.hidden"
    if damage == "missing":
        del weights[name]
    elif damage == "more":
        weights["lstm.sideways.bias"] = weights["lstm.forward.bias"]
    elif damage == "nan":
        weights[name][0, 0] = np.nan
    elif damage == "float64":
        weights[name] = weights[name].astype(np.float64)
    elif damage == "narrow":
        weights[name] = np.ascontiguousarray(weights[name][:, 1:])
    elif damage == "pooling":
        config["encoder"]["pooling"] = "median"
    else:
        config["encoder"]["width"] = 7
    write_table(folder / "model.safetensors", weights)
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(DataError, match=r"model\.safetensors: .*(copy|install)") as caught:
        psp.load_model(folder)
    assert "\n" not in str(caught.value)
