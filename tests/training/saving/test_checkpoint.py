"""Checkpoints: a training that was killed, stopped or starved of disk ends with the bytes of one that was not."""

from __future__ import annotations

import dataclasses
import functools
import json
import logging
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from psp.config.blocks.training import PAPER, CheckpointSchedule
from psp.core.errors import DataError
from psp.evaluation.development import Development
from psp.training import optimiser, trainer
from psp.training.batches import Epoch
from psp.training.saving.checkpoint import SUMS, Checkpoint, Checkpoints, sole
from psp.training.torch_state import choose_device
from tests.conftest import rows_of
from tests.training.conftest import Made, corpus, make, train
from tests.training.training_process import Job

# ---------------------------------------------------------------------------------------------------- the files alone

TABLE = torch.arange(12.0).reshape(3, 4)
IDENTITY = {"settings": {"dropout": 0.1, "epochs": 5}, "threads": 2, "device": "cpu", "code": "c" * 64}


def saved(folder: Path, at: list[int], best: int | None = None, **when: Any) -> Checkpoints:
    checkpoints = Checkpoints(folder, IDENTITY, CheckpointSchedule(**when))
    for step in at:
        tensors = {"encoder.table": TABLE + step, "best.table": TABLE}
        checkpoints.save(step, tensors, {"best": {"step": best or step}}, {"metrics.csv": b"step\n"}, same="best")
    return checkpoints


def again(folder: Path, **changes: Any) -> Checkpoint | None:
    return Checkpoints(folder, {**IDENTITY, **changes}, CheckpointSchedule()).latest()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_was_saved_comes_back(tmp_path: Path) -> None:
    saved(tmp_path / "c", [100])
    found = again(tmp_path / "c")
    assert found is not None
    assert found.state["step"] == 100 and found.state["best"] == {"step": 100}
    assert torch.equal(found.tensor("encoder.table"), TABLE + 100)
    assert found.names("best.") == ["best.table"]
    assert found.files(["metrics.csv", "dev.csv"]) == {"metrics.csv": b"step\n"}


def test_the_last_few_are_kept_by_their_number(tmp_path: Path) -> None:
    saved(tmp_path / "c", [999_999_900, 1_000_000_000, 1_000_000_100], keep=2)
    assert names(tmp_path / "c") == ["step-1000000000", "step-1000000100"]
    found = again(tmp_path / "c")
    assert found is not None and found.state["step"] == 1_000_000_100
    saved(tmp_path / "d", [1, 2, 3], keep=1)
    assert names(tmp_path / "d") == ["step-000000003"]


def test_best_weights_that_have_not_changed_take_no_space_again(tmp_path: Path) -> None:
    saved(tmp_path / "c", [1, 2], best=1)
    assert (tmp_path / "c/step-000000002/best.table.safetensors").stat().st_nlink == 2
    assert (tmp_path / "c/step-000000002/encoder.table.safetensors").stat().st_nlink == 1
    saved(tmp_path / "d", [1, 2])
    assert (tmp_path / "d/step-000000002/best.table.safetensors").stat().st_nlink == 1


def test_a_file_system_without_hard_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    saved(tmp_path / "c", [1, 2], best=1)
    found = again(tmp_path / "c")
    assert found is not None and torch.equal(found.tensor("best.table"), TABLE)


def test_a_disk_that_fills_up_with_its_last_file_leaves_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path, [10])

    def full(path: Path, value: Any) -> None:
        raise DataError("cannot be written: No space left on device; free space", path)

    monkeypatch.setattr("psp.training.saving.checkpoint.write_json", full)
    with pytest.raises(DataError, match=r"/step-000000020/\S+: cannot be written: No space left on device"):
        saved(tmp_path, [20])
    assert names(tmp_path) == ["step-000000010"]


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


def no_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")


DAMAGE: list[tuple[str, Callable[[Path], None]]] = [
    ("encoder.table.safetensors", cut), ("encoder.table.safetensors", flip), ("best.table.safetensors", Path.unlink),
    ("state.json", cut), ("state.json", flip), ("state.json", Path.unlink), ("metrics.csv", flip),
    (SUMS, cut), (SUMS, flip), (SUMS, Path.unlink), (SUMS, no_text), (SUMS, lambda path: path.write_bytes(b"")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "harm"), DAMAGE, ids=lambda value: getattr(value, "__name__", value))
def test_a_damaged_one_is_told_and_the_one_before_it_serves(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, harm: Callable[[Path], None]
) -> None:
    saved(tmp_path / "c", [100, 200])
    harm(tmp_path / "c/step-000000200" / name)
    found = again(tmp_path / "c")
    assert found is not None and found.state["step"] == 100
    assert names(tmp_path / "c") == ["step-000000100"]
    (line,) = caplog.messages
    assert line.startswith(f"{tmp_path}/c/step-000000200: is ") and "removed" in line


def test_one_that_cannot_be_read_is_an_error_and_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    saved(tmp_path / "c", [100, 200])
    path = tmp_path / "c/step-000000200/encoder.table.safetensors"
    path.unlink()
    path.mkdir()  # even root cannot read a folder
    with pytest.raises(DataError, match=r"encoder.table.safetensors: cannot be read: Is a directory; start again when"):
        again(tmp_path / "c")
    assert names(tmp_path / "c") == ["step-000000100", "step-000000200"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"settings": {"dropout": 0.3, "epochs": 5}}, "(settings.dropout was 0.1, now 0.3), removed"),
        ({"settings": {"epochs": 5}, "code": "d" * 64}, "(settings.dropout was 0.1, now null, another code), removed"),
        ({"threads": 4, "code": "d" * 64}, "(threads was 2, now 4, another code), removed"),
    ],
)
def test_another_training_s_is_removed_and_the_log_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, changes: Mapping[str, Any], message: str
) -> None:
    saved(tmp_path / "c", [100, 200])
    assert again(tmp_path / "c", **changes) is None
    assert names(tmp_path / "c") == []
    assert caplog.messages[0] == f"{tmp_path}/c/step-000000200: a checkpoint of another training {message}"


@pytest.mark.parametrize(("key", "value"), [("threads", 4), ("device", "cuda")])
def test_other_conditions_are_an_error_because_days_of_training_may_be_lost(
    tmp_path: Path, key: str, value: Any
) -> None:
    saved(tmp_path / "c", [1_200])
    before = json.dumps(IDENTITY.get(key))
    with pytest.raises(DataError, match=rf"at step 1,200, and {key} was {before}, now {json.dumps(value)}: rounding"):
        again(tmp_path / "c", **{key: value})
    assert again(tmp_path / "c") is not None


def test_another_version_of_the_format_is_another_training_s(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved(tmp_path / "c", [100])
    monkeypatch.setattr("psp.training.saving.checkpoint.VERSION", 2)
    assert again(tmp_path / "c") is None
    assert "(its format is psp-checkpoint 1, now psp-checkpoint 2), removed" in caplog.text


def test_what_a_killed_process_left_half_written_goes_with_the_next_one(tmp_path: Path) -> None:
    left = tmp_path / "c/.step-000000050.part"
    left.mkdir(parents=True)
    (left / "encoder.table.safetensors").write_bytes(b"half")
    assert again(tmp_path / "c") is None
    saved(tmp_path / "c", [100])
    assert names(tmp_path / "c") == ["step-000000100"]


def test_when_they_are_due(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("psp.training.saving.checkpoint.time.monotonic", lambda: now)

    def due(step: int, seconds: float, **when: Any) -> bool:
        nonlocal now
        checkpoints = saved(tmp_path / f"{step}{seconds}{when}", [100], **when)
        now += seconds
        return checkpoints.due(step)

    assert not due(10**6, 599)
    assert due(101, 600)
    assert not due(10**6, 10**9, minutes=None)
    assert due(150, 0, steps=50) and not due(149, 0, steps=50)
    assert due(150, 0, steps=50, minutes=None) and due(149, 600, steps=50)


def test_a_second_process_in_the_folder_is_refused_while_the_first_is_there(tmp_path: Path) -> None:
    with (
        sole(tmp_path),
        pytest.raises(DataError, match="another process is training there"),
        sole(tmp_path, patience=0.2),
    ):
        pass
    with sole(tmp_path, patience=0):
        pass


# ------------------------------------------------------------------------------- at every checkpoint that there can be

SMALL: dict[str, Any] = {
    **PAPER, "directions": "both",
    "epochs": 3, "batch_size": 16, "megabatch": 3, "anneal": 6, "dim": 8, "learning_rate": 0.02, "log_every": 7,
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    # An epoch's last mega-batch is a single pair.
    return make(tmp_path_factory.mktemp("made"), corpus(289, seed=1), 120)


@pytest.fixture
def rest_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkpoint may be written before every mega-batch; an epoch has several buffers."""
    monkeypatch.setattr(trainer, "CATCH_UP_EVERY", 1)
    monkeypatch.setattr(trainer, "Epoch", functools.partial(Epoch, block_pairs=16, buffer_blocks=4))


def dense(monkeypatch: pytest.MonkeyPatch) -> None:
    """The optimiser of GPUs, on the CPU; its sweeps come often, and take what matters."""
    monkeypatch.setattr("psp.training.encoders.mean.DeferredAdam", optimiser.DenseAdam)
    monkeypatch.setattr(optimiser, "SWEEP_EVERY", 5)
    monkeypatch.setattr(optimiser, "NOTHING", {"exp_avg": 1e-4, "exp_avg_sq": 1e-9})


def outputs(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.name != "timing.csv"}


VARIANTS: dict[str, dict[str, Any]] = {
    "best, dropout, clip": {"dropout": 0.2, "clip": 0.5, "epochs": 2, "every": 3},
    "last, random, one direction": {
        "select": "last",
        "negatives": "random",
        "directions": "source",
        "epochs": 2,
        "every": 4,
    },
    "full mega-batches, same side": {
        "anneal": 0,
        "negatives": "same",
        "directions": "source",
        "development": False,
        "epochs": 2,
        "every": 6,
    },
    "no development data": {"development": False, "negatives": "any", "epochs": 2, "every": 4},
    "from text": {"text": True, "epochs": 2, "every": 3},
    "infonce, linear, zipf": {
        "objective": "infonce",
        "schedule": "linear",
        "init": "zipf",
        "token_dropout": 0.2,
        "epochs": 2,
        "every": 4,
    },
    "infonce, shorter vectors": {"objective": "infonce", "dropout": 0.1, "matryoshka": [4], "epochs": 2, "every": 4},
    "the optimiser of GPUs": {"dense": True, "epochs": 2, "every": 4},
}


#: The rest, which shares its code with this one, is slow.
OFTEN = ("best, dropout, clip", "full mega-batches, same side")


@pytest.mark.parametrize(
    "variant", [name if name in OFTEN else pytest.param(name, marks=pytest.mark.slow) for name in VARIANTS]
)
def test_going_on_from_any_checkpoint_ends_with_the_same_bytes(
    tmp_path: Path,
    made: Made,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    rest_always: None,
    variant: str,
) -> None:
    changes = dict(VARIANTS[variant])
    if changes.pop("dense", False):
        dense(monkeypatch)
    development = Development.load(None, made.heldout) if changes.pop("development", True) else None
    every = changes.pop("every", 1)
    pairs = made.store.with_name("mix.tsv") if changes.pop("text", False) else made.store

    def run(folder: Path, **when: Any) -> dict[str, Any]:
        checkpoints = CheckpointSchedule(minutes=None, **when)
        return train(folder, made, {**SMALL, **changes}, development, store=pairs, checkpoints=checkpoints)

    beginnings: list[Any] = []
    check = trainer.Trainer.check_learnt

    def noted(self: trainer.Trainer, **how: Any) -> None:
        assert self._first_pairs is not None
        beginnings.append((self.first_loss, rows_of(self._first_pairs.source)))
        check(self, **how)

    monkeypatch.setattr(trainer.Trainer, "check_learnt", noted)
    report = run(tmp_path / "undisturbed")
    assert report["passed_over"] == report["epochs"]  # or that counter would prove nothing
    expected = outputs(tmp_path / "undisturbed")

    kept = tmp_path / "kept"
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "clear", lambda self: shutil.move(self.folder, kept))
        run(tmp_path / "often", steps=1, keep=10**6)
    assert outputs(tmp_path / "often") == expected
    assert len(list(kept.iterdir())) > 10

    for checkpoint in sorted(kept.iterdir())[::every]:
        folder = tmp_path / checkpoint.name
        shutil.copytree(checkpoint, folder / "train/checkpoints" / checkpoint.name)
        with caplog.at_level(logging.INFO):
            run(folder)
        assert f"going on from step {int(checkpoint.name.removeprefix('step-'))} " in caplog.text
        assert outputs(folder) == expected, checkpoint.name
    assert all(one == beginnings[0] for one in beginnings)  # with which the end is compared


def test_a_larger_log_every_goes_on_with_the_same_training(
    tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch, rest_always: None, caplog: pytest.LogCaptureFixture
) -> None:
    def run(**changes: Any) -> None:
        train(tmp_path, made, {**SMALL, **changes}, checkpoints=CheckpointSchedule(steps=20))

    run()
    expected = (tmp_path / "model/model.safetensors").read_bytes()
    monkeypatch.setattr(Checkpoints, "clear", lambda self: None)
    run()
    with caplog.at_level(logging.INFO):
        run(log_every=1, device=choose_device("auto", "train").type)
    assert "going on from step" in caplog.text
    assert (tmp_path / "model/model.safetensors").read_bytes() == expected


# ------------------------------------------------------------------------------------------------------ real processes


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory, made: Made) -> Job:
    """An undisturbed training, without a checkpoint."""
    settings = {**SMALL, "dropout": 0.1, "clip": 0.5}
    folder = tmp_path_factory.mktemp("undisturbed")
    job = Job(made.store, made.sentencepiece, made.heldout, folder, settings, {"minutes": None})
    assert job.run() == 0
    assert not job.checkpoints()
    return job


def disturbed(job: Job, folder: Path, **changes: Any) -> Job:
    changes = {"when": {"steps": 1}, **changes}
    return dataclasses.replace(job, folder=folder, **changes)


def resumed_at(job: Job) -> int:
    """The step that the last run of a job went on from; 0 = it began anew."""
    lines = [line for line in job.log().splitlines() if "going on from step" in line]
    return int(lines[0].split("going on from step ")[1].split()[0]) if lines else 0


@pytest.mark.slow
def test_killed_at_each_thing_that_it_does_to_a_checkpoint(tmp_path: Path, job: Job) -> None:
    places = iter(range(2, 1000))
    seen = set()
    while (killed := disturbed(job, tmp_path, die_at=next(places))).run() == -signal.SIGKILL:
        seen.add(resumed_at(killed))
    assert killed.results() == job.results()
    assert len(seen) > 2  # it went on from several checkpoints


def kill_at_random(job: Job, folder: Path, kills: int) -> list[int]:
    """The steps that the killed processes had gone on from."""
    started = time.monotonic()
    assert disturbed(job, folder).run() == 0
    seconds = time.monotonic() - started  # by this alone the moments are spread, whatever the machine
    rng, seen = random.Random(7), []
    for _ in range(kills):
        process = disturbed(job, folder).start()
        process.join(rng.uniform(0, seconds))
        process.kill()
        process.join()
        seen.append(resumed_at(disturbed(job, folder)))
    last = disturbed(job, folder)
    assert last.run() == 0
    assert last.results() == job.results()
    assert not last.checkpoints()
    return seen


@pytest.mark.slow
def test_killed_at_random_moments(tmp_path: Path, job: Job) -> None:
    settings = {**job.settings, "negatives": "random", "epochs": 12}
    job = dataclasses.replace(job, folder=tmp_path / "a", settings=settings, threads=2)
    assert job.run() == 0
    assert len(set(kill_at_random(job, tmp_path / "b", kills=12))) > 1


@pytest.mark.slow
def test_a_full_disk_is_one_error_and_training_can_go_on(tmp_path: Path, job: Job) -> None:
    starved = disturbed(job, tmp_path, settings={**job.settings, "dim": 64}, fill_at=3)
    plenty = dataclasses.replace(starved, folder=tmp_path / "plenty", fill_at=None)
    assert plenty.run() == 0
    assert starved.run() == 1
    (line,) = [line for line in starved.log().splitlines() if "ERROR" in line]
    assert "the checkpoint cannot be written" in line and "File too large" in line and "free space" in line
    assert len(starved.checkpoints()) == 2
    assert not list((tmp_path / "train/checkpoints").glob(".*"))
    last = starved.checkpoints()[-1]
    after = dataclasses.replace(starved, fill_at=None)
    assert after.run() == 0
    assert resumed_at(after) == int(last.name.removeprefix("step-"))
    assert after.results() == plenty.results()


@pytest.mark.slow
def test_a_damaged_checkpoint_costs_time_alone(tmp_path: Path, job: Job) -> None:
    killed = disturbed(job, tmp_path, die_at=150)
    assert killed.run() == -signal.SIGKILL
    older, newest = killed.checkpoints()[-2:]
    cut(newest / "optimiser.0.exp_avg.safetensors")
    after = disturbed(job, tmp_path)
    assert after.run() == 0
    assert resumed_at(after) == int(older.name.removeprefix("step-"))
    assert after.results() == job.results()


@pytest.mark.slow
def test_other_code_or_development_data_begins_anew(tmp_path: Path, job: Job) -> None:
    first = disturbed(job, tmp_path, die_at=150, identity={"code": "old"})
    assert first.run() == -signal.SIGKILL and first.checkpoints()
    other = disturbed(job, tmp_path, identity={"code": "new"})
    assert other.run() == 0
    assert 'a checkpoint of another training (code was "old", now "new"), removed' in other.log()
    assert resumed_at(other) == 0
    assert other.results() == job.results()


@pytest.mark.slow
def test_a_process_that_outlived_its_parent_and_the_next_one_do_not_mix(tmp_path: Path, job: Job) -> None:
    processes = [disturbed(job, tmp_path).start() for _ in range(2)]
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert disturbed(job, tmp_path).results() == job.results()


def wait_for_first_row(job: Job) -> None:
    metrics = job.folder / "train/metrics.csv"
    deadline = time.monotonic() + 60
    while not (metrics.exists() and metrics.read_bytes().count(b"\n") > 1):
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_with_a_checkpoint_that_says_how_to_go_on(tmp_path: Path, job: Job, number: int) -> None:
    long = dataclasses.replace(
        job, folder=tmp_path / "a", catch_up=100, settings={**job.settings, "epochs": 15, "log_every": 1}
    )
    assert long.run() == 0
    stopped = dataclasses.replace(long, folder=tmp_path / "b")  # no checkpoint is due, and none was written yet
    process = stopped.start()
    wait_for_first_row(stopped)
    os.kill(process.pid, number)
    process.join()
    assert process.exitcode == 128 + number
    lines = [line for line in stopped.log().splitlines() if "WARNING" in line or "ERROR" in line]
    assert len(lines) == 2
    assert f"{signal.Signals(number).name}: stopping soon, with a checkpoint; once more" in lines[0]
    (checkpoint,) = stopped.checkpoints()
    step = int(checkpoint.name.removeprefix("step-"))
    assert f"training was stopped at step {step} (" in lines[1]
    assert "start the same training again to go on from there" in lines[1]
    assert step >= 100
    assert stopped.run() == 0
    assert resumed_at(stopped) == step
    assert stopped.results() == long.results()


def test_a_second_signal_stops_at_once(tmp_path: Path, job: Job) -> None:
    endless = dataclasses.replace(
        job, folder=tmp_path, catch_up=10**9, settings={**job.settings, "epochs": 10**4, "log_every": 1}
    )
    process = endless.start()
    wait_for_first_row(endless)
    os.kill(process.pid, signal.SIGINT)
    while "stopping soon" not in endless.log():
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGINT)
    process.join()
    assert process.exitcode == 130
    assert "stopped by" in endless.log() and "Traceback" not in endless.log()
    assert not endless.checkpoints()
