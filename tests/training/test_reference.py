"""The whole of training against the plainest implementation of the paper that there is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from psp.config.blocks.training import PAPER, TrainSettings
from psp.training.batches import Epoch
from psp.training.encoders.mean import mean_encoder, normal_table
from psp.training.saving.csv_log import MetricsLog
from psp.training.torch_state import torch_state
from psp.training.trainer import Trainer
from tests.conftest import rows_of
from tests.training.conftest import CONCEPTS, translated


def plain_training(pairs: list[tuple[list[int], list[int]]], settings: TrainSettings) -> torch.Tensor:
    """One sentence at a time, one query at a time, a gradient for the whole table and torch's unfused Adam."""
    table = normal_table(2 * CONCEPTS, settings.dim, settings.seed).double().requires_grad_()
    adam = torch.optim.Adam([table], lr=settings.learning_rate, foreach=False)
    step = 0

    def cosine(a: list[int], b: list[int]) -> torch.Tensor:
        x, y = table[a].mean(dim=0), table[b].mean(dim=0)
        return x @ y / (x.norm() * y.norm())

    while pairs:
        megabatch = pairs[: min(settings.megabatch, 1 + step // settings.anneal) * settings.batch_size]
        pairs = pairs[len(megabatch) :]
        with torch.no_grad():
            hardest_target = [
                max((cosine(s, t), j) for j, (_, t) in enumerate(megabatch) if j != i)[1]
                for i, (s, _) in enumerate(megabatch)
            ]
            hardest_source = [
                max((cosine(t, s), j) for j, (s, _) in enumerate(megabatch) if j != i)[1]
                for i, (_, t) in enumerate(megabatch)
            ]
        for start in range(0, len(megabatch), settings.batch_size):
            numbers = range(start, min(start + settings.batch_size, len(megabatch)))
            loss = torch.zeros((), dtype=torch.float64)
            for i in numbers:
                s, t = megabatch[i]
                far_t, far_s = megabatch[hardest_target[i]][1], megabatch[hardest_source[i]][0]
                loss = loss + (settings.margin - cosine(s, t) + cosine(s, far_t)).clamp(min=0) / len(numbers)
                if settings.directions == "both":
                    loss = loss + (settings.margin - cosine(s, t) + cosine(far_s, t)).clamp(min=0) / len(numbers)
            adam.zero_grad()
            loss.backward()
            if settings.clip is not None:
                torch.nn.utils.clip_grad_norm_([table], settings.clip)
            adam.step()
            step += 1
    return table.detach()


@pytest.mark.parametrize(("directions", "clip"), [("both", None), ("source", None), ("both", 0.2)])
def test_equals_the_plain_implementation(tmp_path: Path, directions: str, clip: float | None) -> None:
    small = {"epochs": 1, "batch_size": 8, "megabatch": 3, "anneal": 2, "dim": 12, "learning_rate": 0.02}
    settings = TrainSettings(**{**PAPER, **small, "directions": directions, "clip": clip, "mask_equal": False})
    source = translated(101, seed=4)  # in the end a short mega-batch, and a short mini-batch
    with torch_state(1), MetricsLog(tmp_path, 10) as records:
        encoder, optimiser = mean_encoder(normal_table(2 * CONCEPTS, 12, 1), settings.as_dict())
        table = Trainer(source, encoder, optimiser, settings, None, records).run()["table"]
    order = Epoch(source, settings.seed, epoch=1).take(101)
    expected = plain_training(list(zip(rows_of(order.source), rows_of(order.target), strict=True)), settings)
    np.testing.assert_allclose(table.numpy(), expected.numpy(), rtol=0, atol=2e-4)
    assert np.abs(expected.numpy() - normal_table(2 * CONCEPTS, 12, 1).numpy()).max() > 0.1  # it went somewhere
