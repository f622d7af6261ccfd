"""What a run shows, on a terminal (a pty) and where there is none, and how it ends."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import on_a_terminal

ROOT = Path(__file__).parent.parent.parent
#: Two rules with the logger of the project; what their jobs do, the config says.
SNAKEFILE = """
rule all:
    input: expand("out/{i}", i=range(3))
rule work:
    output: "out/{i}"
    log: "results/toy/logs/{i}.log"
    message: "Working on {wildcards.i}"
    script: "work.py"
onsuccess:
    print("warning: the filter took much", file=sys.stderr)
"""
WORK = """
import logging, os, time
from psp.core import logs
from psp.core.errors import DataError
from psp.core.logs import job
from psp.core.logs import Progress
logs.LOG_SECONDS = 1
fault = snakemake.wildcards.i if snakemake.config.get("fail") else None
with job(snakemake.log[0]):
    with Progress("training", "pairs", 1000) as bar:
        for step in range(25):
            time.sleep(snakemake.config.get("step", 0.1))
            bar.add(40, loss=0.25)
    logging.getLogger("psp").warning("read %s with care", snakemake.wildcards.i)
    if fault == "0":
        raise DataError("is odd; mend it", "corpus.fr", 3)
    if fault == "1":
        1 / 0
    if fault == "2":
        os.kill(os.getpid(), 9)
    open(snakemake.output[0], "w").close()
"""


@pytest.fixture
def toy(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "work.py").write_text(WORK)
    shutil.copytree(ROOT / "profiles", tmp_path / "profiles")
    return tmp_path


def command(*arguments):
    return [sys.executable, "-m", "snakemake", "--cores", "2", *arguments]


def environment(folder=ROOT):
    return {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "TERM": "xterm"}


@pytest.mark.slow
def test_lines_where_there_is_no_terminal(toy):
    result = subprocess.run(command(), cwd=toy, env=environment(), capture_output=True, text=True)
    assert result.returncode == 0
    assert re.search(
        r"^results/toy/logs/\d\.log: training: [\d,]+ pairs of 1,000 \(\d+%\), .*loss 0.25$",
        result.stderr,
        re.MULTILINE,
    ), result.stderr
    assert "Finished jobid" in result.stderr  # Snakemake's own lines remain
    assert "\x1b" not in result.stderr


@pytest.mark.slow
def test_failed_jobs_own_words_come_last(toy):
    arguments = command("--keep-going", "--config", "step=0.01", "fail=true")
    status, frames = on_a_terminal(arguments, 300, cwd=toy, env=environment())
    assert status == 1
    logs = "results/toy/logs"
    assert sorted(frames[-3:]) == [
        "error: Working on 2 was killed by SIGKILL (perhaps out of memory: on a cluster each new try of `--retries 2` "
        f"asks for more); see its log {logs}/2.log",
        "error: corpus.fr, line 3: is odd; mend it",
        f"error: this is a bug in psp (ZeroDivisionError: division by zero); please report it with {logs}/1.log",
    ]
    text = "\n".join(frames)
    assert re.search(r"^failed: Working on 1; see its log results/toy/logs/1.log$", text, re.MULTILINE)
    for words in ("CalledProcessError", "no backup found", "Exiting because", "At least one job"):
        assert words not in text
    (log,) = (toy / ".snakemake/log").iterdir()
    assert "CalledProcessError" in log.read_text()  # it is kept, for whoever wants it


@pytest.mark.slow
def test_ctrl_c(toy):
    process = subprocess.Popen(
        command(), cwd=toy, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip
    # Until a job runs: in the 50 ms in which Snakemake starts it, Ctrl-C ends in a traceback of Snakemake's own.
    while not list(toy.glob("results/toy/logs/*.log")):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[0].splitlines()
    assert process.returncode == 1
    assert said[-1] == "error: stopped by Ctrl-C or a signal; the same command resumes from here", said
