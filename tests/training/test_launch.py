"""Jobs that train in two processes: what they make, what they say, and that nothing of them stays behind."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from psp.core.errors import ConfigError
from psp.evaluation.development import DevelopmentFiles
from psp.training.launch import check, count, train_in_processes
from psp.training.loop import Training
from psp.training.settings import PAPER, CheckpointSchedule
from tests.training.conftest import Made, corpus, make, write_heldout

SETTINGS: dict[str, Any] = {
    **PAPER, "directions": "both",
    "epochs": 14, "batch_size": 16, "megabatch": 4, "anneal": 5, "dim": 32, "learning_rate": 0.02, "log_every": 10,
    "dropout": 0.1,
}  # fmt: skip
RESULTS = ("model/model.safetensors", "model/config.json", "train/metrics.csv", "train/dev.csv", "train/train.json")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("made")
    found = make(folder, corpus(1200, seed=1), 400)
    write_heldout(found)
    return found


@dataclass
class Job:
    """A job in a session of its own, as Snakemake's are not: what a person does to them is done to it alone."""

    folder: Path
    made: Made
    processes: int = 2
    settings: dict[str, Any] = field(default_factory=dict)
    changes: dict[str, Any] = field(default_factory=dict)
    running: subprocess.Popen[str] | None = None

    @property
    def log(self) -> Path:
        return self.folder / "train.log"

    def training(self) -> Training:
        config = {"languages": ["en", "fr"], "lower_case": True, "segment": {}, "recipe": "psp"}
        wanted = Training(
            self.made.store,
            self.made.sentencepiece,
            self.folder / "model",
            self.folder / "train",
            {**SETTINGS, **self.settings},
            DevelopmentFiles(heldout=self.made.store.with_name("heldout.tsv")),
            threads=self.processes,
            model_config=config,
            checkpoints=CheckpointSchedule(minutes=None, steps=1),
            identity={"code": "1"},
            warn_pairs=0,
            processes=self.processes,
        )
        return replace(wanted, **self.changes)

    def start(self) -> Job:
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / "job.pickle"
        file.write_bytes(pickle.dumps((self.training(), self.log)))
        self.running = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("launch_job.py")), str(file)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        return self

    @property
    def pid(self) -> int:
        assert self.running is not None
        return self.running.pid

    def family(self) -> list[psutil.Process]:
        """Torchrun and the processes that it has started."""
        return psutil.Process(self.pid).children(recursive=True)

    def workers(self) -> dict[int, psutil.Process]:
        found = [process for process in self.family() if "torch.distributed.run" not in process.cmdline()]
        return {int(process.environ()["RANK"]): process for process in found}

    def wait_for(self, what: Callable[[], Any]) -> Any:
        assert self.running is not None
        deadline = time.monotonic() + 300
        while not (found := what()):
            assert self.running.poll() is None, f"it has ended: {self.running.stdout and self.running.stdout.read()}"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return found

    def wait_for_checkpoint(self) -> set[Path]:
        """Until there is one that was not there before."""
        before = set(self.checkpoints())
        return set(self.wait_for(lambda: set(self.checkpoints()) - before))

    def checkpoints(self) -> list[Path]:
        return sorted((self.folder / "train/checkpoints").glob("step-*"))

    def end(self, family: list[psutil.Process] | None = None) -> str:
        """What it said in the end; none of its processes is there any more."""
        assert self.running is not None
        family = self.family() if family is None else family
        said, _ = self.running.communicate(timeout=300)
        _, alive = psutil.wait_procs(family, timeout=60)
        assert not alive
        return said

    @property
    def status(self) -> int | None:
        assert self.running is not None
        return self.running.returncode

    def results(self) -> dict[str, bytes]:
        return {name: (self.folder / name).read_bytes() for name in RESULTS}


@pytest.fixture
def job(tmp_path: Path, made: Made) -> Iterator[Job]:
    jobs = Job(tmp_path / "job", made)
    yield jobs
    if jobs.running is not None and jobs.running.poll() is None:
        for process in [*jobs.family(), psutil.Process(jobs.pid)]:
            process.kill()


@pytest.fixture(scope="module")
def side_by_side(tmp_path_factory: pytest.TempPathFactory, made: Made) -> list[Job]:
    folder = tmp_path_factory.mktemp("undisturbed")
    jobs = [Job(folder / name, made).start() for name in "ab"]
    assert [(job.end(), job.status) for job in jobs] == [("", 0), ("", 0)]
    return jobs


@pytest.fixture(scope="module")
def undisturbed(side_by_side: list[Job]) -> Job:
    return side_by_side[0]


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
        train_in_processes(replace(Job(tmp_path, made).training(), processes=1, gpus=99))


def test_several_machines_need_a_job_of_slurm(tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    with pytest.raises(ConfigError, match=r"^train.nodes: 2, but this is no job of Slurm; run Snakemake with"):
        train_in_processes(replace(Job(tmp_path, made).training(), processes=1, nodes=2))
