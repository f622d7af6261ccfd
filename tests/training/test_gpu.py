"""On a GPU: what is computed there is what a CPU computes, to its rounding; models train there, and the same twice.

The tests around this file run the same paths with torch on the CPU. These need the hardware, and skip without.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from psp.evaluation.development import Development
from psp.models.folder import load_model
from psp.training.encoders.mean import MeanEncoder, normal_table
from psp.training.losses.infonce import infonce_objective
from psp.training.losses.margin import margin_objective
from psp.training.losses.teacher import divergence_objective
from psp.training.negatives.nearest import nearest
from psp.training.optimiser import DeferredAdam, DenseAdam
from tests.training.conftest import QUICK, Made, corpus, error, make, train, translated
from tests.training.losses.reference import divergence_loss, infonce_loss
from tests.training.negatives.test_nearest import KINDS, check, nothing, some, vectors
from tests.training.test_loop import run
from tests.training.transformer import conftest as transformer
from tests.training.translator import conftest as translator

if not torch.cuda.is_available():
    pytest.skip("torch sees no GPU", allow_module_level=True)
GPU = torch.device("cuda")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("made"), corpus(1200, seed=1), 400)


# ------------------------------------------------------------------------------------------------------------ the parts


@pytest.mark.parametrize("reduced", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_nearest_are_those_of_a_plain_product(kind: str, reduced: bool) -> None:
    rng = np.random.default_rng(1)
    columns = vectors(rng, kind, 700, 64)
    rows = columns if kind == "copies" else vectors(rng, kind, 700, 64)
    excluded = some({(i, i) for i in range(700)} | {(100, j) for j in range(700)})
    similarity = rows.double().numpy() @ columns.double().numpy().T
    similarity[np.arange(700), np.arange(700)] = similarity[100] = similarity[:, 100] = -np.inf
    of_rows, of_columns = nearest(rows.to(GPU), columns.to(GPU), excluded, reduced=reduced, chunk_rows=256)
    check(of_rows, similarity)
    check(of_columns, similarity.T)


def test_candidates_of_reduced_precision_are_those_of_float32_at_full_size() -> None:
    """Tensor cores add up in an order and a precision of their own: is the bound on their error one?"""
    rng = np.random.default_rng(5)
    near = rng.standard_normal((1, 1024)) + 0.2 * rng.standard_normal((12_800, 1024))
    rows, columns = torch.nn.functional.normalize(torch.from_numpy(near).float(), dim=1).to(GPU).chunk(2)
    exact, reduced = (nearest(rows, columns, nothing, reduced=how) for how in (False, True))
    for ours, theirs in zip(reduced, exact, strict=True):
        differ = ours.index != theirs.index  # ties within the rounding of float32
        assert differ.mean() < 1e-3
        np.testing.assert_allclose(ours.value, theirs.value, atol=2e-6)


@pytest.mark.parametrize(("dropout", "token_dropout"), [(0.0, 0.0), (0.3, 0.0), (0.1, 0.3)])
def test_vectors_and_gradients_are_those_of_the_compiled_encoder(dropout: float, token_dropout: float) -> None:
    sentences = translated(300, seed=3).read(0, 300).target
    results = []
    for device in (torch.device("cpu"), GPU):
        encoder = MeanEncoder(normal_table(300, 65, seed=1).to(device), dropout, 7, token_dropout=token_dropout)
        made = encoder(sentences, 11)
        (made * made).sum().backward()
        assert encoder.table.grad is not None
        results.append((made.detach().cpu(), encoder.table.grad.cpu().to_dense(), encoder.encode(sentences).cpu()))
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def test_dense_adam_there_is_deferred_adam_here() -> None:
    rng = np.random.default_rng(1)
    tables = [normal_table(50, 8, seed=1), normal_table(50, 8, seed=1).to(GPU)]
    optimisers = [DeferredAdam([tables[0]], lr=0.01), DenseAdam([tables[1]], lr=0.01)]
    for _ in range(300):
        used = np.unique(rng.integers(0, 50, 6))
        values = torch.from_numpy(rng.standard_normal((len(used), 8)).astype(np.float32))
        for table, optimiser in zip(tables, optimisers, strict=True):
            optimiser.prepare(table, used)
            there = torch.from_numpy(used)[None].to(table.device), values.to(table.device)
            table.grad = torch.sparse_coo_tensor(*there, table.shape, is_coalesced=True, check_invariants=False)
            optimiser.step()
    optimisers[0].prepare(tables[0], None)
    torch.testing.assert_close(tables[1].cpu(), tables[0], rtol=1e-4, atol=1e-5)


def gradients(function: Any, given: Tensor) -> tuple[Tensor, Tensor]:
    own = given.clone().requires_grad_()
    loss = function(own)
    loss.backward()
    assert own.grad is not None
    return loss.detach().cpu(), own.grad.cpu()


@pytest.mark.parametrize(("reduced", "near"), [(False, 1e-4), (None, 2e-2)], ids=["float32", "as it trains"])
def test_losses_and_gradients_are_their_definitions(reduced: bool | None, near: float) -> None:
    generator = torch.Generator().manual_seed(1)
    given = torch.randn(1000, 256, generator=generator)
    teacher = torch.nn.functional.normalize(torch.randn(1000, 48, generator=generator), dim=1)
    cosines = teacher @ teacher.T
    mask = torch.rand(500, 500, generator=generator) < 0.1
    there = given.to(GPU), cosines.to(GPU), mask.to(GPU)
    pairs: list[tuple[Any, Any]] = [
        (
            lambda v: infonce_loss(*v.chunk(2), 0.3, 20.0, mask),
            lambda v: infonce_objective(v, 0.3, 20.0, there[2], reduced=reduced),
        ),
        (
            lambda v: divergence_loss(v, cosines, 20.0),
            lambda v: divergence_objective(v, there[1], 20.0, reduced=reduced),
        ),
    ]
    for plain, fast in pairs:
        (loss, gradient), (ours, our_gradient) = gradients(plain, given), gradients(fast, there[0])
        torch.testing.assert_close(ours, loss, rtol=near, atol=near)
        assert float((our_gradient - gradient).norm() / gradient.norm()) < near


def test_the_margin_objective_is_that_of_the_cpu() -> None:
    given = torch.randn(400, 64, generator=torch.Generator().manual_seed(1))
    valid = torch.ones(100, dtype=torch.bool)
    valid[::7] = False
    results = [
        gradients(lambda v, d=device: margin_objective(v, [valid.to(d)] * 2, 0.4), given.to(device))
        for device in (torch.device("cpu"), GPU)
    ]
    for ours, theirs in zip(*results, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-6)


# ------------------------------------------------------------------------------------------------------ whole trainings

SETTINGS: list[dict[str, Any]] = [
    {},
    {"dropout": 0.1, "negatives": "any"},
    {"objective": "infonce", "margin": 0.3, "token_dropout": 0.1},
    {"objective": "infonce", "margin": 0.3, "matryoshka": [16]},
    {"select": "best", "clip": 1.0},
]


@pytest.mark.parametrize("changes", SETTINGS, ids=str)
def test_a_model_trained_there_is_that_of_the_cpu(tmp_path: Path, made: Made, changes: dict[str, Any]) -> None:
    """Rounding decides which of two nearly equal negatives is mined, so models are near, not the same."""
    found = []
    for device in ("cpu", "cuda"):
        report = run(tmp_path / device, made, Development(None, made.unseen), device=device, **changes)
        assert report["device"] == device
        model = load_model(tmp_path / device / "model")
        found.append((error(tmp_path / device / "model", made), model.embed_raw_text(made.unseen[0])))
    (on_cpu, there), (on_gpu, here) = found
    assert on_cpu < 20 and abs(on_gpu - on_cpu) <= 3
    cosines = (here * there).sum(1) / np.linalg.norm(here, axis=1) / np.linalg.norm(there, axis=1)
    assert np.median(cosines) > 0.98


@pytest.mark.parametrize("changes", [*SETTINGS[:3], {"precision": "mixed", "dropout": 0.1}], ids=str)
def test_two_trainings_there_give_the_same_bytes(tmp_path: Path, made: Made, changes: dict[str, Any]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for name in "ab":
            run(tmp_path / name, made, device="cuda", **changes)
    assert not [str(one.message) for one in caught if "deterministic" in str(one.message)]
    models = [(tmp_path / name / "model" / "model.safetensors").read_bytes() for name in "ab"]
    assert models[0] == models[1]


def test_mixed_precision_learns_as_well(tmp_path: Path, made: Made) -> None:
    errors = {}
    for precision in ("float32", "mixed"):
        run(tmp_path / precision, made, device="cuda", precision=precision)
        errors[precision] = error(tmp_path / precision / "model", made)
    assert abs(errors["mixed"] - errors["float32"]) <= 3


def test_an_lstm_trains_there(tmp_path: Path, made: Made) -> None:
    for device in ("cpu", "cuda"):
        settings = {**QUICK, "device": device, "epochs": 6}
        encoder = {"kind": "blstm", "width": 32, "scramble": 0.2}
        train(tmp_path / device, made, settings, encoder=encoder)
    found = [error(tmp_path / device / "model", made) for device in ("cpu", "cuda")]
    assert found[0] < 60 and abs(found[0] - found[1]) <= 8


def test_a_translator_trains_there(tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    data = translator.prepare(tmp_path / "data", translator.sentences(1000))
    found = []
    for name, precision in (("cpu", "float32"), ("cuda", "float32"), ("cuda", "bfloat16")):
        out = tmp_path / f"{name}-{precision}"
        # At 120 steps, as on the CPU, BLEU hangs on the machine's rounding: 39 to 73.
        found.append(translator.train(data, out, device=name, precision=precision, steps=240)["best"]["bleu"])
    assert min(found) > 50


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_two_translators_trained_there_are_the_same_bytes(tmp_path: Path, precision: str) -> None:
    pytest.importorskip("ctranslate2")
    data = translator.prepare(tmp_path / "data", translator.sentences(1000))
    for name in "ab":
        translator.train(data, tmp_path / name, device="cuda", precision=precision)
    models = [(tmp_path / name / "model" / "model.safetensors").read_bytes() for name in "ab"]
    assert models[0] == models[1]


@pytest.mark.parametrize("settings", [{}, {"pooling": "bilstm", "dim": 24}], ids=str)
def test_a_transformer_trains_there(tmp_path: Path, settings: dict[str, Any]) -> None:
    pytest.importorskip("datasets")
    base = transformer.make_base(tmp_path / "base")
    losses = []
    for device in ("cpu", "cuda"):
        (tmp_path / device).mkdir()
        report = transformer.train(tmp_path / device, base, **{"device": device, "epochs": 2, **settings})
        losses.append(report["loss"])
    assert losses[0] < 2 and abs(losses[1] - losses[0]) < 0.2 * losses[0]
