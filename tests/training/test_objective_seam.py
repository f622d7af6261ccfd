"""A loss that psp has not: trained, stopped, gone on with, saved and scored."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from psp.config.blocks.training import PAPER, CheckpointSchedule, TrainSettings
from psp.core.errors import ConfigError
from psp.evaluation.development import Development
from psp.models.folder import load_model
from psp.training import trainer as trainer_module
from psp.training.batches import Epoch
from psp.training.encoders.mean import mean_encoder, normal_table
from psp.training.grid import unused
from psp.training.saving.checkpoint import Stopped
from psp.training.saving.csv_log import MetricsLog
from psp.training.torch_state import torch_state
from psp.training.trainer import Trainer
from tests.conftest import rows_of
from tests.training.conftest import CONCEPTS, Made, error, train, translated
from tests.training.pairwise_sigmoid import OBJECTIVE, PairwiseSigmoid

SIGMOID: dict[str, Any] = {
    **PAPER, "objective": OBJECTIVE, "epochs": 3, "batch_size": 32, "dim": 32, "learning_rate": 0.02, "log_every": 10,
}  # fmt: skip


@pytest.fixture
def ended(monkeypatch: pytest.MonkeyPatch) -> list[Trainer]:
    """The trainers that came to their ends."""
    found: list[Trainer] = []
    run = Trainer.run

    def noted(self: Trainer) -> dict[str, torch.Tensor]:
        kept = run(self)
        found.append(self)
        return kept

    monkeypatch.setattr(Trainer, "run", noted)
    return found


def run(folder: Path, made: Made, development: Any, **changes: Any) -> dict[str, Any]:
    when = CheckpointSchedule(minutes=None, steps=5)
    return train(folder, made, {**SIGMOID, **changes}, development, checkpoints=when)


def own_parameters(trainer: Trainer) -> dict[str, float]:
    return {name: float(value) for name, value in trainer._objective.state_dict().items()}


def test_it_is_trained_saved_loaded_and_scored(tmp_path: Path, made: Made, ended: list[Trainer]) -> None:
    report = run(tmp_path, made, Development(None, made.unseen), epochs=8)
    assert report["settings"]["objective"] == OBJECTIVE and report["without_negative"] == 0
    model = load_model(tmp_path / "model")
    assert model.embed_raw_text(["baneki"]).shape == (1, 32)
    assert report["best"]["error"] == error(tmp_path / "model", made) < 20
    (trainer,) = ended
    start, end = dict(PairwiseSigmoid(TrainSettings(**SIGMOID).as_dict()).named_parameters()), own_parameters(trainer)
    assert end.keys() == start.keys() and all(abs(end[name] - start[name].item()) > 0.1 for name in start)
    assert unused(report["settings"]) >= {"margin", "scale", "directions", "negatives", "megabatch"}


def test_it_equals_plain_torch(tmp_path: Path) -> None:
    """Each step's gradients, of the embeddings and of the objective's own parameters, by way of Adam's steps."""
    small = {
        "epochs": 1,
        "batch_size": 8,
        "dim": 12,
        "learning_rate": 0.02,
        "objective": OBJECTIVE,
        "mask_equal": False,
    }
    settings, pairs = TrainSettings(**{**SIGMOID, **small}), translated(101, seed=4)
    with torch_state(1), MetricsLog(tmp_path, 10) as records:
        table = normal_table(2 * CONCEPTS, 12, 1)
        trainer = Trainer(pairs, *mean_encoder(table.clone(), settings.as_dict()), settings, None, records)
        found = trainer.run()["table"]
    expected, plain = table.double().requires_grad_(), PairwiseSigmoid(settings.as_dict()).double()
    adam = torch.optim.Adam(
        [{"params": [expected], "lr": 0.02}, {"params": list(plain.parameters()), "lr": plain.learning_rate}]
    )
    order = Epoch(pairs, settings.seed, epoch=1).take(101)
    sides = [rows_of(order.source), rows_of(order.target)]
    for start in range(0, 101, 8):
        source, target = (torch.stack([expected[row].mean(dim=0) for row in side[start : start + 8]]) for side in sides)
        logits = plain.scale.exp() * functional.cosine_similarity(source[:, None], target[None], dim=2) + plain.bias
        signs = 2 * torch.eye(len(source)) - 1
        adam.zero_grad()
        (-functional.logsigmoid(signs * logits).sum() / len(source)).backward()
        adam.step()
    np.testing.assert_allclose(found.numpy(), expected.detach().numpy(), rtol=0, atol=2e-4)
    assert (expected.detach() - table).abs().max() > 0.1
    for name, value in own_parameters(trainer).items():
        assert value == pytest.approx(float(plain.state_dict()[name]), abs=1e-4)


class Stopping:
    """Development data; it asks the process to stop when it is scored for the ``at``-th time."""

    def __init__(self, made: Made, at: int | None) -> None:
        self._development, self._at = Development(None, made.unseen), at

    def score(self, *scorers: Any) -> Mapping[str, Any]:
        if self._at is not None:
            self._at -= 1
            if self._at == 0:
                os.kill(os.getpid(), signal.SIGTERM)
        return self._development.score(*scorers)


@pytest.mark.slow
def test_stopped_and_gone_on_with_it_ends_with_the_same_bytes(
    tmp_path: Path,
    made: Made,
    ended: list[Trainer],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    changes = {"dropout": 0.1, "clip": 0.5}
    monkeypatch.setattr(trainer_module, "CATCH_UP_EVERY", 5)
    run(tmp_path / "whole", made, Stopping(made, None), **changes)
    with pytest.raises(Stopped):
        run(tmp_path / "stopped", made, Stopping(made, 2), **changes)
    (checkpoint,) = sorted((tmp_path / "stopped/train/checkpoints").iterdir())[-1:]
    names = {path.name.removesuffix(".safetensors") for path in checkpoint.glob("*.safetensors")}
    assert {"objective.scale", "objective.bias", "encoder.table"} <= names
    run(tmp_path / "stopped", made, Stopping(made, None), **changes)
    for name in ("model/model.safetensors", "train/metrics.csv", "train/train.json"):
        assert (tmp_path / "stopped" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name
    whole, again = ended
    assert own_parameters(again) == own_parameters(whole)
    assert again.encoder.state_dict().keys() == whole.encoder.state_dict().keys()


def test_an_unknown_objective_is_refused_in_one_line(tmp_path: Path, made: Made) -> None:
    with pytest.raises(ConfigError) as refused:
        run(tmp_path, made, None, objective="triplet")
    message = str(refused.value)
    assert message.startswith("train.objective is triplet, but must be infonce, margin or module:Class")
    assert not (tmp_path / "train").exists()
