"""Checkpoints of transformers' trainer: the last whole one of the same run is found, all others go."""

import json

import pytest

from psp.training.saving.library_checkpoints import KEPT, last_checkpoint, write_metrics


@pytest.fixture
def folder(tmp_path):
    """After a run that saved steps 9 and 10 and was killed while it saved step 11."""
    assert last_checkpoint(tmp_path / "checkpoints", {"seed": 1, "sizes": (1, 2)}) is None
    for step, state in ((9, '{"step": 9}'), (10, '{"step": 10}'), (11, '{"st')):
        (tmp_path / f"checkpoints/checkpoint-{step}").mkdir()
        (tmp_path / f"checkpoints/checkpoint-{step}/trainer_state.json").write_text(state)
    (tmp_path / "checkpoints/checkpoint-12").mkdir()
    return tmp_path / "checkpoints"


def test_the_last_whole_one_is_found_and_halves_go(folder):
    assert last_checkpoint(folder, {"seed": 1, "sizes": (1, 2)}) == folder / "checkpoint-10"
    assert len(list(folder.glob("checkpoint-*"))) == KEPT


def test_those_of_another_run_go_and_the_log_says_why(folder, caplog):
    assert last_checkpoint(folder, {"seed": 2, "sizes": (1, 2)}) is None
    assert "checkpoints of another training (seed), removed" in caplog.text
    assert json.loads((folder / "run.json").read_text()) == {"seed": 2, "sizes": [1, 2]}


def test_metrics_are_the_rows_with_a_loss_or_the_score(tmp_path):
    history = [{"step": 5, "loss": 2.5, "other": 1}, {"step": 5, "dev": 60.0}, {"step": 5, "train_runtime": 3}]
    write_metrics(tmp_path / "metrics.csv", history, ("step", "loss", "dev"), "dev")
    assert (tmp_path / "metrics.csv").read_text() == "step,loss,dev\n5,2.5,\n5,,60.0\n"
