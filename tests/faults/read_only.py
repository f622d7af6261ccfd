"""A folder that cannot be written to: one clear sentence, and once it can be the same bytes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.faults.project import Bench, Result

FOLDERS = ("results", "results/demo", "results/downloads", ".")
WORDS = ("Read-only file system", "cannot be written")


def check(bench: Bench) -> Iterator[Result]:
    if not bench.mounts:
        yield Result("read-only folders", skipped="nothing can be mounted here")
        return
    whole, _ = bench.whole("small")
    stages = whole.stages()
    for name in FOLDERS[:1] if bench.quick else FOLDERS:
        project = whole.copy(bench.new(), results=True)
        files = stages["download" if name == "results/downloads" else "evaluate"]
        wanted, targets, problems = whole.digests(set(files)), tuple(files), []
        project.remove(files)
        mount(project.folder / name)
        if problem := project.run(targets=targets).unclear(*WORDS):
            problems.append(problem)
        subprocess.run(["umount", "--lazy", str(project.folder / name)], check=True)
        ended = project.run(targets=targets)
        if ended.status or project.digests(set(files)) != wanted:
            problems.append(f"once it could be written: {ended.output[-800:]}")
        shutil.rmtree(project.folder)
        yield Result(f"{'the whole folder' if name == '.' else name} read-only", 1, "; ".join(problems) or None)


def mount(folder: Path) -> None:
    """Make a folder read-only, for root too."""
    subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
    subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
