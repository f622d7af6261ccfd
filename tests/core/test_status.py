"""Who watches sees what runs, and does not take a dead job for a living one."""

import dataclasses
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from psp.cli.main import main
from psp.core import screen, status
from tests.conftest import on_a_terminal

PROGRAM = """
import sys, time
from psp.core.logs import job
from psp.core.progress import Progress
with job(sys.argv[1]):
    with Progress("training", "pairs", 1000) as bar:
        bar.add(100, loss=0.5)
        time.sleep(1.05)
        bar.add(100, loss=0.25)
        print("ready", flush=True)
        time.sleep(600)
"""


def at_work(log):
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(log)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.slow
def test_watching_a_job_until_it_is_killed(tmp_path, capsys):
    log = tmp_path / "results/fr/logs/variants/paper/1.train.log"
    process = at_work(log)
    try:
        main(["watch", "--once", "--folder", str(tmp_path)])
        said = capsys.readouterr().out
        assert said.startswith("fr: variants/paper/1.train: training: 200 pairs of 1,000 (20%), ")
        assert "pairs/s, 0:00:0" in said
        assert said.endswith(" left, loss 0.25\n")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert status.read(log.with_name("1.train.log.progress")).state() == "dead"
    main(["watch", "fr", "--once", "--folder", str(tmp_path)])
    assert capsys.readouterr().out == "fr: variants/paper/1.train: was killed: its process is gone\n"


@pytest.mark.slow
def test_watching_on_a_terminal(tmp_path):
    process = at_work(tmp_path / "results/fr/logs/train.log")
    program = (
        "import sys, threading, os, signal; from psp.cli.main import main; sys.stdout = sys.stderr\n"
        "threading.Timer(3, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "main(['watch', 'fr'])"
    )
    try:
        ended, frames = on_a_terminal([sys.executable, "-c", program], cwd=tmp_path)
    finally:
        process.kill()
        process.wait()
    assert ended == 0
    assert any("fr: train" in frame and "20%" in frame and "loss 0.25" in frame for frame in frames), frames


def test_nothing_runs(tmp_path, capsys):
    (tmp_path / "results/fr").mkdir(parents=True)
    main(["watch", "fr", "--once", "--folder", str(tmp_path)])
    assert capsys.readouterr().out == "nothing is running\n"


def test_another_process_with_the_number_of_a_dead_one_is_not_the_job(tmp_path):
    with status.of_job(tmp_path / "a.log"):
        there = status.read(tmp_path / "a.log.progress")
    assert there.state() == "running"
    if there.born is not None:
        assert dataclasses.replace(there, born=there.born - 1).state() == "dead"


def test_of_another_machine_one_knows_what_it_wrote_last(tmp_path):
    with status.of_job(tmp_path / "a.log"):
        there = status.read(tmp_path / "a.log.progress")
    elsewhere = dataclasses.replace(there, host="node7", pid=1)
    assert elsewhere.state() == "running"
    assert dataclasses.replace(elsewhere, written=time.time() - status.SILENT - 1).state() == "silent"


def test_what_is_no_status_file_is_none(tmp_path):
    for content in ("", "{", "[]", '{"format": 2, "work": null}', '{"format": 1, "work": {"what": "x"}}'):
        (tmp_path / "x").write_text(content)
        assert status.read(tmp_path / "x") is None


def test_a_job_does_not_remove_the_file_of_the_one_that_came_after_it(tmp_path):
    place = tmp_path / "a.log.progress"
    with status.of_job(tmp_path / "a.log"):
        later = place.read_text().replace(f'"pid": {os.getpid()}', '"pid": 1')
        place.write_text(later)
    assert place.read_text() == later


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_leaves_no_part_of_it(tmp_path):
    (tmp_path / ".a.log.progress.part").symlink_to("/dev/full")
    with status.of_job(tmp_path / "a.log"):
        assert list(tmp_path.iterdir()) == []


def rows(count, work):
    now = time.time()
    there = status.Status("node7", 1, None, now, now, work)
    return [screen.ScreenRow(f"Filtering corpus {number} for fr", there, now) for number in range(count)]


def drawn(work, count, columns, height):
    from rich.console import Console

    console = Console(width=columns, record=True, file=io.StringIO())
    console.print(screen.table(rows(count, work), columns, height))
    return console.export_text().splitlines()


def test_the_table_has_rate_time_left_and_loss_in_80_columns():
    work = status.WorkStatus("training", "pairs", 6_300_000, 14_333_000, 29_512.0, {"loss": 0.0442, "megabatch": 100})
    for columns in (80, 120):
        (line,) = drawn(work, 1, columns, 10)
        assert len(line) <= columns
        assert "44%  29,512 pairs/s  0:04:32 left  loss 0.0442" in line
        assert ("━" in line) == (columns == 120)


def test_a_slow_rate_is_not_told_as_none():
    work = status.WorkStatus("measuring speed", "passes", 5, 114, 0.123, {})
    assert work.line() == "measuring speed: 5 passes of 114 (4%), 0.12 passes/s, 0:14:46 left"


def test_the_table_is_no_higher_than_the_terminal():
    work = status.WorkStatus("filtering", "pairs", 5, None, 2.0, {})
    assert len(drawn(work, 40, 100, 12)) == 12
    assert drawn(work, 40, 100, 12)[-1].startswith("... and 29 more jobs")
    assert len(drawn(work, 12, 100, 12)) == 12
    assert screen.lines(rows(7, work))[-1] == "... and 2 more jobs"
