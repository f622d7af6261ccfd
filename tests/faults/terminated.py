"""SIGTERM, as a scheduler sends it before the grace time ends: one clear line within seconds, and the next run goes on.

Slurm sends it to all processes of a job: here to the whole run; a person to one of them. Training saves a checkpoint.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import time
from collections.abc import Iterator

from tests.faults.project import Bench, Project, Result, Run, same_bytes

GRACE = 20.0  # seconds; Slurm's KillWait has 30
TRAINED = ("results/demo/train/train.json",)
VICTIMS = ("the job", "the whole run")
TRIES = 5


def check(bench: Bench) -> Iterator[Result]:
    rng = random.Random(1)
    whole, _ = bench.whole("small")
    stages = whole.stages()
    for victim in VICTIMS:
        problems = []
        times = 1 if bench.quick else 3
        for _ in range(times):
            project = whole.copy(bench.new(), results=True)
            project.remove(stages["train"])
            if problem := training(project, victim, rng.uniform(0, 0.2), whole.digests()):
                problems.append(f"{problem}; kept in {bench.keep(project)}")
            shutil.rmtree(project.folder)
        yield Result(f"SIGTERM in training to {victim}", times, "; ".join(problems) or None)
    if bench.quick:
        return
    problems, project = [], whole.copy(bench.new(), results=True)
    others = {stage: files for stage, files in stages.items() if stage != "train"}
    for stage, files in others.items():
        if problem := other(project, tuple(files), whole.digests(set(files)), rng):
            problems.append(f"{stage}: {problem}; kept in {bench.keep(project)}")
    shutil.rmtree(project.folder)
    yield Result(f"SIGTERM to the job of {', '.join(others)}", len(others), "; ".join(problems) or None)


def terminate(run: Run, victim: str) -> None:
    for pid in run.jobs() if victim == "the job" else [pid for pid, _ in run.processes()]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)


def training(project: Project, victim: str, after: float, wanted: dict[str, str]) -> str | None:
    """Terminate training once it has a checkpoint, and go on; say what did not hold."""
    log = project.results / "demo/logs/train.log"
    log.unlink()
    run = project.start(targets=TRAINED)
    checkpoints = project.results / "demo/train/checkpoints"
    if not run.wait_for(lambda: any(checkpoints.glob("step-*"))):
        return f"no checkpoint came: {run.end().output[-500:]}"
    time.sleep(after)
    if not run.jobs():
        return "it had ended before"
    begun = time.monotonic()
    terminate(run, victim)
    ended = run.end(GRACE)
    if problem := ended.unclear("start the same training again", "the same command resumes from here"):
        return problem
    stopped = re.search(r"training was stopped at step (\d+)", log.read_text())
    if stopped is None:
        return f"its log has no line for it: {log.read_text()[-500:]}"
    took = time.monotonic() - begun
    if took > GRACE:
        return f"it took {took:.0f} s to end"
    again = project.run(targets=TRAINED)
    if f"going on from step {stopped[1]}" not in log.read_text():
        return f"it did not go on from step {stopped[1]}: {log.read_text()[-500:]}"
    if again.status:
        return again.output[-500:]
    return same_bytes(project, project.run(), wanted)


def other(project: Project, targets: tuple[str, ...], wanted: dict[str, str], rng: random.Random) -> str | None:
    """Terminate another stage's job within its first second, and go on; say what did not hold."""
    for tried in range(TRIES):
        project.remove(list(targets))
        run = project.start(targets=targets)
        if not run.wait_for(lambda run=run: bool(run.jobs())):  # type: ignore[misc]
            return f"no job came: {run.end().output[-500:]}"
        time.sleep(rng.uniform(0, 1 / (1 + tried)))
        terminate(run, "the job")
        ended = run.end(GRACE)
        if ended.status:
            break
    else:
        return f"it had ended before, {TRIES} times"
    if problem := ended.unclear("SIGTERM"):
        return problem
    if there := project.digests(set(targets)):
        return f"half-written: {', '.join(there)}"
    again = project.run(targets=targets)
    return again.output[-800:] if again.status else None if project.digests(set(targets)) == wanted else "other bytes"
