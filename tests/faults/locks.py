"""A file system without locks (flock and fcntl fail with ENOLCK): the same bytes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from tests.faults.preload import LOCKS, compiled
from tests.faults.project import Bench, Result, same_bytes


def check(bench: Bench) -> Iterator[Result]:
    library = compiled(LOCKS, bench.new())
    what = "a file system without locks"
    if library is None:
        yield Result(what, skipped="there is no C compiler")
        return
    whole, _ = bench.whole("small")
    project = whole.copy(bench.new())
    ended = project.run(environment={"LD_PRELOAD": str(library)})
    problem = same_bytes(project, ended, whole.digests())
    yield Result(what, 1, problem and f"{problem}; kept in {bench.keep(project)}")
    shutil.rmtree(project.folder)
