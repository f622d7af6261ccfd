"""A copy of the project in a temporary folder, and Snakemake run in it as a person would."""

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
#: Small enough for seconds, large enough for every rule to have something to do.
TINY = """
phrasebook: {pairs: 3000, seed: 1}
models:
  demo:
    subword: {vocab_size: 600}
    train: {epochs: 2, dim: 16, megabatch: 4, anneal: 4}
    development: {heldout: 100}
    evaluate: {resamples: 100}
    quantize: {dims: [8]}
    speed: {sentences: 1000, repeats: 3, peers: [model2vec]}
"""


@dataclass
class Workflow:
    """The project's files in a folder of their own; ``psp`` is imported from there."""

    folder: Path

    @property
    def environment(self):
        return {
            **os.environ,
            "PYTHONPATH": str(self.folder),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def command(self, *arguments, configs=("config/demo.yaml", "tiny.yaml")):
        files = ["--configfile", *configs] if configs else []
        return [sys.executable, "-m", "snakemake", *files, "--cores", "2", *arguments]

    def run(self, *arguments, check=True, **options):
        """Run Snakemake to its end; what it printed is in ``output``."""
        result = subprocess.run(
            self.command(*arguments, **options),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
        )
        result.output = result.stdout
        assert not check or result.returncode == 0, result.output
        return result

    def planned(self, *arguments, **options):
        """The names of the rules that a run would execute."""
        output = self.run("--dry-run", *arguments, **options).output
        if "Nothing to be done" in output:
            return set()
        table = output.split("Job stats:\n")[-1].split("\n\n")[0].splitlines()
        return {line.split()[0] for line in table[2:]} - {"total"}

    def edit(self, name, old, new):
        path = self.folder / name
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        path.write_text(text.replace(old, new))

    def digests(self, *names):
        """SHA-256 of files under results/demo."""
        folder = self.folder / "results/demo"
        return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def copy_project(folder: Path) -> Workflow:
    for name in ("psp", "rules", "workflow_scripts", "config"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Snakefile", folder)
    (folder / "tiny.yaml").write_text(TINY)
    return Workflow(folder)


@pytest.fixture
def project(tmp_path):
    """A fresh copy, nothing made yet."""
    return copy_project(tmp_path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A copy in which the tiny demo has run to its evaluation. Not to be changed: take ``copy_of_finished``."""
    workflow = copy_project(tmp_path_factory.mktemp("finished"))
    workflow.run(*(f"results/demo/{name}.json" for name in ("eval", "data", "compare", "quantized", "speed")))
    return workflow


@pytest.fixture
def copy_of_finished(finished, tmp_path):
    """The finished copy again, to be changed at will."""
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder, symlinks=True)  # copytree keeps times, which Snakemake compares
    return Workflow(folder)
