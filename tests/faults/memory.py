"""A memory limit in each stage: the job ends with an error that names the memory, and the retry, with more, ends well.

A watcher stands for the scheduler, for which nobody's permission is needed: a job may have a share of what this stage
took undisturbed, times the number of the try, as its ``mem_mb`` grows. A job with more resident memory is killed by
SIGKILL, as the kernel kills what outgrows its cgroup. The other kind of limit, of the address space (RLIMIT_AS), is set
from outside as the job begins; memory cannot be had then, and the job has to say so itself.
"""

from __future__ import annotations

import contextlib
import os
import re
import resource
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from tests.faults.project import Bench, Project, Result, Run

SHARE = 0.7
MEGABYTE = 1 << 20
QUICK = ("store",)
TRIED = re.compile(r"resources: .*?mem_mb=(\d+)")


def check(bench: Bench) -> Iterator[Result]:
    whole, _ = bench.whole("small")
    stages = {rule: files for rule, files in whole.stages().items() if not bench.quick or rule in QUICK}
    project = whole.copy(bench.new(), results=True)
    for kind in ("resident", "address space"):
        problems, times = [], 0
        for rule, files in stages.items():
            wanted = whole.digests(set(files))
            if problem := one(project, rule, files, kind, wanted):
                problems.append(f"{rule}: {problem}")
            times += 1
        what = f"a limit on {kind} memory in {', '.join(stages)}"
        yield Result(what, times, "; ".join(problems) or None)
    shutil.rmtree(project.folder)


def one(project: Project, rule: str, files: list[str], kind: str, wanted: dict[str, str]) -> str | None:
    """Run a stage with too little memory, then with retries; say what did not hold."""
    targets = tuple(files)
    peaks = measured(project, targets, files)
    if peaks is None:
        return "its job could not be watched"
    limit = int(SHARE * peaks[kind == "address space"])
    project.remove(files)
    ended = watched(project, targets, limit, kind, retries=0)
    if ended.status == 0:
        return f"a limit of {limit // MEGABYTE} MB did not stop it"
    if problem := ended.unclear("memory"):
        return problem
    if there := project.digests(set(files)):
        return f"half-written: {', '.join(there)}"
    ended = watched(project, targets, limit, kind, retries=2)
    if ended.status:
        return f"with retries: {ended.output[-600:]}"
    return None if project.digests(set(files)) == wanted else "other bytes"


def measured(project: Project, targets: tuple[str, ...], files: list[str]) -> tuple[int, int] | None:
    """The most resident memory and address space of a stage's job, in bytes."""
    project.remove(files)
    run, most = project.start(targets=targets), [0, 0]
    while run.process.poll() is None:
        for pid in own(run):
            most = [max(pair) for pair in zip(most, (sizes(pid)), strict=True)]
        time.sleep(0.005)
    return (most[0], most[1]) if most[0] else None


def watched(project: Project, targets: tuple[str, ...], limit: int, kind: str, retries: int) -> object:
    """Run a stage under a limit, which grows by itself with each try."""
    run = project.start("--retries", str(retries), "--verbose" if retries else "--nocolor", targets=targets)
    tries: dict[int, int] = {}
    while run.process.poll() is None:
        for pid in own(run):
            if pid not in tries:
                tries[pid] = len(tries) + 1
                if kind == "address space":
                    limited(pid, limit * tries[pid])
            if kind == "resident" and sizes(pid)[0] > limit * tries[pid]:
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


def limited(pid: int, size: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        resource.prlimit(pid, resource.RLIMIT_AS, (size, size))


def sizes(pid: int) -> tuple[int, int]:
    """Resident memory and address space of a process, in bytes; 0 if it has gone."""
    try:
        whole, resident = Path(f"/proc/{pid}/statm").read_text().split()[:2]
    except (OSError, ValueError):
        return 0, 0
    page = resource.getpagesize()
    return int(resident) * page, int(whole) * page
