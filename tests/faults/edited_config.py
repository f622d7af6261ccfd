"""A config edited while a run lasts: the next run gives the bytes of an undisturbed run with the new config.

Wherever the edit came in, and whether that run then ended well or with an error.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import subprocess
from collections.abc import Iterator

from tests.faults.project import Bench, Project, Result, differences, same_bytes

#: What is edited: a setting of the training, of the mix and of a filter, each with its stages after it.
EDITS = (("epochs: 4", "epochs: 3"), ("{heldout: 100}", "{heldout: 150}"), ("vocab_size: 600", "vocab_size: 650"))


def check(bench: Bench) -> Iterator[Result]:
    whole, seconds = bench.whole("small")
    rng = random.Random(1)
    edits = EDITS[:1] if bench.quick else EDITS
    problems, own = [], 0
    for old, new in edits:
        other = whole.copy(bench.new())
        edit(other, old, new)
        ended = other.run()
        assert ended.status == 0, ended.output
        wanted = other.digests()
        shutil.rmtree(other.folder)
        project = whole.copy(bench.new())
        run = project.start()
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.process.wait(rng.uniform(0.2, 0.8) * seconds)
        edit(project, old, new)
        first = run.end()
        if first.status == 0:
            own += 1
            if problem := differences(whole.digests(), project.digests()):
                problems.append(f"{new}: the run under way did not end with its own settings: {problem}")
        elif problem := first.unclear("config", "small.yaml"):
            problems.append(f"{new}: {problem}")
        if problem := same_bytes(project, project.run(), wanted):
            problems.append(f"{new}: the next run: {problem}; kept in {bench.keep(project)}")
        shutil.rmtree(project.folder)
    what = f"a config edited during a run ({own} ended with their own settings)"
    yield Result(what, len(edits), "; ".join(problems) or None)


def edit(project: Project, old: str, new: str) -> None:
    path = project.folder / "small.yaml"
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
