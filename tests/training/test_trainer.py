from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from psp.config.blocks.training import PAPER, TrainSettings
from psp.core.errors import PspError
from psp.training.encoders.base import Encoder
from psp.training.encoders.mean import mean_encoder, normal_table
from psp.training.saving.csv_log import MetricsLog
from psp.training.torch_state import torch_state
from psp.training.trainer import FEW_STEPS, Trainer
from tests.training.conftest import CONCEPTS, ListSource, retrieval_error, translated

SMALL: dict[str, Any] = {
    **PAPER, "directions": "both",
    "epochs": 2, "batch_size": 32, "megabatch": 4, "anneal": 5, "dim": 16, "learning_rate": 0.01, "log_every": 7,
}  # fmt: skip
ROOT = Path(__file__).parent.parent.parent
objectives = pytest.mark.parametrize("objective", ["margin", "infonce"])
Score = Callable[[Encoder], Mapping[str, Any]]


def run(
    folder: Path, pairs: ListSource, evaluate: Score | None = None, threads: int = 1, **changes: Any
) -> tuple[np.ndarray, Trainer]:
    settings = TrainSettings(**{**SMALL, **changes})
    with torch_state(threads), MetricsLog(folder, settings.log_every) as records:
        encoder, optimiser = mean_encoder(normal_table(2 * CONCEPTS, settings.dim, settings.seed), settings.as_dict())
        trainer = Trainer(pairs, encoder, optimiser, settings, evaluate, records)
        return trainer.run()["table"].numpy().copy(), trainer


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"directions": "source"},
        {"dropout": 0.1},
        {"negatives": "any"},
        {"negatives": "random"},
        {"mask_equal": False},
        {"clip": 0.5},
        {"schedule": "linear", "warmup": 0.1},
        {"token_dropout": 0.2, "matryoshka": [24], "dropout": 0.1},
        {"objective": "infonce", "margin": 0.3},
        {"objective": "infonce", "margin": 0.1, "mask_equal": False, "schedule": "linear", "dropout": 0.1},
    ],
    ids=str,
)
def test_translations_are_learnt(tmp_path: Path, caplog: pytest.LogCaptureFixture, changes: dict[str, Any]) -> None:
    unseen = translated(300, seed=2)
    before = retrieval_error(normal_table(2 * CONCEPTS, 48, 1).numpy(), unseen)
    table, trainer = run(tmp_path, translated(2000, seed=1), epochs=6, dim=48, **changes)
    assert before > 0.9
    assert retrieval_error(table, unseen) < 0.1
    losses = [float(row["loss"]) for row in rows(tmp_path / "metrics.csv")]
    assert losses[-1] < 0.3 * losses[0]
    assert trainer.pairs == 12_000 and trainer.step == int(rows(tmp_path / "metrics.csv")[-1]["step"])
    trainer.check_learnt()
    assert not caplog.messages


@pytest.mark.slow
def test_no_exponential_is_several_threads_first(tmp_path: Path) -> None:
    """See psp.training.torch_state._choose_kernels: which code they then run is a matter of luck."""
    code = """
import sys
from pathlib import Path
from torch.utils._python_dispatch import TorchDispatchMode
from tests.training.conftest import translated
from tests.training.test_trainer import run
first = {}
class Watched(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = str(function).split(".")[1].rstrip("_")
        if name in ("exp", "log", "logsumexp"):
            first.setdefault(name, args[0].numel())
        return function(*args, **(kwargs or {}))
with Watched():
    run(Path(sys.argv[1]), translated(64, seed=1), threads=2, epochs=1, objective="infonce", scale=float(sys.argv[2]))
print(first)
"""
    for scale, expected in ((20, "{'exp': 1, 'log': 1}"), (60, "{'exp': 1, 'log': 1, 'logsumexp': 1024}")):
        command = [sys.executable, "-c", code, str(tmp_path / str(scale)), str(scale)]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        assert result.stdout.strip() == expected, result.stderr


def test_infonce_mines_nothing_and_passes_over_a_last_single_pair(tmp_path: Path) -> None:
    table, trainer = run(tmp_path, translated(65, seed=1), epochs=2, objective="infonce", megabatch=60)
    assert (trainer.pairs, trainer.passed_over, trainer.step) == (128, 2, 4)
    assert {row["megabatch"] for row in rows(tmp_path / "metrics.csv")} == {"1"}
    same, _ = run(tmp_path / "again", translated(65, seed=1), epochs=2, objective="infonce", megabatch=3, anneal=1)
    assert same.tobytes() == table.tobytes()


@pytest.mark.slow
@objectives
def test_vectors_trained_for_it_may_be_cut(tmp_path: Path, objective: str) -> None:
    pairs, unseen = translated(2000, seed=1), translated(300, seed=2)
    errors = {}
    for lengths in ((), (4, 8)):
        table, _ = run(
            tmp_path / str(len(lengths)), pairs, epochs=4, dim=48, objective=objective, margin=0.3, matryoshka=lengths
        )
        errors[lengths] = [retrieval_error(table[:, :dim], unseen) for dim in (4, 8, 48)]
    assert errors[4, 8][0] < errors[()][0] and errors[4, 8][1] < errors[()][1]
    assert errors[4, 8][2] < 0.1


def test_the_learning_rate_is_that_of_the_schedule(tmp_path: Path) -> None:
    for warmup in (0, 0.2):
        settings = {"schedule": "linear", "warmup": warmup, "learning_rate": 0.08}
        run(tmp_path, translated(320, seed=1), epochs=2, log_every=1, **settings)
        rates = [float(row["learning_rate"]) for row in rows(tmp_path / "metrics.csv")]
        middles = [(step + 0.5) / 20 for step in range(20)]
        expected = [0.08 * (done / warmup if done < warmup else (1 - done) / (1 - warmup)) for done in middles]
        assert rates == pytest.approx(expected, rel=1e-4)


@objectives
def test_a_kind_that_is_one_pair_of_a_megabatch_has_no_loss_term(tmp_path: Path, objective: str) -> None:
    pairs = translated(64, seed=1)
    pairs.paraphrase[7] = True
    _, trainer = run(tmp_path, pairs, epochs=1, megabatch=1, objective=objective)  # mega-batches of 32: one holds it
    assert trainer.without_negative == 2
    assert trainer.pairs == 64


def test_each_epoch_sees_every_pair_and_short_batches_at_its_end(tmp_path: Path) -> None:
    _, trainer = run(tmp_path, translated(32 * 9 + 5, 1), epochs=3, anneal=1, log_every=1)
    assert trainer.pairs == 3 * (32 * 9 + 5)
    assert trainer.step == 3 * 10
    assert trainer.passed_over == 0
    seen = [int(row["pairs"]) for row in rows(tmp_path / "metrics.csv")]
    sizes = np.diff([0, *seen])
    assert sorted(set(sizes)) == [5, 32] and (sizes == 5).sum() == 3  # only the last of an epoch is short


def test_a_mega_batch_of_one_pair_is_passed_over(tmp_path: Path) -> None:
    _, trainer = run(tmp_path, translated(33, 1), megabatch=1)
    assert (trainer.step, trainer.pairs, trainer.passed_over) == (2, 64, 2)


def test_a_store_without_two_different_pairs_is_told(tmp_path: Path) -> None:
    with pytest.raises(PspError, match="nothing was trained"):
        run(tmp_path, translated(1, 1))


def test_pairs_that_all_share_a_text_teach_nothing(tmp_path: Path) -> None:
    same = ListSource([[7, 8]] * 64, [[CONCEPTS + i] for i in range(64)])
    table, trainer = run(tmp_path, same, epochs=1)
    np.testing.assert_array_equal(table, normal_table(2 * CONCEPTS, 16, 1).numpy())
    assert trainer.without_negative == 2 * 64
    moved, _ = run(tmp_path, same, epochs=1, mask_equal=False)
    assert (moved != table).any()


@pytest.mark.parametrize("rate", [1e38, 1e20])
def test_divergence_stops_with_the_step_and_what_to_try(tmp_path: Path, rate: float) -> None:
    with pytest.raises(PspError, match=r"training diverged (at|by) step [1-9].*lower learning_rate"):
        run(tmp_path, translated(500, 1), learning_rate=rate)
    assert (tmp_path / "metrics.csv").read_text().startswith("step,")  # what was written stays readable


DIVERGING = {"learning_rate": 1e9, "objective": "infonce", "margin": 0.3, "dim": 64}


def test_a_loss_above_the_untrained_table_s_is_an_error(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _, trainer = run(tmp_path, translated(128, 1), **DIVERGING | {"epochs": 4})  # each step's loss is finite
    assert trainer.step >= FEW_STEPS
    counters = (trainer.step, trainer.without_negative)
    with pytest.raises(PspError, match=r"training diverged: the first mini-batch's loss is .*lower learning_rate"):
        trainer.check_learnt()
    assert not caplog.messages and (trainer.step, trainer.without_negative) == counters
    trainer.check_learnt(refuse=False)
    assert caplog.messages[0].startswith("training diverged: ")


def test_after_a_few_steps_a_divergence_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("DIVERGED", "HARDLY"):
        monkeypatch.setattr(f"psp.training.trainer.{limit}", 0.5)
    _, trainer = run(tmp_path, translated(4, 1), **DIVERGING | {"epochs": 3})
    assert trainer.step < FEW_STEPS
    trainer.check_learnt()
    assert caplog.messages[0].startswith("training diverged: ")


def test_a_divergence_after_the_best_weights_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _, trainer = run(tmp_path, translated(100, 1), Scripted(2.0, 1.0), select="best", **DIVERGING)
    trainer.check_learnt()
    (line,) = caplog.messages
    assert line.startswith("training diverged: ") and line.endswith("The weights of step 4, the best, are kept")


@pytest.mark.parametrize("changes", [{}, {"directions": "source"}, {"objective": "infonce"}], ids=str)
def test_a_rate_at_which_nothing_is_learnt_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, changes: dict[str, Any]
) -> None:
    _, trainer = run(tmp_path, translated(200, 1), learning_rate=1e-9, **changes)
    trainer.check_learnt()
    (line,) = caplog.messages
    assert "almost nothing was learnt; try a learning_rate other than 1e-09" in line


def test_a_table_that_is_trained_already_need_not_get_better(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    pairs, settings = translated(500, 1), TrainSettings(**{**SMALL, "learning_rate": 1e-9})
    trained, _ = run(tmp_path / "first", pairs, epochs=6)
    with MetricsLog(tmp_path / "again", 7) as records:
        trainer = Trainer(pairs, *mean_encoder(torch.from_numpy(trained), settings.as_dict()), settings, None, records)
        trainer.run()
    trainer.check_learnt()
    assert not caplog.messages


def test_a_table_that_is_not_finite_is_noticed_although_mining_finds_no_negative(tmp_path: Path) -> None:
    settings = TrainSettings(**SMALL)
    table = torch.full((2 * CONCEPTS, 16), torch.nan)
    with MetricsLog(tmp_path, 1) as records, pytest.raises(PspError, match="diverged by step 0"):
        Trainer(translated(100, 1), *mean_encoder(table, settings.as_dict()), settings, None, records).run()


class Scripted:
    """Validation scores as told; remembers the tables."""

    def __init__(self, *scores: float) -> None:
        self.scores, self.tables = list(scores), []

    def __call__(self, encoder: Encoder) -> Mapping[str, Any]:
        self.tables.append(encoder.state_dict()["table"].numpy().copy())
        return {"score": self.scores[len(self.tables) - 1], "note": "not a number", "part": 1.5}


@pytest.mark.parametrize(("select", "kept"), [("best", 1), ("last", 2)])
def test_the_best_or_the_last_table_is_kept(tmp_path: Path, select: str, kept: int) -> None:
    scripted = Scripted(10.0, 30.0, 20.0)
    table, trainer = run(tmp_path, translated(100, 1), scripted, epochs=3, select=select)
    assert len(scripted.tables) == 3  # once an epoch, and the end is not scored twice
    np.testing.assert_array_equal(table, scripted.tables[kept])
    assert trainer.best is not None and trainer.best["score"] == (30.0, 20.0)[select == "last"]
    dev = rows(tmp_path / "dev.csv")
    assert [float(row["score"]) for row in dev] == [10.0, 30.0, 20.0]
    assert set(dev[0]) == {"step", "epoch", "pairs", "score", "part"}


def test_without_development_data_the_last_table_is_kept(tmp_path: Path) -> None:
    (tmp_path / "dev.csv").write_text("of an earlier run")
    _, trainer = run(tmp_path, translated(100, 1))
    assert trainer.best is None
    assert not (tmp_path / "dev.csv").exists()


def test_a_development_score_that_is_no_number_stops_training(tmp_path: Path) -> None:
    with pytest.raises(PspError, match="validation score at step"):
        run(tmp_path, translated(100, 1), Scripted(float("nan")))


def test_torch_is_left_as_it_was_found() -> None:
    before = (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled())
    with pytest.raises(ZeroDivisionError), torch_state(before[0] + 1):
        assert torch.get_num_threads() == before[0] + 1
        raise ZeroDivisionError
    assert (torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()) == before
