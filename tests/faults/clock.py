"""A clock set back by a day during a run, or between two: the same bytes, at the latest after what the error advises.

The run's processes see the earlier time through a preloaded library. The system's own clock stays, and it is what files
are dated by; so those that are there already are dated a day ahead, which for Snakemake is the same.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterator

from tests.faults.preload import CLOCK, compiled
from tests.faults.project import Bench, Project, Result, same_bytes

DAY = 86400


def check(bench: Bench) -> Iterator[Result]:
    what = "a clock set back by a day"
    library = compiled(CLOCK, bench.new())
    if library is None:
        yield Result(what, skipped="there is no C compiler")
        return
    whole, seconds = bench.whole("small")
    wanted, rng = whole.digests(), random.Random(1)
    for killed in (False,) if bench.quick else (False, True):
        times, told, problems = 1 if bench.quick else 3, 0, []
        for _ in range(times):
            project = whole.copy(bench.new())
            switch = project.folder / "back"
            environment = {"LD_PRELOAD": str(library), "PSP_FAULT_CLOCK": str(switch)}
            run = project.start(environment=environment)
            with contextlib.suppress(subprocess.TimeoutExpired):
                run.process.wait((0.3 if bench.quick else rng.uniform(0.1, 0.9)) * seconds)
            if killed:
                run.kill()
            ahead(project)
            switch.touch()
            if killed:
                project.run("--unlock", environment=environment)
                ended = project.run("--rerun-incomplete", environment=environment)
            else:
                ended = run.end()
            if ended.status:
                advice = re.search(r"`(find [^`]+)`", "".join(ended.errors))
                if problem := ended.unclear("the clock has been set back"):
                    problems.append(problem)
                elif advice is not None:
                    told += 1
                    subprocess.run(advice[1], shell=True, cwd=project.folder, check=True)
                    ended = project.run(environment=environment)
            if problem := same_bytes(project, ended, wanted):
                problems.append(f"{problem}; kept in {bench.keep(project)}")
            shutil.rmtree(project.folder)
        when = f"{'between two runs' if killed else 'during a run'} ({told} ended with the advice to date files anew)"
        yield Result(f"{what} {when}", times, "; ".join(problems) or None)


def ahead(project: Project) -> None:
    """Date all that the run has made a day ahead."""
    for top in (project.results, project.folder / ".snakemake"):
        for path in [top, *top.rglob("*")]:
            try:
                found = path.stat(follow_symlinks=False)
                os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns + DAY * 10**9), follow_symlinks=False)
            except FileNotFoundError:
                continue
