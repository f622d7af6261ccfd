"""A transformer trained in two processes, which torchrun starts: the same model, and one set of files."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psp.core import schemas
from psp.core.errors import ConfigError
from psp.evaluation.development import DevelopmentFiles
from psp.models.model import load_model
from psp.training.launch import train_in_processes
from psp.training.process_group import ProcessGroup
from psp.training.transformer import TransformerTraining
from psp.training.transformer.settings import check_shared
from tests.training.transformer.conftest import PAIRS, SETTINGS, read_json, train, write_pairs


@pytest.fixture(scope="module")
def exact(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny base without dropout, which each process draws for itself."""
    folder = tmp_path_factory.mktemp("exact") / "base"
    folder.mkdir()
    for path in base.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    config = read_json(folder / "config.json") | {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def training(folder: Path, base: Path, processes: int, pairs: int = 240, **settings: Any) -> TransformerTraining:
    folder.mkdir(parents=True, exist_ok=True)
    return TransformerTraining(
        write_pairs(folder / "pairs.tsv", PAIRS[:pairs]),
        str(base),
        folder / "model",
        folder / "train",
        {**SETTINGS, "epochs": 2, **settings},
        DevelopmentFiles(heldout=write_pairs(folder / "heldout.tsv", PAIRS[240:], mixed=True)),
        threads=processes,
        model_config={"languages": ["aa", "bb"], "recipe": "psp"},
        identity={"code": "1"},
        processes=processes,
    )


@pytest.mark.slow
def test_two_processes_share_each_mini_batch_and_train_what_one_does(exact: Path, tmp_path: Path) -> None:
    reports = []
    for processes in (1, 2):
        folder = tmp_path / str(processes)
        report = train_in_processes(training(folder, exact, processes, cached=4))
        written = read_json(folder / "train/train.json")
        schemas.check(written, "train")
        reports.append(written)
        assert sorted(path.name for path in (folder / "train").iterdir()) == ["metrics.csv", "timing.csv", "train.json"]
        assert report["processes"] == processes
    one, two = reports
    # As many steps as with mini-batches of 16 in one process: no process has mini-batches of its own.
    assert one["steps"] == two["steps"] == 30
    differing = ("processes", "loss", "development")
    assert {key: one[key] for key in one if key not in differing} == {
        key: two[key] for key in two if key not in differing
    }
    curves = [csv.DictReader((tmp_path / number / "train/metrics.csv").open()) for number in "12"]
    rows = [[float(row["loss"]) for row in curve if row["loss"]] for curve in curves]
    # With negatives of half the mini-batch alone, the first loss would be lower by about log 2.
    assert len(rows[0]) > 3 and rows[1] == pytest.approx(rows[0], abs=2e-3)
    texts = [side for pair in PAIRS[:40] for side in pair]
    vectors = [load_model(tmp_path / number / "model").embed_raw_text(texts) for number in "12"]
    np.testing.assert_allclose(*vectors, atol=5e-3)
    assert not np.allclose(*vectors, atol=0)


@pytest.mark.slow
def test_a_stopped_training_of_two_processes_goes_on(exact: Path, tmp_path: Path) -> None:
    wanted = training(tmp_path, exact, 2, checkpoint_steps=5, epochs=4)
    file, log = tmp_path / "job.pickle", tmp_path / "log.txt"
    file.write_bytes(pickle.dumps((wanted, log)))
    program = Path(__file__).parents[1] / "launch_job.py"
    job = subprocess.Popen(
        [sys.executable, str(program), str(file)], stderr=subprocess.PIPE, text=True, env={**os.environ}
    )
    deadline = time.monotonic() + 120
    while not list((tmp_path / "train/checkpoints").glob("checkpoint-*/whole")):
        assert job.poll() is None and time.monotonic() < deadline, job.communicate()
        time.sleep(0.01)
    job.send_signal(signal.SIGTERM)
    _, said = job.communicate(timeout=120)
    assert job.returncode != 0 and "resumes from the last checkpoint" in said, said
    assert not (tmp_path / "model").exists()
    report = train_in_processes(wanted, log)
    assert report["steps"] == 60 and "training resumes from" in (tmp_path / "log.txt").read_text()
    assert (tmp_path / "model/config.json").exists() and not (tmp_path / "train/checkpoints").exists()


def test_fewer_pairs_than_a_mini_batch_are_told(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pretended:
        rank, size = 0, 2

        def first(self, flag: bool) -> bool:
            return flag

    monkeypatch.setattr(ProcessGroup, "wanted", lambda: True)
    monkeypatch.setattr(ProcessGroup, "joined", lambda device, patience: contextlib.nullcontext(Pretended()))
    with pytest.raises(ConfigError, match="16, but there are 9 pairs; several processes need at least one full"):
        train(tmp_path, base, pairs=PAIRS[:9])
    assert not (tmp_path / "model").exists()


def test_a_mini_batch_must_be_divisible_and_a_teacher_is_for_one_process() -> None:
    check_shared(16, 4, False, "transformer")
    check_shared(15, 1, True, "transformer")
    with pytest.raises(ConfigError, match=r"transformer\.batch_size: 15 pairs cannot be shared by 2 processes"):
        check_shared(15, 2, False, "transformer")
    with pytest.raises(ConfigError, match="learning from a teacher is for one process"):
        check_shared(16, 2, True, "transformer")
