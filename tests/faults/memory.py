"""A memory limit in each stage: the job ends with an error that names the memory, and the retry, with more, ends well.

A watcher stands for the scheduler, for which nobody's permission is needed: a job may have a share of what this stage
took undisturbed, times the number of the try, as its ``mem_mb`` grows. A job with more resident memory is killed by
SIGKILL, as the kernel kills what outgrows its cgroup.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from tests.faults.project import Bench, Ended, Project, Result, Run

SHARE = 0.7
QUICK = ("store",)


def check(bench: Bench) -> Iterator[Result]:
    whole, _ = bench.whole("small")
    stages = {rule: files for rule, files in whole.stages().items() if not bench.quick or rule in QUICK}
    project, problems = whole.copy(bench.new(), results=True), []
    for rule, files in stages.items():
        if problem := one(project, files, whole.digests(set(files))):
            problems.append(f"{rule}: {problem}")
    yield Result(f"a memory limit in {', '.join(stages)}", len(stages), "; ".join(problems) or None)
    shutil.rmtree(project.folder)


def one(project: Project, files: list[str], wanted: dict[str, str]) -> str | None:
    """Run a stage with too little memory, then with retries; say what did not hold."""
    limit = int(SHARE * measured(project, files))
    if not limit:
        return "its job could not be watched"
    ended = limited(project, files, limit, retries=0)
    if ended.status == 0:
        return f"a limit of {limit >> 20} MB did not stop it"
    if problem := ended.unclear("memory"):
        return problem
    if there := project.digests(set(files)):
        return f"half-written: {', '.join(there)}"
    ended = limited(project, files, limit, retries=2)
    if ended.status:
        return f"with retries: {ended.output[-600:]}"
    return None if project.digests(set(files)) == wanted else "other bytes"


def measured(project: Project, files: list[str]) -> int:
    """The most resident memory of a stage's job, in bytes."""
    project.remove(files)
    run, most = project.start(targets=tuple(files)), 0
    while run.process.poll() is None:
        most = max([most, *map(resident, own(run))])
        time.sleep(0.005)
    return most


def limited(project: Project, files: list[str], limit: int, retries: int) -> Ended:
    """Run a stage under a limit, which grows by itself with each try."""
    project.remove(files)
    run, tries = project.start("--retries", str(retries), targets=tuple(files)), dict[int, int]()
    while run.process.poll() is None:
        for pid in own(run):
            if resident(pid) > limit * tries.setdefault(pid, len(tries) + 1):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)
    return run.end()


def own(run: Run) -> list[int]:
    """The processes that Snakemake has started for its jobs, without those that they start."""
    return [pid for pid in run.jobs() if parent(pid) == run.process.pid]


def parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def resident(pid: int) -> int:
    """Resident memory of a process, in bytes; 0 if it has gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0
