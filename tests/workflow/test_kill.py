"""kill -9 at any stage, run again: the same bytes as an undisturbed run."""

import os
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


@pytest.mark.parametrize(
    ("log", "whole_group"),
    [
        ("logs/filter/Phrasebook.en-fr.log", False),  # the job outlives Snakemake and goes on writing
        ("logs/subword.log", True),
        ("logs/train.log", False),
    ],
)
def test_a_killed_run_ends_with_the_same_bytes(project, finished, log, whole_group):
    process = subprocess.Popen(
        project.command("results/demo/eval.json"),
        cwd=project.folder,
        env=project.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        started = project.folder / "results/demo" / log
        deadline = time.monotonic() + 300
        while not started.exists():
            assert process.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.005)
    finally:
        if whole_group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
    assert not (project.folder / "results/demo/eval.json").exists()
    project.run("--unlock")
    project.run("--rerun-incomplete", "results/demo/eval.json")
    assert project.digests(*OUTPUTS) == finished.digests(*OUTPUTS)
    leftovers = [path for path in (project.folder / "results").rglob(".*.part") if path.is_file()]
    assert leftovers == []
