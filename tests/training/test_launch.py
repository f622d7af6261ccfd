"""Keys of trainings in several processes that contradict each other or the machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from psp.core.errors import ConfigError
from psp.evaluation.development import DevelopmentFiles
from psp.training.launch import check, count, train_in_processes
from psp.training.loop import Training
from psp.training.settings import PAPER
from tests.training.conftest import Made, corpus, make, write_heldout

SETTINGS: dict[str, Any] = {
    **PAPER, "directions": "both",
    "epochs": 14, "batch_size": 16, "megabatch": 4, "anneal": 5, "dim": 32, "learning_rate": 0.02, "log_every": 10,
    "dropout": 0.1,
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("made")
    found = make(folder, corpus(1200, seed=1), 400)
    write_heldout(found)
    return found


def training(folder: Path, made: Made, **changes: Any) -> Training:
    config = {"languages": ["en", "fr"], "lower_case": True, "segment": {}, "recipe": "psp"}
    wanted = Training(
        made.store,
        made.sentencepiece,
        folder / "model",
        folder / "train",
        SETTINGS,
        DevelopmentFiles(heldout=made.store.with_name("heldout.tsv")),
        threads=1,
        model_config=config,
        identity={"code": "1"},
        warn_pairs=0,
    )
    return replace(wanted, **changes)


KEYS = {"processes": 1, "gpus": 0, "nodes": 1, "device": "auto", "precision": "float32"}


@pytest.mark.parametrize(
    ("changes", "write"),
    [
        ({"processes": 2, "gpus": 2}, "`gpus: 2` alone"),
        ({"gpus": 1, "device": "cpu"}, "`device: auto` or `gpus: 0`"),
        ({"gpus": 2, "device": "cuda:1"}, "`device: auto`"),
        ({"processes": 2, "device": "cuda"}, "`gpus: 2`"),
        ({"precision": "mixed", "device": "cpu"}, "`precision: float32`"),
        ({"precision": "mixed", "processes": 2}, "`precision: float32`"),
    ],
    ids=str,
)
def test_keys_that_contradict_each_other_are_told(changes: dict[str, Any], write: str) -> None:
    with pytest.raises(ConfigError, match=r"^models\.fr\.train: ") as caught:
        check({**KEYS, **changes}, "models.fr.train")
    assert write in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "processes"),
    [
        ({}, 1),
        ({"processes": 3}, 3),
        ({"gpus": 1}, 1),
        ({"gpus": 4, "precision": "mixed"}, 4),
        ({"processes": 3, "nodes": 2}, 6),
        ({"device": "cuda:1"}, 1),
    ],
    ids=str,
)
def test_one_process_a_gpu_or_as_many_as_are_asked_for(changes: dict[str, Any], processes: int) -> None:
    check({**KEYS, **changes}, "train")
    assert count({**KEYS, **changes}) == processes


def test_more_gpus_than_there_are_are_an_error(tmp_path: Path, made: Made) -> None:
    with pytest.raises(ConfigError, match=r"sees \d+ GPUs"):
        train_in_processes(training(tmp_path, made, processes=1, gpus=99))


def test_several_machines_need_a_job_of_slurm(tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    with pytest.raises(ConfigError, match=r"^train.nodes: 2, but this is no job of Slurm; run Snakemake with"):
        train_in_processes(training(tmp_path, made, processes=1, nodes=2))
