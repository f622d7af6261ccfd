"""``recipe: paranmt`` against a plain reading of section 4 of its paper (Wieting & Gimpel 2018)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from psp.config.blocks.training import PARANMT, TrainSettings
from psp.pairs.encoded_pairs import Pairs
from psp.text.tokenizer import Encoded
from psp.training.batches import Epoch
from psp.training.encoders import checked_encoder, make_encoder
from psp.training.encoders.mean import mean_encoder, normal_table
from psp.training.negatives.mining import Negatives
from psp.training.saving.csv_log import MetricsLog
from psp.training.torch_state import torch_state
from psp.training.trainer import Trainer
from tests.conftest import rows_of
from tests.training.conftest import CONCEPTS, translated

M = 4  # of mini-batches of 100, in 1,000 pairs: pools of 400, 400 and 200


class OfBothSides(Trainer):
    """Mines the negatives of targets too, which no loss of one direction looks at."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._objective.of_targets = True


@pytest.mark.parametrize(
    ("kind", "negatives"), [("mean", "same"), ("mean", "any"), ("mean", "opposite"), ("lstm", "same")]
)
def test_the_side_that_has_no_anchors_is_passed_over_to_the_same_bytes(
    kind: str, negatives: str, tmp_path: Path
) -> None:
    settings = TrainSettings(**{**PARANMT, "epochs": 2, "megabatch": M, "dim": 24, "negatives": negatives})
    source = translated(350, seed=4)
    own = checked_encoder({"kind": kind, **({} if kind == "mean" else {"learning_rate": 0.01})})
    found = []
    for trainer_class in (Trainer, OfBothSides):
        with torch_state(1), MetricsLog(tmp_path / trainer_class.__name__, 1) as records:
            table = normal_table(2 * CONCEPTS, settings.dim, settings.seed) * settings.init_scale
            encoder, optimiser = make_encoder(table, settings.as_dict(), own)
            trainer = trainer_class(source, encoder, optimiser, settings, None, records)
            trainer.run()
            weights = {name: weight.numpy().tobytes() for name, weight in encoder.state_dict().items()}
            found.append((weights, (tmp_path / trainer_class.__name__ / "metrics.csv").read_bytes()))
    assert found[0] == found[1]


def units(table: npt.NDArray[np.float64], rows: list[list[int]]) -> npt.NDArray[np.float64]:
    """The sentences' vectors, scaled to length 1."""
    vectors = np.stack([table[row].mean(axis=0) for row in rows])
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def hinge_mean(source: list[list[int]], target: list[list[int]], negative: list[list[int]], table: Any) -> float:
    s, s_other, t = (units(table, rows) for rows in (source, target, negative))
    return sum(max(0.0, 0.4 - s[i] @ s_other[i] + s[i] @ t[i]) for i in range(len(s))) / len(s)


class Watched(Trainer):
    """Notes each pool with its negatives, and each mini-batch with its loss, and the embeddings of that moment."""

    def _now(self) -> npt.NDArray[np.float64]:
        return self.encoder.table.detach().numpy().astype(np.float64)  # rows that were just read are up to date

    def _mine(self, pairs: Pairs, sentences: Encoded) -> Negatives:
        found = super()._mine(pairs, sentences)
        self.pools = [*getattr(self, "pools", []), (pairs, found, self._now())]
        return found

    def _loss(self, pairs: Pairs, sentences: Encoded, rows: Any, negatives: Negatives | None) -> Any:
        loss, value = super()._loss(pairs, sentences, rows, negatives)
        self.batches = [*getattr(self, "batches", []), (len(self.pools) - 1, rows, value, self._now())]
        return loss, value


def test_its_negatives_and_its_loss_are_those_of_the_paper(tmp_path: Path) -> None:
    settings = TrainSettings(**{**PARANMT, "epochs": 1, "megabatch": M})
    source = translated(1000, seed=3)
    with torch_state(1), MetricsLog(tmp_path, 10) as records:
        table = normal_table(2 * CONCEPTS, settings.dim, settings.seed) * settings.init_scale
        encoder, optimiser = mean_encoder(table, settings.as_dict())
        trainer = Watched(source, encoder, optimiser, settings, None, records)
        trainer.run()
        pools, batches = trainer.pools, trainer.batches
        trainer.check_learnt()
    order = Epoch(source, settings.seed, epoch=1).take(1000)
    expected = list(zip(rows_of(order.source), rows_of(order.target), strict=True))
    assert [len(pairs) for pairs, *_ in pools] == [400, 400, 200]  # full from the first step
    start = 0
    for pairs, found, table in pools:
        first, second = rows_of(pairs.source), rows_of(pairs.target)
        assert list(zip(first, second, strict=True)) == expected[start : start + len(first)]
        start += len(first)
        vectors = units(table, first)
        for i, chosen in enumerate(found.source):
            cosines = vectors @ vectors[i]
            cosines[i] = -np.inf
            assert 0 <= chosen < len(first) and chosen != i  # of the first side, and not its own
            np.testing.assert_allclose(cosines[chosen], cosines.max(), rtol=0, atol=1e-6)
    assert [(pool, len(rows)) for pool, rows, *_ in batches] == [(pool, 100) for pool in (0,) * 4 + (1,) * 4 + (2,) * 2]
    for pool, rows, value, table in batches:
        pairs, found, _ = pools[pool]
        first, second = rows_of(pairs.source), rows_of(pairs.target)
        sides = [[first[i] for i in rows], [second[i] for i in rows], [first[j] for j in found.source[rows]]]
        np.testing.assert_allclose(value, hinge_mean(*sides, table), rtol=1e-5)
    # What is learnt is told by the first mini-batch, not by all of the first pool.
    _, rows, value, table = trainer.batches[-1]
    assert len(rows) == 100 and value < 0.9 * trainer.first_loss
