"""The demo's workflow through the Slurm profile, on a real Slurm."""

import json
import re
import shutil
import subprocess

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.slurm]


def slurm_is_up():
    if shutil.which("sinfo") is None:
        return False
    answer = subprocess.run(["sinfo", "-h", "-o", "%t"], capture_output=True, text=True)
    return answer.returncode == 0 and any(state.startswith(("idle", "mix", "alloc")) for state in answer.stdout.split())


@pytest.fixture
def slurm():
    # Asked here, not where tests are collected: with Slurm's programs but no daemon, sinfo waits for nine seconds.
    if not slurm_is_up():
        pytest.skip("no Slurm here (`.ci/slurm` sets one up on Debian)")


def run(project, *options, target="results/demo/eval.json"):
    """Run the workflow by the Slurm profile, which asks Slurm more often here."""
    profile = project.folder / "config/profiles/slurm/config.yaml"
    text = profile.read_text().replace("checks: 10 ", "checks: 2 ").replace("status-checks: 5 ", "status-checks: 1 ")
    profile.write_text(text.replace("retries: 2", "retries: 0"))
    command = project.command("--profile", "config/profiles/slurm", *options, "--", target, cores=())
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    # A job that no node has the cores for waits forever.
    return subprocess.run(command, cwd=project.folder, env=project.environment, timeout=900, **pipe)


def test_the_demo_runs_through_the_slurm_profile(project, slurm):
    tiny = (project.folder / "tiny.yaml").read_text()
    tiny = tiny.replace("vocab_size: 600}", "vocab_size: 600, threads: 2, sample: 10000}")
    (project.folder / "tiny.yaml").write_text(tiny.replace("dim: 16,", "dim: 16, threads: 2,"))
    result = run(project)
    assert result.returncode == 0, result.stdout
    assert json.loads((project.folder / "results/demo/eval.json").read_text())["model"] == "demo"
    # Downloads ran here, everything else in Slurm's jobs.
    submitted = set(re.findall(r"rule_(\w+)/", "\n".join(re.findall(r"SLURM jobid .*", result.stdout))))
    assert submitted == {
        "phrasebook",
        "development_pairs",
        "filter",
        "dedupe",
        "mix",
        "subword",
        "store",
        "train",
        "task",
        "evaluate",
    }, result.stdout
    jobs = re.findall(r"SLURM jobid (\d+)", result.stdout)
    told = subprocess.run(["scontrol", "show", "job"], capture_output=True, text=True, check=True).stdout
    nodes = dict(re.findall(r"JobId=(\d+) .*?\n   NodeList=(\S+)\n", told, re.DOTALL))
    known = subprocess.run(["sinfo", "-hN", "-o", "%N"], capture_output=True, text=True, check=True).stdout.split()
    # Which of them depends on whether two jobs meet: on a fast machine each may have ended when the next is submitted.
    used = {nodes[job] for job in jobs if job in nodes}
    assert used and used <= set(known)
