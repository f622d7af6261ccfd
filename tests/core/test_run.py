"""Jobs of a run that has been killed."""

import signal
import socket
import subprocess
import sys
import time

import pytest

from psp.core import failures, run
from psp.core.errors import PspError
from psp.core.logs import job
from psp.training.saving.checkpoint import sole


def of(process):
    """The variable that a run would have set whose main process is this one."""
    return f"{socket.gethostname()} {process.pid} {run.born(process.pid)[1]}"


@pytest.fixture
def main():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield process
    process.kill()
    process.wait()


def test_a_job_that_begins_late_leaves_the_log_and_the_folder_to_the_next(main, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv(run.VARIABLE, of(main))
    (tmp_path / "a.log").write_text("of the next run\n")
    with job(tmp_path / "own.log"), sole(tmp_path / "train"):
        assert run.of_this_process() != of(main)
    main.send_signal(signal.SIGKILL)
    main.wait()
    with pytest.raises(SystemExit) as ended, job(tmp_path / "a.log"):
        raise AssertionError
    assert str(ended.value) == "error: the run that this job belongs to has been killed; start Snakemake again"
    assert (tmp_path / "a.log").read_text() == "of the next run\n"


@pytest.mark.slow
def test_one_that_waited_for_the_folder_does_not_train_after_all(main, monkeypatch, tmp_path):
    monkeypatch.setenv(run.VARIABLE, of(main))
    begun = time.monotonic()
    code = "from pathlib import Path; from psp.training.saving.checkpoint import sole\n"
    code += f"with sole(Path({str(tmp_path)!r})):\n"
    holder = subprocess.Popen(
        [sys.executable, "-c", code + " print('held', flush=True); import time; time.sleep(1)"], stdout=subprocess.PIPE
    )
    assert holder.stdout.readline() == b"held\n"
    main.kill()
    main.wait()
    with pytest.raises(PspError, match="the run that this job belongs to has been killed"), sole(tmp_path):
        raise AssertionError
    assert time.monotonic() - begun > 1
    holder.wait()


@pytest.mark.parametrize("value", ["", "elsewhere 1 2", "nonsense", f"{socket.gethostname()} x y"])
def test_what_cannot_be_known_is_no_reason_to_stop(monkeypatch, value):
    monkeypatch.setenv(run.VARIABLE, value)
    run.check()


def test_a_process_that_has_got_the_number_of_another_is_not_it(main, monkeypatch):
    monkeypatch.setenv(run.VARIABLE, f"{socket.gethostname()} {main.pid} 1")
    with pytest.raises(PspError):
        run.check()


def test_unlocking_is_advised_only_where_no_run_lasts(main, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    run.OWNER.parent.mkdir()
    run.OWNER.write_text(of(main))
    assert f"process {main.pid}, is running in this folder; wait" in failures.locked()
    assert "--unlock" not in failures.locked()
    run.own(certainly=False)  # does not take it from a run that lasts
    assert run.OWNER.read_text() == of(main)
    main.kill()
    main.wait()
    killed = "a run here was killed: run `snakemake --unlock`, then the same command with --rerun-incomplete"
    assert failures.locked() == killed
    incomplete = ("IncompleteFilesException", "IncompleteFilesException:\nThe files below")
    assert failures.of_snakemake(*incomplete).endswith(
        "left incomplete files; run the same command with --rerun-incomplete"
    )
    (tmp_path / ".snakemake/locks").mkdir()
    (tmp_path / ".snakemake/locks/0.output.lock").write_text("results/demo/eval.json\n")
    assert failures.of_snakemake(*incomplete) == killed  # both at once: the one would ask for the other
    run.own(certainly=False)
    assert run.OWNER.read_text() == run.of_this_process()
    run.OWNER.write_text("elsewhere 12 34")
    assert "process 12 on elsewhere, may be running in this folder. If not, it was killed: run" in failures.locked()
