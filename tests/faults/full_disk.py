"""A disk that is full, or fills up, in each stage: one clear error, nothing half-written; with space, the same bytes.

``results/`` is a small tmpfs, filled but for so many bytes before the stage begins.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.faults.project import Bench, Project, Result, differences

FILLER = ".filler"
PAGE = 4096
WORDS = ("No space left", "free space", "cannot be written")
#: Stages that take long to tell little, for the quick part.
QUICK = ("filter", "train")


def check(bench: Bench) -> Iterator[Result]:
    if not bench.mounts:
        yield Result("a full disk in each stage", skipped="a tmpfs cannot be mounted here")
        return
    whole, _ = bench.whole("small")
    project = whole.copy(bench.new(), results=True)
    stages = whole.stages()
    with small_disk(project):
        for rule, files in stages.items():
            if bench.quick and rule not in QUICK:
                continue
            wanted = whole.digests(set(files))
            size = max((whole.folder / name).stat().st_size for name in files)
            rooms = [0, 4 * PAGE + size // 2 // PAGE * PAGE][-1 if bench.quick else 0 :]
            problems = [
                f"with room for {room:,} bytes: {problem}"
                for room in rooms
                if (problem := failed(project, files, room, wanted)) is not None
            ]
            ended = project.run(targets=tuple(files))
            if ended.status:
                problems.append(f"after space was made: {ended.output[-800:]}")
            elif problem := differences(wanted, project.digests(set(files))):
                problems.append(f"after space was made: {problem}")
            yield Result(f"full disk in {rule}", len(rooms), "; ".join(problems) or None)


def failed(project: Project, files: list[str], room: int, wanted: dict[str, str]) -> str | None:
    """Run a stage on a disk with so much room; say what did not hold."""
    project.remove(files)
    before = set(project.results.rglob("*"))
    fill(project.results, room)
    ended = project.run(targets=tuple(files))
    (project.results / FILLER).unlink()
    if ended.status == 0:
        return "it ended well on a full disk" if room == 0 else None  # else it had room enough
    if problem := ended.unclear(*WORDS):
        return problem
    there = [name for name, digest in project.digests(set(files)).items() if wanted[name] != digest]
    left = [path.name for path in set(project.results.rglob("*")) - before if path.name.endswith((".part", ".tmp"))]
    if there or left:
        return f"half-written: {', '.join(there)}; left behind: {', '.join(left)}"
    return None


def fill(folder: Path, room: int) -> None:
    """Leave so many bytes on a disk."""
    with (folder / FILLER).open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * PAGE)
        except OSError:
            pass
        os.ftruncate(file.fileno(), max(0, file.tell() - room))


class small_disk:
    """``results/`` of a project on a disk of its own, with what was there."""

    def __init__(self, project: Project, megabytes: int = 64) -> None:
        self.project, self.megabytes = project, megabytes

    def __enter__(self) -> None:
        results, aside = self.project.results, self.project.folder / "aside"
        results.rename(aside)
        results.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={self.megabytes}m", "none", str(results)], check=True)
        shutil.copytree(aside, results, dirs_exist_ok=True)

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", "--lazy", str(self.project.results)], check=True)
