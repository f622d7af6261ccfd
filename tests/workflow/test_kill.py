"""kill -9 at any stage, or Ctrl-C in training; run again: the same bytes as an undisturbed run."""

import contextlib
import os
import shutil
import signal
import subprocess
import time

import pytest

OUTPUTS = (
    "eval.json",
    "store.h5",
    "sentencepiece.model",
    "model/model.safetensors",
    "model/config.json",
    "train/metrics.csv",
    "train/train.json",
    "pairs/heldout.tsv",
    "pairs/mix.json",
)


@contextlib.contextmanager
def running(project, target):
    """Snakemake at work on a target, in a process group of its own."""
    process = subprocess.Popen(
        project.command(target),
        cwd=project.folder,
        env=project.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        process.wait()


def wait_for(process, folder, pattern):
    """Until a file or folder of that name is there."""
    deadline = time.monotonic() + 300
    while not any(folder.glob(pattern)):
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("log", "whole_group", "begun"),
    [
        ("logs/filter/Phrasebook.en-fr.log", False, "."),  # the job outlives Snakemake and goes on writing
        ("logs/train.log", True, "model train tasks eval.json eval.safetensors logs/train.log"),
    ],
)
def test_a_killed_run_ends_with_the_same_bytes(copy_of_finished, finished, log, whole_group, begun):
    """The run begins with the stage in which it is killed; what comes before is there."""
    project = copy_of_finished
    for name in begun.split():
        path = project.folder / "results/demo" / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    with running(project, "results/demo/eval.json") as process:
        wait_for(process, project.folder / "results/demo", log)
        if whole_group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    assert not (project.folder / "results/demo/eval.json").exists()
    told = project.run("results/demo/eval.json", check=False)
    advice = "a run here was killed: run `snakemake --unlock`, then the same command with --rerun-incomplete"
    assert told.returncode and advice in told.output, told.output
    project.run("--unlock")
    project.run("--rerun-incomplete", "results/demo/eval.json")
    assert project.digests(*OUTPUTS) == finished.digests(*OUTPUTS)
    leftovers = [path for path in (project.folder / "results").rglob(".*.part") if path.is_file()]
    assert leftovers == []


TRAINED = ("model/model.safetensors", "model/config.json", "train/metrics.csv", "train/dev.csv", "train/train.json")


def longer(workflow, folder):
    """A copy of a finished run whose training is another one now, with a checkpoint every 100 mini-batches."""
    copy = workflow.copy(folder)
    old, new = "epochs: 2, dim: 16,", "epochs: 5, batch_size: 8, dim: 16, checkpoint: {steps: 100},"
    copy.edit("tiny.yaml", old, new)
    return copy


@pytest.fixture(scope="module")
def undisturbed(finished, once):
    return once("undisturbed", lambda folder: longer(finished, folder).run("results/demo/train/train.json"))


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_training_goes_on_from_its_checkpoint(finished, undisturbed, tmp_path, number):
    project = longer(finished, tmp_path / "copy")
    results = project.folder / "results/demo"
    with running(project, "results/demo/train/train.json") as process:
        wait_for(process, results, "train/checkpoints/step-*")
        os.killpg(process.pid, number)  # as a terminal's Ctrl-C, which Snakemake and its job both hear
    assert process.returncode != 0
    if number == signal.SIGKILL:
        project.run("--unlock")
    else:
        assert "start the same training again to go on from there" in (results / "logs/train.log").read_text()
    project.run("--rerun-incomplete", "results/demo/train/train.json")
    assert "INFO psp.training.trainer: going on from step " in (results / "logs/train.log").read_text()
    assert project.digests(*TRAINED) == undisturbed.digests(*TRAINED)
    assert not (results / "train/checkpoints").exists()
