"""LSTM encoders in training: vectors and gradients of a sentence at a time, noise, and exact resumption."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import psp
from psp.config.blocks.training import TrainSettings
from psp.core.files import read_json
from psp.core.machine import has_bfloat16_lstm
from psp.text.tokenizer import Encoded
from psp.training.encoders import checked_encoder
from psp.training.encoders.lstm import LstmEncoder, lstm_encoder, scrambled
from tests.training.conftest import QUICK, Made, sentences
from tests.training.training_process import Job, after_kill_9

OWN = checked_encoder({"kind": "blstm", "width": 6, "scramble": 0.0})
ROWS = [[1, 2, 3, 2], [4], [], [5, 1, 5], [0, 7, 2, 1, 1, 1, 3]]
forms = pytest.mark.parametrize(
    ("kind", "combine", "pooling"),
    list(itertools.product(("lstm", "blstm"), ("average", "concat"), ("mean", "max"))),
)


def encoder(**changes: Any) -> LstmEncoder:
    table = torch.randn(8, 5, generator=torch.Generator().manual_seed(1))
    return LstmEncoder(table, {**OWN, **changes}, seed=3)


def one_by_one(made: LstmEncoder, table: torch.Tensor, rows: list[list[int]], own: dict[str, Any]) -> torch.Tensor:
    """Vectors by the plain definition, with torch's gradient."""
    found = []
    for row in rows:
        states = [
            (lstm(table[row[::-1] if turn else row])[0].flip(0) if turn else lstm(table[row])[0])
            for turn, lstm in enumerate(made.lstms)
        ]
        joined = torch.cat(states, 1) if own["combine"] == "concat" else torch.stack(states).mean(0)
        found.append(joined.mean(0) if own["pooling"] == "mean" else joined.amax(0))
    return torch.stack(found)


@forms
def test_vectors_and_gradients_are_those_of_a_sentence_at_a_time(kind: str, combine: str, pooling: str) -> None:
    own = {"kind": kind, "combine": combine, "pooling": pooling}
    made = encoder(**own)
    vectors = made(sentences(ROWS), 0)
    assert not vectors[2].any()
    kept = [0, 1, 3, 4]
    upstream = torch.randn(len(kept), vectors.shape[1], generator=torch.Generator().manual_seed(2))
    vectors[kept].backward(upstream)
    assert made.table.grad is not None and made.table.grad.is_sparse
    found = {name: parameter.grad for name, parameter in made.named_parameters()}
    made.zero_grad()
    table = made.table.detach().clone().requires_grad_()
    plain = one_by_one(made, table, [ROWS[number] for number in kept], own)
    torch.testing.assert_close(vectors[kept], plain, rtol=0, atol=1e-6)
    torch.testing.assert_close(made.encode(sentences(ROWS))[kept], plain.detach(), rtol=0, atol=1e-6)
    plain.backward(upstream)
    torch.testing.assert_close(found.pop("table").to_dense(), table.grad, rtol=1e-5, atol=1e-6)
    for name, gradient in found.items():
        torch.testing.assert_close(gradient, made.get_parameter(name).grad, rtol=1e-5, atol=1e-6)
    assert found["lstms.0.bias_hh_l0"] is None  # torch's second bias stays 0


@forms
@pytest.mark.skipif(not has_bfloat16_lstm("cpu"), reason="torch has no LSTM of bfloat16 on this processor")
def test_bfloat16_has_the_directions_of_float32(kind: str, combine: str, pooling: str) -> None:
    own = {"kind": kind, "combine": combine, "pooling": pooling, "width": 24}
    kept = [0, 1, 3, 4]
    found = []
    for precision in ("float32", "bfloat16"):
        made = encoder(**own, precision=precision)
        vectors = made(sentences(ROWS), 0)
        assert vectors.dtype == torch.float32 and not vectors[2].any()
        assert torch.equal(made.encode(sentences(ROWS)), vectors.detach())
        upstream = torch.randn(vectors.shape, generator=torch.Generator().manual_seed(2))
        vectors.backward(upstream)
        gradients = {name: parameter.grad for name, parameter in made.named_parameters() if parameter.grad is not None}
        assert all(gradient.dtype == torch.float32 for gradient in gradients.values())
        found.append((vectors.detach()[kept], {name: g.to_dense().flatten() for name, g in gradients.items()}))
    assert not torch.equal(found[0][0], found[1][0])
    assert torch.cosine_similarity(found[0][0], found[1][0]).min() > 0.999
    assert found[0][1].keys() == found[1][1].keys()
    for name, gradient in found[0][1].items():
        assert torch.cosine_similarity(gradient, found[1][1][name], dim=0) > 0.99, name


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_where_torch_has_no_lstm_of_bfloat16_it_says_so_and_is_float32(
    precision: str, monkeypatch: Any, caplog: Any
) -> None:
    monkeypatch.setattr("psp.training.encoders.lstm.has_bfloat16_lstm", lambda kind: False)
    train = TrainSettings(dim=5).as_dict()
    made, _ = lstm_encoder(torch.zeros(8, 5).normal_(), train, {**OWN, "precision": precision})
    assert made(sentences(ROWS), 0).dtype == torch.float32
    assert ["computes in float32" in message for message in caplog.messages] == [True] * (precision == "bfloat16")


def test_matrices_start_the_same_with_forget_biases_of_one() -> None:
    one, other = encoder(), encoder()
    for name, weight in one.state_dict().items():
        assert torch.equal(weight, other.state_dict()[name]), name
    bias = one.lstms[1].bias_ih_l0
    assert bias[6:12].eq(1).all() and bias.sum() == 6
    assert not torch.equal(one.lstms[0].weight_ih_l0, one.lstms[1].weight_ih_l0)
    matrix = one.lstms[0].weight_hh_l0
    assert matrix.abs().max() <= 6**-0.5 and matrix.abs().mean() > 0.4 * 6**-0.5


lengths_and_share = given(
    st.lists(st.integers(0, 9), min_size=1, max_size=20), st.floats(0, 1), st.integers(0, 1000), st.integers(0, 1000)
)


@lengths_and_share
def test_scrambling_keeps_each_sentences_tokens(lengths: list[int], share: float, seed: int, step: int) -> None:
    offsets = np.cumsum([0, *lengths])
    before = Encoded(np.arange(offsets[-1]).astype(np.int32), offsets)
    after = scrambled(before, share, seed, step)
    assert np.array_equal(after.offsets, offsets)
    for start, stop in itertools.pairwise(offsets):
        assert sorted(after.ids[start:stop]) == list(range(start, stop))


def test_scrambling_is_as_often_as_it_says_and_new_at_each_step() -> None:
    before = Encoded(np.tile(np.arange(8, dtype=np.int32), 4000), np.arange(4001) * 8)
    for share in (0.0, 0.3, 1.0):
        after = [scrambled(before, share, 1, step).ids.reshape(-1, 8) for step in (0, 1)]
        moved = [(ids != np.arange(8)).any(axis=1) for ids in after]
        assert moved[0].mean() == pytest.approx(share, abs=0.03)
        # Independent draws coincide in share^2 of the sentences.
        assert (moved[0] & moved[1]).mean() == pytest.approx(share**2, abs=0.03)
    first = after[0][:, 0]
    assert np.bincount(first, minlength=8) == pytest.approx(np.full(8, 500), abs=100)


def test_the_matrices_have_a_rate_and_a_limit_of_their_own() -> None:
    train = {**TrainSettings(dim=5, learning_rate=0.05, token_dropout=0.0).as_dict()}
    table = torch.randn(8, 5, generator=torch.Generator().manual_seed(1))
    own = {**OWN, "learning_rate": 0.002, "clip": 1e-3}
    made, optimiser = lstm_encoder(table, train, own)
    assert [group["lr"] for group in optimiser.param_groups] == [0.05, 0.002]
    made(sentences(ROWS), 0).square().sum().mul(100).backward()
    rows = made.table.grad.to_dense().clone()
    before = {name: parameter.detach().clone() for name, parameter in made.named_parameters()}
    optimiser.step()
    gradients = [p.grad for name, p in made.named_parameters() if p.grad is not None and name != "table"]
    assert torch.stack([g.norm() for g in gradients]).norm() == pytest.approx(1e-3, rel=1e-4)
    assert torch.equal(made.table.grad.to_dense(), rows)
    for name, parameter in made.named_parameters():
        moved = (parameter.detach() - before[name]).abs().max().item()
        assert moved == pytest.approx({"table": 0.05}.get(name, 0 if "bias_hh" in name else 0.002), rel=1e-2), name


SETTINGS: dict[str, Any] = {
    "encoder": {"kind": "blstm", "width": 12, "learning_rate": 0.005, "clip": 1.0, "scramble": 0.3},
    "objective": "margin", "margin": 0.4, "directions": "both", "init": "zipf", "learning_rate": 0.02,
    "token_dropout": 0.1, "dropout": 0.1, "dim": 16, "schedule": "linear",
}  # fmt: skip


@pytest.mark.slow
def test_after_kill_9_the_same_command_goes_on_to_the_same_bytes(made: Made, tmp_path: Path) -> None:
    own = {**SETTINGS["encoder"], "precision": "float32"}
    settings = {key: value for key, value in SETTINGS.items() if key != "encoder"}
    job = Job(made.store, made.sentencepiece, made.heldout, tmp_path / "undisturbed", {**QUICK, **settings},
              changes={"encoder": own})  # fmt: skip
    assert job.run() == 0
    assert after_kill_9(job, tmp_path / "killed").results() == job.results()
    report = read_json(tmp_path / "killed/train/train.json")
    assert report["encoder"] == checked_encoder(own)
    model = psp.load_model(tmp_path / "killed/model")
    assert model.contextual is not None and (model.dim, model.contextual.kind) == (12, "blstm")
    assert report["best"]["error"] < 60  # % of 200 sentences; by chance 99.5
