"""The whole of training against the plainest implementation that there is of the paper, and of ``recipe: paranmt``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from psp.config.blocks.training import PAPER, PARANMT, TrainSettings
from psp.training.batches import Epoch
from psp.training.encoders.mean import mean_encoder, normal_table
from psp.training.saving.csv_log import MetricsLog
from psp.training.torch_state import torch_state
from psp.training.trainer import Trainer
from tests.conftest import rows_of
from tests.training.conftest import CONCEPTS, translated


def initial(settings: TrainSettings) -> torch.Tensor:
    return normal_table(2 * CONCEPTS, settings.dim, settings.seed) * settings.init_scale


def plain_training(pairs: list[tuple[list[int], list[int]]], settings: TrainSettings) -> torch.Tensor:
    """One sentence at a time, one query at a time, a gradient for the whole table and torch's unfused Adam."""
    table = initial(settings).double().requires_grad_()
    adam = torch.optim.Adam([table], lr=settings.learning_rate, foreach=False)
    step = 0
    far = 0 if settings.negatives == "same" else 1  # the side on which a source's negatives are

    def cosine(a: list[int], b: list[int]) -> torch.Tensor:
        x, y = table[a].mean(dim=0), table[b].mean(dim=0)
        return x @ y / (x.norm() * y.norm())

    while pairs:
        size = min(settings.megabatch, 1 + step // settings.anneal) if settings.anneal else settings.megabatch
        megabatch = pairs[: size * settings.batch_size]
        pairs = pairs[len(megabatch) :]
        with torch.no_grad():
            hardest_target = [
                max((cosine(s, other[far]), j) for j, other in enumerate(megabatch) if j != i)[1]
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
                far_t, far_s = megabatch[hardest_target[i]][far], megabatch[hardest_source[i]][0]
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


@pytest.mark.parametrize(
    "changes",
    [
        {**PAPER, "anneal": 2},
        {**PAPER, "anneal": 2, "directions": "both"},
        {**PAPER, "anneal": 2, "directions": "both", "clip": 0.2},
        PARANMT,
    ],
    ids=["paper", "both directions", "clipped", "paranmt"],
)
def test_equals_the_plain_implementation(tmp_path: Path, changes: dict[str, Any]) -> None:
    small = {"epochs": 1, "batch_size": 8, "megabatch": 3, "dim": 12, "learning_rate": 0.02, "mask_equal": False}
    settings = TrainSettings(**{**changes, **small})
    source = translated(101, seed=4)  # in the end a short mega-batch, and a short mini-batch
    with torch_state(1), MetricsLog(tmp_path, 10) as records:
        encoder, optimiser = mean_encoder(initial(settings), settings.as_dict())
        table = Trainer(source, encoder, optimiser, settings, None, records).run()["table"]
    order = Epoch(source, settings.seed, epoch=1).take(101)
    expected = plain_training(list(zip(rows_of(order.source), rows_of(order.target), strict=True)), settings)
    np.testing.assert_allclose(table.numpy(), expected.numpy(), rtol=0, atol=2e-4)
    assert np.abs(expected.numpy() - initial(settings).numpy()).max() > 0.1  # it went somewhere
