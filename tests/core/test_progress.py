"""What a person sees of long work: on a real terminal (a pty), and in a log file."""

import io
import re
import sys
from pathlib import Path

import pytest

from psp.core.logs import Progress, job
from tests.conftest import on_a_terminal


def frames_of(program, columns):
    """What a program of Python drew on a terminal of that width, a frame each."""
    ended, frames = on_a_terminal([sys.executable, "-c", program], columns)
    assert ended == 0
    return frames


#: A clock that the program sets; tqdm has another one, so each call to add is drawn.
CLOCK = """
import tqdm
import psp.core.logs
class clock:
    now = 1000.0
    monotonic = staticmethod(lambda: clock.now)
psp.core.logs.time = clock
tqdm.tqdm.monitor_interval = 0
redraw = tqdm.tqdm.update
tqdm.tqdm.update = lambda bar, count: (redraw(bar, count), bar.refresh())
"""
TRAINING = f"""{CLOCK}
with psp.core.logs.Progress("training", "pairs", 14_333_000, done=6_000_000) as bar:
    for step in range(200):
        clock.now += 0.25
        bar.add(1280, loss=f"{{0.0442:.4f}}", megabatch=100)
    bar.add(0, dev="80.49")
    bar.add(333_000 - 200 * 1280)
"""


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_the_bar_of_training_shows_all_its_figures(columns):
    before, last = list(dict.fromkeys(frames_of(TRAINING, columns)))[-2:]  # what is drawn twice is one frame
    for frame in (before, last):
        assert frame.startswith("training 44%") and len(frame) < columns
        assert "loss 0.0442 megabatch 100 dev 80.49" in frame
        assert ("█" in frame) == (columns > 80)
    # 256,000 pairs in 50 s, and 8,077,000 to go at that; what an earlier run did is not part of the rate.
    assert "5.12k pairs/s, 26:17 left" in before


DOWNLOADING = f"""{CLOCK}
with psp.core.logs.Progress("downloading a", "bytes", 4096) as bar:
    clock.now += 2
    bar.add(1024)
"""


def test_a_bar_without_figures_shows_its_counts():
    frames = frames_of(DOWNLOADING, 80)
    assert re.fullmatch(r"downloading a:  25%\|.*\| 1\.00k/4\.00k \[.*<00:06, 512 bytes/s\]", frames[-2])


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def log(tmp_path):
    return tmp_path / "a.log"


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("sys.stderr", io.StringIO())  # no terminal, not even under pytest -s
    monkeypatch.setattr("psp.core.logs.time", clock)
    return clock


def lines(path: Path):
    return [line.split("psp.core.logs: ")[1] for line in path.read_text().splitlines()]


def test_the_log_of_training_shows_all_its_figures_every_minute(log, clock, capsys):
    with job(log), Progress("training", "pairs", 30_000, done=10_000) as bar:
        for step in range(80):
            clock.now += 1
            bar.add(128, loss=0.04421234, megabatch=step)
            if step == 40:
                bar.add(0, dev="80.49")
        bar.add(30_000 - bar.done)
    told = [
        "training: 17,680 pairs of 30,000 (59%), 128 pairs/s, 0:01:36 left, loss 0.04421, megabatch 59, dev 80.49",
        "training: 30,000 pairs of 30,000 (100%), 250 pairs/s, 0:01:20 in all, loss 0.04421, megabatch 79, dev 80.49",
    ]
    assert lines(log) == told
    assert capsys.readouterr().err.splitlines() == [f"{log}: {line}" for line in told]


def test_short_work_of_a_job_is_told_in_its_log_alone(log, clock, capsys):
    with job(log), Progress("measuring speed", "passes", 114) as bar:
        clock.now += 40
        bar.add(5)
    assert lines(log) == ["measuring speed: 5 passes of 114 (4%), 0.12 passes/s, 0:00:40 in all"]
    assert capsys.readouterr().err == ""


def test_a_job_draws_no_bar_on_the_terminal_of_a_run(tmp_path):
    program = TRAINING.replace("with ", f"from psp.core.logs import job\nwith job({str(tmp_path / 'a.log')!r}), ", 1)
    assert frames_of(program, 200) == []
    assert "training: 6,333,000 pairs of 14,333,000 (44%)" in (tmp_path / "a.log").read_text()


def test_the_rate_is_that_of_the_last_minute(clock):
    bar = Progress("training", "pairs", 1_000_000, done=500_000)
    for rate in (100, 1000, 10):
        for _ in range(4 * 120):
            clock.now += 0.25
            bar.add(rate)
        assert bar.rate == pytest.approx(4 * rate, rel=0.01)
    clock.now += 3 * 60  # nothing is done any more: it does not stay as it was
    assert bar.rate < 12


def test_work_with_long_pauses_has_a_rate(clock):
    bar = Progress("training", "pairs", 1_000_000)
    for _ in range(5):
        clock.now += 300
        bar.add(3000)
    assert bar.rate == pytest.approx(10)


def test_no_time_left_is_told_before_anything_is_done(log, clock):
    with job(log), Progress("training", "pairs", 1000, done=500) as bar:
        clock.now += 60
        bar.add(0, dev=None)
    assert lines(log)[0] == "training: 500 pairs of 1,000 (50%), 0 pairs/s, dev None"
