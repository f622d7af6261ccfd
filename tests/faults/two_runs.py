"""A second run in the same folder while one lasts: it ends with one sentence, and the first is unharmed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator

from tests.faults.project import Bench, Result, same_bytes


def check(bench: Bench) -> Iterator[Result]:
    whole, seconds = bench.whole("small")
    project = whole.copy(bench.new())
    first, times, problems = project.start(), 0, []
    first.wait_for(lambda: bool(first.jobs()))
    for number in range(1 if bench.quick else 4):
        # The second is as well the command that is documented for after a kill, short of unlocking.
        second = project.run(*(["--rerun-incomplete"] if number % 2 else []))
        unlocked = project.run("--unlock")
        if first.process.poll() is not None:  # nothing forbids another then
            break
        told = [run.unclear("is running in this folder; wait for it") for run in (second, unlocked)]
        problems += filter(None, told)
        times += 1
        time.sleep(seconds / 10)
    if not times:
        problems.append("the first run had ended before")
    if problem := same_bytes(project, first.end(), whole.digests()):
        problems.append(f"the first run: {problem}")
    yield Result("a second run in the same folder", times, "; ".join(problems) or None)
    shutil.rmtree(project.folder)
