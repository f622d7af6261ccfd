"""A copy of the project in which faults are injected, and what an undisturbed run of it gives."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: What tells of a run's times, and not of its results.
ASIDE = {"logs", "benchmarks", "timing.csv", "speed.json", "speed.png", "report.html"}
CORES = 2
HANG = 900.0  # seconds after which a run counts as hanging

#: The demo on 3,000 pairs, with a training that lasts long enough to be hit.
SMALL = """
phrasebook: {pairs: 3000, seed: 1}
keep_intermediate: true
models:
  demo:
    subword: {vocab_size: 600}
    train: {epochs: 4, batch_size: 16, dim: 16, checkpoint: {steps: 100}}
    development: {heldout: 100}
    evaluate: {resamples: 100}
    speed: {sentences: 1000, repeats: 3, peers: [model2vec]}
"""
REPORTS = ("eval.json", "data.json", "compare.json", "learning_curve.png", "card.md")


@dataclass(frozen=True)
class Workload:
    """What is run."""

    name: str
    targets: tuple[str, ...]
    configs: tuple[str, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    downloads: bool = False  # real ones, to be copied rather than fetched again


WORKLOADS = {
    one.name: one
    for one in (
        Workload(
            "small", tuple(f"results/demo/{file}" for file in REPORTS), ("config/demo.yaml", "small.yaml"),
            {"small.yaml": SMALL},
        ),
        Workload("demo", ("results/demo/eval.json",), ("config/demo.yaml",)),
        Workload("fr-small", ("results/fr-small/eval.json",), ("config/sample.yaml",), downloads=True),
        Workload("fr", ("results/fr/eval.json",), ("config/sample.yaml",), downloads=True),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Result:
    """What came of a fault.

    Args:
        what: what was done.
        times: how often.
        problem: what did not hold; None if all did.
        skipped: why it was not done.
    """

    what: str
    times: int = 0
    problem: str | None = None
    skipped: str | None = None

    def line(self, fault: str) -> str:
        if self.skipped is not None:
            return f"SKIPPED   {fault}: {self.what}: {self.skipped}"
        return f"{'held     ' if self.problem is None else 'NOT HELD '} {fault}: {self.what}, {self.times} times" + (
            f": {self.problem}" if self.problem is not None else ""
        )


@dataclass(frozen=True)
class Ended:
    """A run that has ended."""

    status: int
    output: str

    @property
    def errors(self) -> list[str]:
        """Its last lines, which say what is wrong."""
        return [line for line in self.output.splitlines() if line.startswith("error: ")]

    def unclear(self, *words: str) -> str | None:
        """Say why this is not a run that ended with one clear error that has one of these words; None if it is."""
        if self.status == 0:
            return "it ended without an error"
        if "Traceback" in self.output:
            return f"it ended with a traceback: ...{self.output[self.output.index('Traceback') :][-1500:]}"
        last = self.output.rstrip().rpartition("\n")[2]
        if not self.errors or last != self.errors[-1]:
            return f"its last line is no error: {self.output[-800:]}"
        if "this is a bug" in last or not any(word in last for word in words):
            return f"its last line is not clear: {last}"
        return None


class Project:
    """A copy of the project, and Snakemake run in it as a person would."""

    def __init__(self, folder: Path, workload: Workload, cores: int) -> None:
        self.folder, self.workload, self.cores = folder, workload, cores
        self._runs = 0
        self._stages: dict[str, list[str]] | None = None

    @property
    def results(self) -> Path:
        return self.folder / "results"

    def copy(self, folder: Path, results: bool = False) -> Project:
        """The same at another place, with what Python and numba have compiled; without results, unless asked for."""

        def left_out(where: str, names: list[str]) -> set[str]:
            if Path(where) != self.folder:
                return {name for name in names if name == "auxiliary" and Path(where).name == ".snakemake"}
            return set() if results else {"results", ".snakemake"}

        shutil.copytree(self.folder, folder, ignore=left_out)
        if not results and self.workload.downloads:
            shutil.copytree(self.results / "downloads", folder / "results/downloads")
        return Project(folder, self.workload, self.cores)

    def command(self, *more: str, targets: tuple[str, ...] | None = None) -> list[str]:
        """The documented command, with ``more`` options."""
        return [
            sys.executable, "-m", "snakemake", "--cores", str(self.cores), "--configfile", *self.workload.configs,
            *more, "--", *(self.workload.targets if targets is None else targets),
        ]  # fmt: skip

    def start(
        self,
        *more: str,
        targets: tuple[str, ...] | None = None,
        environment: Mapping[str, str] | None = None,
        limit: Callable[[], None] | None = None,
    ) -> Run:
        """Start it in a session of its own.

        Args:
            limit: called in the new process before it becomes Snakemake.
        """
        self._runs += 1
        # Beside it, for the folder may be full or read-only.
        output = self.folder.with_name(f"{self.folder.name}.output") / f"{self._runs}.log"
        output.parent.mkdir(exist_ok=True)
        inherited = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        whole = {
            **inherited,
            "PYTHONPATH": str(self.folder),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            **(environment or {}),
        }
        with output.open("wb") as file:
            process = subprocess.Popen(
                self.command(*more, targets=targets), cwd=self.folder, env=whole, stdin=subprocess.DEVNULL,
                stdout=file, stderr=file, start_new_session=True, preexec_fn=limit,
            )  # fmt: skip
        return Run(process, output)

    def run(self, *more: str, targets: tuple[str, ...] | None = None, **options: object) -> Ended:
        """The same, to its end."""
        return self.start(*more, targets=targets, **options).end()  # type: ignore[arg-type]

    def resume(self, targets: tuple[str, ...] | None = None) -> Ended:
        """The documented commands after a kill."""
        self.run("--unlock", targets=targets)
        return self.run("--rerun-incomplete", targets=targets)

    def digests(self, names: set[str] | None = None) -> dict[str, str]:
        """SHA-256 of the results by file; of those named (such as results/demo/eval.json), or all."""
        found = {}
        for path in sorted(self.results.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            dated = name.startswith("results/downloads/") and name.endswith(".json")
            if dated or ASIDE & set(path.parts[len(self.results.parts) :]) or not path.is_file():
                continue
            if names is None or name in names:
                found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def stages(self) -> dict[str, list[str]]:
        """The files of a job of each rule, the largest, in the order in which the rules have run."""
        if self._stages is not None:
            return self._stages
        said = self.run("--summary")
        assert said.status == 0, said.output
        jobs: dict[tuple[str, str], list[str]] = {}
        for line in said.output.splitlines():
            cells = line.split("\t")
            if len(cells) == 6 and cells[0].startswith("results/"):
                jobs.setdefault((cells[2], cells[3]), []).append(cells[0])
        largest: dict[str, list[str]] = {}
        for (rule, _), files in sorted(jobs.items(), key=lambda job: self._size(job[1])):
            largest[rule] = files
        self._stages = dict(sorted(largest.items(), key=lambda item: min(self._time(name) for name in item[1])))
        return self._stages

    def _size(self, names: list[str]) -> int:
        return sum((self.folder / name).stat().st_size for name in names)

    def _time(self, name: str) -> float:
        return (self.folder / name).stat().st_mtime

    def remove(self, names: list[str]) -> None:
        """Remove results, so that a run makes them again."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)


class Run:
    """A run of Snakemake under way."""

    def __init__(self, process: subprocess.Popen[bytes], output: Path) -> None:
        self.process, self.output = process, output

    def text(self) -> str:
        return self.output.read_text(errors="replace")

    def end(self, seconds: float = HANG) -> Ended:
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return Ended(-1, f"{self.text()}\nit has hung for {seconds:.0f} s and was killed")
        return Ended(status, self.text())

    def kill(self) -> None:
        """End Snakemake and its jobs at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def jobs(self) -> list[int]:
        """The processes that execute a rule's script."""
        return [pid for pid, line in self.processes() if b".snakemake/scripts/" in line]

    def processes(self) -> Iterator[tuple[int, bytes]]:
        """The number and command line of each process of the run."""
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                try:
                    if os.getsid(int(entry.name)) == self.process.pid:
                        yield int(entry.name), (entry / "cmdline").read_bytes()
                except OSError:
                    continue

    def wait_for(self, there: Callable[[], bool], seconds: float = 120.0) -> bool:
        """Wait until something is there; False if the run has ended before."""
        deadline = time.monotonic() + seconds
        while not there():
            if self.process.poll() is not None or time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        return True


@dataclass
class Bench:
    """What all faults share.

    Args:
        scratch: a folder for copies of the project.
        quick: a few seconds for each fault, on the small demo.
        cores: for Snakemake.
        wanted: the kinds of workload to run on; those on real data only where it is at hand.
    """

    scratch: Path
    quick: bool
    cores: int
    workloads: tuple[str, ...] = ("small", "demo", "fr-small", "fr")
    mounts: bool = False
    _whole: dict[str, tuple[Project, float]] = field(default_factory=dict)
    _copies: int = 0

    def new(self) -> Path:
        """A folder that is not there yet."""
        self._copies += 1
        return self.scratch / str(self._copies)

    def whole(self, name: str) -> tuple[Project, float]:
        """A project in which a workload has run undisturbed, not to be changed; and the seconds that it took."""
        if name not in self._whole:
            workload, folder = WORKLOADS[name], self.scratch / name
            listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
            for file in filter(None, listed.stdout.split("\0")):
                if not file.startswith(("tests/", "docs/")):
                    (folder / file).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(ROOT / file, folder / file)
            for file, text in workload.files.items():
                (folder / file).write_text(text)
            project = Project(folder, workload, self.cores)
            begun = time.monotonic()
            ended = project.run()
            if ended.status:
                sys.exit(f"the undisturbed run of {name} failed:\n{ended.output[-3000:]}")
            self._whole[name] = project, time.monotonic() - begun
            print(f"undisturbed: {name}, {self._whole[name][1]:.0f} s, {len(project.digests())} files", flush=True)
        return self._whole[name]

    def keep(self, project: Project) -> str:
        """Put a project in which a fault was not survived where it stays; say where."""
        kept = Path(tempfile.mkdtemp(prefix="psp-fault-")) / "project"
        shutil.copytree(project.folder, kept)
        return str(kept)


def differences(wanted: Mapping[str, str], found: Mapping[str, str]) -> str | None:
    """Say in what two results differ; None if in nothing."""
    different = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
    return f"{len(different)} files differ: {', '.join(different[:5])}" if different else None


def same_bytes(project: Project, ended: Ended, wanted: Mapping[str, str]) -> str | None:
    """Say in what a run that should have ended well differs from an undisturbed one; None if in nothing."""
    if ended.status:
        return f"the next run ended with status {ended.status}: {ended.output[-800:]}"
    return differences(wanted, project.digests())
