"""Jobs through the profile cluster-generic, whose commands start processes of this machine."""

import contextlib
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
GROUPS = ".snakemake/groups"
PROFILE = "config/profiles/cluster-generic/config.yaml"


@pytest.fixture
def cluster(downloaded):
    pytest.importorskip("snakemake_executor_plugin_cluster_generic", reason="it is not installed (the extra cluster)")
    downloaded.edit(PROFILE, "checks: 10 ", "checks: 1 ")
    return downloaded


def started(cluster, target):
    command = cluster.command("--profile", "config/profiles/cluster-generic", "--", target, cores=())
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=cluster.folder, env=cluster.environment, **pipe)


def test_jobs_run_by_the_profile_are_tried_again_if_killed_and_end_if_cancelled(cluster):
    target = "results/demo/sentencepiece.model"
    slow = cluster.folder / "slow"
    for script in (cluster.folder / "workflow_scripts").glob("*.py"):  # so that no job ends before it is killed
        wait = f"import pathlib, time\nwhile pathlib.Path({str(slow)!r}).exists():\n    time.sleep(0.1)\n"
        script.write_text(wait + script.read_text())
    slow.touch()
    run = started(cluster, target)
    try:
        group = first_group(run)
        os.killpg(group, signal.SIGKILL)  # as a scheduler does at the end of its time
        slow.unlink()
        output, _ = run.communicate(timeout=300)
    finally:
        run.kill()
    assert run.returncode == 0, output
    assert "Trying to restart job" in output
    groups = {path.name: path.read_text() for path in (cluster.folder / GROUPS).iterdir() if path.name != "log"}
    assert len(groups) > 5 and set(groups.values()) == {"0\n"}
    assert str(group) not in groups
    assert cluster.planned(target) == set()

    cluster.folder.joinpath(target).unlink()
    slow.touch()
    # A job whose state Snakemake is asking for is in none of its lists, and not cancelled: let it ask seldom.
    cluster.edit(PROFILE, "checks: 1 ", "checks: 15 ")
    run = started(cluster, target)
    try:
        group = first_group(run)
        time.sleep(1)  # until Snakemake itself knows of the job
        assert alive(group)
        run.send_signal(signal.SIGINT)
        output, _ = run.communicate(timeout=120)
    finally:
        run.kill()
    deadline = time.monotonic() + 20
    while alive(group):
        assert time.monotonic() < deadline, f"the job outlives its run: {output}"
        time.sleep(0.1)


def first_group(run):
    """The number of the first job's group, once it has been submitted."""
    for line in run.stdout:
        if match := re.search(r"external jobid '(\d+)'", line):
            return int(match[1])
    raise AssertionError("no job was submitted")


def alive(group):
    """Whether a process of the group is left that has not ended."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, number = stat.read_text().rpartition(")")[2].split()[:3]
            if int(number) == group and state != "Z":
                return True
    return False
