"""kill -9 at random moments, and the documented commands again: the same bytes as an undisturbed run.

Snakemake alone is killed (its job goes on), or one job, or all processes of the run, by turns. Each run is killed three
times before it may end: also while it is being resumed, and with a job of the killed run still at work.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator

from tests.faults.project import Bench, Result, Run, same_bytes

VICTIMS = ("Snakemake", "a job", "all")
IN_ONE_RUN = 3
TIMES = {"demo": 20, "fr-small": 10, "fr": 2}


def check(bench: Bench) -> Iterator[Result]:
    for name, times in {"small": 3}.items() if bench.quick else TIMES.items():
        if name not in bench.workloads:
            continue
        if name.startswith("fr") and "PSP_DATA" not in os.environ:
            yield Result(f"kill -9 over {name}", skipped="PSP_DATA is not set")
            continue
        yield over(bench, name, times)


def over(bench: Bench, name: str, times: int, seed: int = 1) -> Result:
    """Kill so many times."""
    whole, seconds = bench.whole(name)
    wanted, rng, counts = whole.digests(), random.Random(seed), Counter[str]()
    problems = []
    runs = tried = 0
    while counts.total() < times:
        project, told = whole.copy(bench.new()), []
        runs += 1
        for _ in range(min(IN_ONE_RUN, times - counts.total())):
            if told:
                project.run("--unlock")
            # Of the first run's time, in which Python and numba compiled, later ones take some 60%: of ten kills that
            # were drawn from the whole of it, five came too late.
            after = rng.uniform(0.5, seconds * (0.3 if told else 0.6))
            what = killed(project.start("--rerun-incomplete"), after, VICTIMS[tried % len(VICTIMS)], rng)
            if what is None:  # it had ended
                break
            tried += 1
            counts[what] += 1
            told.append(f"{what} after {after:.1f} s")
        problem = same_bytes(project, project.resume(), wanted)
        if problem is not None:
            problems.append(f"{', '.join(told)}: {problem}; kept in {bench.keep(project)}")
        print(f"  run {runs}: {', '.join(told)}: {problem or 'the same bytes'}", flush=True)
        shutil.rmtree(project.folder)
    victims = ", ".join(f"{victim} {count}" for victim, count in sorted(counts.items()))
    return Result(f"kill -9 over {name} ({victims}; in {runs} runs)", counts.total(), "; ".join(problems) or None)


def killed(run: Run, after: float, victim: str, rng: random.Random) -> str | None:
    """Kill a part of a run; what was killed, or None if the run had ended."""
    try:
        run.process.wait(after)
        return None
    except subprocess.TimeoutExpired:
        pass
    if victim == "a job":
        if not run.wait_for(lambda: bool(run.jobs()), 20):
            run.end()
            return None
        try:
            os.kill(rng.choice(run.jobs()), signal.SIGKILL)
        except (ProcessLookupError, IndexError):
            run.end()
            return None
        run.end()  # Snakemake says that the job failed, and ends
        return victim
    if victim == "Snakemake":
        run.process.kill()
        run.process.wait()
    else:
        run.kill()
    return victim
