"""Mixed precision: what it computes in bfloat16, and where it is refused. Run on CPUs; its use is on GPUs."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from psp.config.blocks.training import PAPER, TrainSettings
from psp.core.errors import ConfigError
from psp.text.tokenizer import Encoded
from psp.training.encoders.mean import MeanEncoder, normal_table
from psp.training.optimiser import DenseAdam
from psp.training.saving.csv_log import MetricsLog
from psp.training.torch_state import torch_state
from psp.training.trainer import Trainer
from tests.training.conftest import CONCEPTS, Made, retrieval_error, train, translated


class Projected(torch.nn.Module):
    """The mean of pieces, times a matrix: a product, which is what mixed precision is for."""

    def __init__(self, table: torch.Tensor) -> None:
        super().__init__()
        self.mean = MeanEncoder(table)
        self.mean._compiled = False
        self.matrix = torch.nn.Parameter(torch.eye(table.shape[1]))
        self.kinds: set[torch.dtype] = set()

    def forward(self, sentences: Encoded, step: int) -> torch.Tensor:
        vectors = self.mean(sentences, step) @ self.matrix
        self.kinds.add(vectors.dtype)
        return vectors.float()

    def encode(self, sentences: Encoded) -> torch.Tensor:
        with torch.no_grad():
            vectors = self.mean.encode(sentences) @ self.matrix
        self.kinds.add(vectors.dtype)
        return vectors


@pytest.mark.parametrize(("precision", "kind"), [("mixed", torch.bfloat16), ("float32", torch.float32)])
def test_products_are_in_bfloat16_and_weights_in_float32(tmp_path: Path, precision: str, kind: torch.dtype) -> None:
    small = {"epochs": 6, "batch_size": 32, "megabatch": 4, "anneal": 5, "dim": 48, "learning_rate": 0.01}
    settings = TrainSettings(**{**PAPER, "directions": "both", **small, "precision": precision})
    encoder = Projected(normal_table(2 * CONCEPTS, 48, 1))
    optimiser = DenseAdam(encoder.parameters(), lr=0.01)
    with torch_state(1), MetricsLog(tmp_path, 50) as records:
        weights = Trainer(translated(2000, 1), encoder, optimiser, settings, None, records).run()
    assert encoder.kinds == {kind}
    assert {weight.dtype for weight in weights.values()} == {torch.float32}
    assert (weights["matrix"] - torch.eye(48)).abs().max() > 0.01  # all parameters are trained
    table = (weights["mean.table"] @ weights["matrix"]).numpy()
    assert retrieval_error(table, translated(300, 2)) < 0.1


def test_on_a_cpu_it_is_refused_before_anything_is_written(tmp_path: Path, made: Made) -> None:
    with pytest.raises(ConfigError, match="`precision: float32`"):
        train(tmp_path, made, {"precision": "mixed", "device": "cpu"})
    assert not (tmp_path / "train").exists()
