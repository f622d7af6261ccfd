"""TensorBoard event files, read back by TensorBoard itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from psp.core.errors import DataError
from psp.training.saving.tensorboard import TensorBoardWriter


def curves(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """What TensorBoard shows: for each curve, step and value of its points."""
    events = EventAccumulator(str(folder))
    events.Reload()
    names = events.Tags()["scalars"]
    return {name: [(point.step, round(point.value, 5)) for point in events.Scalars(name)] for name in names}


def train(folder: Path, steps: range, purge_from_step: int | None = None, offset: float = 0) -> None:
    board = TensorBoardWriter(folder, purge_from_step)
    for step in steps:
        board.scalars(step, {"train/loss": step + offset, "train/megabatch": 2})
        if step % 4 == 0:
            board.scalars(step, {"dev/score": 10 * step + offset})
    board.close()


def test_points_are_read_by_tensorboard(tmp_path: Path) -> None:
    board = TensorBoardWriter(tmp_path / "train/tensorboard")
    board.scalars(50, {"train/loss": 0.5, "train/learning_rate": 1e-3})
    board.scalars(100, {"train/loss": 0.25, "dev/score": 71.5, "dev/pearson": None})
    expected = {
        "train/loss": [(50, 0.5), (100, 0.25)], "train/learning_rate": [(50, 1e-3)], "dev/score": [(100, 71.5)],
    }  # fmt: skip
    assert curves(tmp_path / "train/tensorboard") == expected  # before it is closed: people watch
    board.close()
    assert curves(tmp_path / "train/tensorboard") == expected


def test_a_call_without_any_figure_writes_nothing(tmp_path: Path) -> None:
    board = TensorBoardWriter(tmp_path)
    board.scalars(1, {"dev/pearson": None})
    board.close()
    assert curves(tmp_path) == {}


def test_a_resumed_training_has_each_point_once(tmp_path: Path) -> None:
    train(tmp_path, range(1, 10))
    train(tmp_path, range(7, 12), purge_from_step=7, offset=0.5)  # the checkpoint was of step 6
    train(tmp_path, range(12, 14), purge_from_step=12, offset=0.25)  # as soon as the next one: nothing is lost
    found = curves(tmp_path)
    assert found["train/loss"] == (
        [(step, step) for step in range(1, 7)]
        + [(step, step + 0.5) for step in range(7, 12)]
        + [(step, step + 0.25) for step in range(12, 14)]
    )
    assert found["dev/score"] == [(4, 40), (8, 80.5), (12, 120.25)]


def test_points_of_the_killed_run_are_gone_before_a_new_one_comes(tmp_path: Path) -> None:
    train(tmp_path, range(1, 9))
    TensorBoardWriter(tmp_path, purge_from_step=5).close()
    assert curves(tmp_path)["dev/score"] == [(4, 40)]


@pytest.mark.slow
def test_a_run_killed_in_the_middle_of_a_record_can_be_resumed(tmp_path: Path) -> None:
    program = f"""
import os, signal
from pathlib import Path
from psp.training.saving.tensorboard import TensorBoardWriter
board = TensorBoardWriter(Path({str(tmp_path)!r}))
for step in range(1, 6):
    board.scalars(step, {{"train/loss": step}})
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", program])
    assert killed.returncode == -signal.SIGKILL
    assert curves(tmp_path)["train/loss"] == [(step, step) for step in range(1, 6)]  # nothing waited in a buffer
    (file,) = tmp_path.iterdir()
    os.truncate(file, file.stat().st_size - 7)
    train(tmp_path, range(4, 7), purge_from_step=4, offset=0.5)
    assert curves(tmp_path)["train/loss"] == [(1, 1), (2, 2), (3, 3), (4, 4.5), (5, 5.5), (6, 6.5)]


def test_a_new_training_begins_with_an_empty_folder(tmp_path: Path) -> None:
    train(tmp_path, range(1, 10))
    train(tmp_path, range(5, 7), purge_from_step=5)
    (tmp_path / "notes.txt").touch()  # nothing of ours
    train(tmp_path, range(1, 3), offset=0.5)
    assert curves(tmp_path) == {"train/loss": [(1, 1.5), (2, 2.5)], "train/megabatch": [(1, 2), (2, 2)]}
    assert (tmp_path / "notes.txt").exists()


def test_a_folder_that_cannot_be_made_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "train").touch()
    with pytest.raises(DataError, match=r"train/tensorboard: cannot be written: Not a directory; choose another"):
        TensorBoardWriter(tmp_path / "train/tensorboard")


@pytest.mark.parametrize(
    "room", [pytest.param(0, marks=pytest.mark.slow), 60, pytest.param(301, marks=pytest.mark.slow)]
)
def test_a_full_disk_is_one_error_and_no_wait(tmp_path: Path, room: int) -> None:
    program = f"""
import resource, signal, tempfile
from pathlib import Path
from psp.core.errors import DataError
from psp.training.saving.tensorboard import TensorBoardWriter
tempfile.gettempdir()  # found by writing a file; dill, which torch imports where it is installed, asks for it
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, ({room}, {room}))  # bytes: a write beyond them fails as on a full disk
try:
    board = TensorBoardWriter(Path("tensorboard"))
    for step in range(100):
        board.scalars(step, {{"train/loss": step}})
except DataError as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
    path = "tensorboard/events.out.tfevents.000001"
    assert result.stdout == f"{path}: cannot be written: File too large; free space and train again\n"
    assert (tmp_path / path).stat().st_size == room
