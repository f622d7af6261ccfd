"""Several processes that train together, by torchrun and gloo on this machine, against one."""

from __future__ import annotations

import csv
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psp.training.launch import command, environment
from tests.training.group_worker import SCENARIOS, run

pytestmark = pytest.mark.slow

WORKER = Path(__file__).with_name("group_worker.py")
SAME = [name for name in SCENARIOS if name != "own share"]
PROCESSES = 3
#: The loss is written with 6 digits, of which the last may differ; a value of the table is about 1.
LOSS, VALUE = 3e-5, 2e-6
#: Gradients that cancel to nearly nothing are divided by their own size, and so is their rounding: 2 values of 4,802.
CANCELLED = 5e-5


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alone")
    for name in SAME:
        run(folder, name)
    return folder


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("together")
    program = command(PROCESSES, str(WORKER), str(folder), *SCENARIOS)
    variables = environment(threads=1, gpus=0)
    variables["PYTHONPATH"] += f":{WORKER.parent.parent.parent}"
    ended = subprocess.run(program, env=variables, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return folder


def losses(folder: Path) -> np.ndarray:
    with (folder / "metrics.csv").open(newline="") as file:
        return np.array([float(row["loss"]) for row in csv.DictReader(file)])


def result(folder: Path) -> Any:
    return np.load(folder / "result.npz")


@pytest.mark.parametrize("name", SAME)
def test_several_processes_learn_as_one(alone: Path, together: Path, name: str) -> None:
    one, several = alone / name / "0", together / name / "0"
    np.testing.assert_allclose(losses(several), losses(one), rtol=0, atol=LOSS)
    np.testing.assert_array_equal(result(several)["mined"], result(one)["mined"])
    near = CANCELLED if name == "sigmoid" else VALUE
    np.testing.assert_allclose(result(several)["table"], result(one)["table"], rtol=0, atol=near)
    first = result(several)["table"].tobytes()
    assert all(result(together / name / str(rank))["table"].tobytes() == first for rank in range(PROCESSES))


def test_a_build_that_mines_its_own_share_alone_does_not(alone: Path, together: Path) -> None:
    """What is compared above tells such a build from the right one."""
    one, wrong = alone / "plain" / "0", together / "own share" / "0"
    assert np.abs(losses(wrong) - losses(one)).max() > 1000 * LOSS
    assert (result(wrong)["mined"] != result(one)["mined"]).mean() > 0.2
    assert np.abs(result(wrong)["table"] - result(one)["table"]).max() > 1000 * VALUE
