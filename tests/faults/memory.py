"""A memory limit in each stage: the job ends with an error that names the memory, and the retry, with more, ends well.

A watcher stands for the scheduler, for which nobody's permission is needed: a job may have a share of what this stage
took undisturbed, times the number of the try, as its ``mem_mb`` grows. A job with more resident memory is killed by
SIGKILL, as the kernel kills what outgrows its cgroup. Where a cgroup can be made, the kernel does so itself in the
stages that take the most: of memory that it cannot take back from the page cache.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.faults.project import Bench, Ended, Project, Result, Run

SHARES = (0.7, 0.5, 0.4)  # the later ones where the watcher was too late for a short peak
QUICK = ("store",)
IN_A_CGROUP = ("subword", "store", "train", "evaluate")
#: Where cgroups with a limit on memory lie, and the names of their limit: version 2 and 1.
CGROUPS = (("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"))


def check(bench: Bench) -> Iterator[Result]:
    whole, _ = bench.whole("small")
    stages = {rule: files for rule, files in whole.stages().items() if not bench.quick or rule in QUICK}
    project, problems = whole.copy(bench.new(), results=True), []
    for rule, files in stages.items():
        if problem := one(project, files, whole.digests(set(files))):
            problems.append(f"{rule}: {problem}")
    yield Result(f"a memory limit in {', '.join(stages)}", len(stages), "; ".join(problems) or None)
    if not bench.quick:
        place = next(filter(None, (may_be_made(Path(top), limit) for top, limit in CGROUPS)), None)
        if place is None:
            yield Result("a cgroup's memory limit", skipped="no cgroup with one can be made here")
        else:
            wanted = {rule: whole.digests(set(stages[rule])) for rule in IN_A_CGROUP}
            told = [(rule, one(project, stages[rule], wanted[rule], place)) for rule in IN_A_CGROUP]
            problem = "; ".join(f"{rule}: {problem}" for rule, problem in told if problem) or None
            yield Result(f"a cgroup's memory limit in {', '.join(IN_A_CGROUP)}", len(IN_A_CGROUP), problem)
    shutil.rmtree(project.folder)


def may_be_made(top: Path, limit: str) -> Path | None:
    """A path for cgroups, with the name of their limit as its last part; None if none can be made there."""
    tried = top / f"psp-{os.getpid()}"
    try:
        tried.mkdir()
        there = (tried / limit).exists()
        tried.rmdir()
    except OSError:
        return None
    return tried / limit if there else None


def one(project: Project, files: list[str], wanted: dict[str, str], cgroup: Path | None = None) -> str | None:
    """Run a stage with too little memory, then with retries; say what did not hold."""
    took = measured(project, files, resident if cgroup is None else anonymous)
    if not took:
        return "its job could not be watched"
    for share in SHARES:
        limit = int(share * took)
        ended = limited(project, files, limit, 0, cgroup)
        if ended.status:
            break
    else:
        return f"a limit of {limit >> 20} MB did not stop it"
    if problem := ended.unclear("memory"):
        return problem
    if there := project.digests(set(files)):
        return f"half-written: {', '.join(there)}"
    ended = limited(project, files, limit, 2, cgroup)
    if ended.status:
        return f"with retries: {ended.output[-600:]}"
    return None if project.digests(set(files)) == wanted else "other bytes"


def measured(project: Project, files: list[str], memory: Callable[[int], int]) -> int:
    """The most memory of a stage's job, in bytes."""
    project.remove(files)
    run, most = project.start(targets=tuple(files)), 0
    for pids in moments(run):
        most = max([most, *map(memory, pids)])
    return most


def limited(project: Project, files: list[str], limit: int, retries: int, cgroup: Path | None) -> Ended:
    """Run a stage under a limit, which grows by itself with each try."""
    project.remove(files)
    run, tries = project.start("--retries", str(retries), targets=tuple(files)), dict[int, int]()
    for pids in moments(run):
        for pid in pids:
            new = pid not in tries
            most = limit * tries.setdefault(pid, len(tries) + 1)
            if cgroup is not None:
                if new:
                    confine(pid, cgroup.with_name(f"{tries[pid]}"), most, cgroup)
            elif resident(pid) > most:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
    ended = run.end()
    if cgroup is not None:
        for made in [*cgroup.parent.glob("[0-9]*"), cgroup.parent]:
            made.rmdir()
    return ended


def confine(pid: int, place: Path, most: int, cgroup: Path) -> None:
    """Put a process into a new cgroup with a limit."""
    cgroup.parent.mkdir(exist_ok=True)
    place.mkdir(exist_ok=True)
    with contextlib.suppress(OSError):  # version 2 hands its controllers down by this file
        (cgroup.parent / "cgroup.subtree_control").write_text("+memory")
    (place / cgroup.name).write_text(str(most))
    with contextlib.suppress(ProcessLookupError):
        (place / "cgroup.procs").write_text(str(pid))


def moments(run: Run) -> Iterator[list[int]]:
    """The job's processes, once a millisecond until the run ends; to look for new ones takes ten times as long."""
    while run.process.poll() is None:
        pids = own(run)
        for _ in range(20):
            yield pids
            time.sleep(0.001)


def own(run: Run) -> list[int]:
    """The processes that Snakemake has started for its jobs, without those that they start."""
    return [pid for pid in run.jobs() if parent(pid) == run.process.pid]


def parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def anonymous(pid: int) -> int:
    """Memory of a process that is of no file, in bytes; 0 if it has gone."""
    try:
        (line,) = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("RssAnon")]
        return int(line.split()[1]) << 10
    except (OSError, ValueError, IndexError):
        return 0


def resident(pid: int) -> int:
    """Resident memory of a process, in bytes; 0 if it has gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0
