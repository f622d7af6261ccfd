"""kill -9 at random moments of a run, and the documented command again: the results must be the same bytes.

    python -m tests.faults.kills results/demo/eval.json --times 20 --configfile config/demo.yaml
    PSP_DATA=~/mirror python -m tests.faults.kills results/fr-small/eval.json --times 10 --configfile config/sample.yaml

Snakemake alone is killed (its job goes on), or one job, or all processes of the run, by turns; at a moment that is
drawn from the time that an undisturbed run takes. Each run has a copy of the project of its own; downloads are copied.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
VICTIMS = ("snakemake", "job", "all")
#: What tells of a run's times, and not of its results.
ASIDE = ("logs", "benchmarks", "tensorboard", "timing.csv")


class Project:
    """A copy of the project."""

    def __init__(self, folder: Path, options: argparse.Namespace, downloads: Path | None = None) -> None:
        self.folder, self.options = folder, options
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        for name in filter(None, listed.split("\0")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        if downloads is not None and downloads.is_dir():
            shutil.copytree(downloads, folder / "results/downloads")

    def command(self, *more: str) -> list[str]:
        return [
            sys.executable, "-m", "snakemake", "--cores", str(self.options.cores), "--configfile",
            *self.options.configfile, *more, "--", self.options.target,
        ]  # fmt: skip

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        with (self.folder / "run.log").open("ab") as log:
            return subprocess.Popen(
                self.command(*more), cwd=self.folder, env=environment, stdout=log, stderr=log, start_new_session=True
            )

    def finish(self) -> int:
        """The documented commands after a kill."""
        self.start("--unlock").wait()
        return self.start("--rerun-incomplete").wait()

    def digests(self) -> dict[str, str]:
        """The results of the model, by file."""
        top = self.folder / Path(*Path(self.options.target).parts[:2])
        return {
            path.relative_to(top).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(top.rglob("*"))
            if path.is_file() and not set(path.relative_to(top).parts) & set(ASIDE)
        }


def jobs_of(process: subprocess.Popen[bytes]) -> list[int]:
    """The processes of a run that execute a rule's script."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            same = os.getsid(int(entry.name)) == process.pid
            line = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if same and b".snakemake/scripts/" in line:
            found.append(int(entry.name))
    return found


def killed(project: Project, after: float, victim: str, rng: random.Random) -> str:
    """Start a run, and kill; what was killed, or "nothing" if the run had ended."""
    process = project.start()
    try:
        process.wait(after)
        return "nothing"
    except subprocess.TimeoutExpired:
        pass
    if victim == "job":
        deadline = time.monotonic() + 20
        while not (jobs := jobs_of(process)):
            if process.poll() is not None or time.monotonic() > deadline:
                return "nothing"
            time.sleep(0.02)
        try:
            os.kill(rng.choice(jobs), signal.SIGKILL)
        except ProcessLookupError:
            return "nothing"
        process.wait()  # Snakemake says that the job failed, and ends
        return "job"
    if victim == "snakemake":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return victim


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--configfile", nargs="+", required=True)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="psp-faults-") as scratch:
        whole = Project(Path(scratch) / "whole", options)
        begun = time.monotonic()
        if whole.start().wait():
            sys.exit((whole.folder / "run.log").read_text()[-2000:])
        seconds = time.monotonic() - begun
        wanted, downloads = whole.digests(), whole.folder / "results/downloads"
        print(f"undisturbed: {seconds:.0f} s, {len(wanted)} files", flush=True)
        for number in range(options.times):
            victim, after = VICTIMS[number % len(VICTIMS)], rng.uniform(0.5, seconds)
            project = Project(Path(scratch) / str(number), options, downloads if "PSP_DATA" in os.environ else None)
            what = killed(project, after, victim, rng)
            status = project.finish()
            found = project.digests()
            different = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
            verdict = "the same" if not status and not different else f"status {status}, different: {different[:5]}"
            counts[f"{what}: {'the same' if verdict == 'the same' else 'different'}"] += 1
            print(f"{number + 1}. {what} killed after {after:.1f} s: {verdict}", flush=True)
            if verdict == "the same":
                shutil.rmtree(project.folder)
            else:
                kept = Path(tempfile.mkdtemp(prefix="psp-fault-"))
                shutil.move(project.folder, kept / "project")
                print(f"   kept in {kept}", flush=True)
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")
    sys.exit(any(not name.endswith("the same") for name in counts))


if __name__ == "__main__":
    main()
