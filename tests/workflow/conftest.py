"""A copy of the project in a temporary folder, and Snakemake run in it as a person would."""

import fcntl
import hashlib
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
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


class Scripts:
    """The process that runs scripts in forks of its own (script_server.py), started when it is first needed."""

    server: subprocess.Popen | None = None
    address = ""

    @classmethod
    def start(cls) -> str:
        """The socket at which it answers."""
        if cls.server is None:
            cls.address = f"{tempfile.mkdtemp()}/scripts"
            program = [sys.executable, str(Path(__file__).with_name("script_server.py")), cls.address]
            own = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
            own["PYTHONDONTWRITEBYTECODE"] = "1"
            cls.server = subprocess.Popen(program, env=own, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        return cls.address

    @classmethod
    def command(cls, script: Path) -> list[str]:
        """What runs a script as ``python SCRIPT`` would, but for the time that its libraries take to be imported."""
        return [sys.executable, "-SE", str(Path(__file__).with_name("script_client.py")), cls.start(), str(script)]

    @classmethod
    def end(cls) -> None:
        if cls.server is not None:
            cls.server.communicate()  # it ends with its input
            cls.server = None


class Snakemake:
    """The process that runs Snakemake in forks of its own (snakemake_server.py), started when it is first needed."""

    server: subprocess.Popen | None = None

    @classmethod
    def run(cls, folder: Path, arguments: list[str], environment: dict[str, str], output: str) -> int:
        """The exit status of a run."""
        if cls.server is None:
            program = Path(__file__).with_name("snakemake_server.py")
            own = {key: value for key, value in environment.items() if key != "PYTHONPATH"}  # that is of the copy
            cls.server = subprocess.Popen(
                [sys.executable, str(program), Scripts.start()],
                env=own,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        asked = {"folder": str(folder), "arguments": arguments, "environment": environment, "output": output}
        print(json.dumps(asked), file=cls.server.stdin, flush=True)
        if not select.select([cls.server.stdout], [], [], 600)[0]:
            cls.end()
            raise AssertionError(f"it has run for 10 minutes: {arguments}")
        return int(cls.server.stdout.readline())

    @classmethod
    def end(cls) -> None:
        if cls.server is not None:
            cls.server.kill()
            cls.server.communicate()
            cls.server = None


@pytest.fixture(scope="session", autouse=True)
def snakemake_ends() -> Iterator[None]:
    yield
    Snakemake.end()
    Scripts.end()


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

    def command(self, *arguments, configs=("config/demo.yaml", "tiny.yaml"), cores=("--cores", "2")):
        files = ["--configfile", *configs] if configs else []
        return [sys.executable, "-m", "snakemake", *files, *cores, *arguments]

    def run(self, *arguments, check=True, **options):
        """Run Snakemake to its end; what it printed is in ``output``."""
        return self.run_line(*self.command(*arguments, **options)[3:], check=check)

    def run_line(self, *arguments, check=True):
        """Run Snakemake with exactly these arguments."""
        with tempfile.NamedTemporaryFile() as file:
            status = Snakemake.run(self.folder, list(arguments), self.environment, file.name)
            output = Path(file.name).read_text()
        result = subprocess.CompletedProcess(["snakemake", *arguments], status)
        result.output = output
        assert not check or result.returncode == 0, result.output
        return result

    def jobs(self, *arguments, **options):
        """How many jobs of each rule a run would execute, by the rule's name."""
        output = self.run("--dry-run", *arguments, **options).output
        if "Nothing to be done" in output:
            return {}
        table = output.split("Job stats:\n")[-1].split("\n\n")[0].splitlines()
        counts = {name: int(count) for name, count in (line.split()[:2] for line in table[2:])}
        del counts["total"]
        return counts

    def planned(self, *arguments, **options):
        """The names of the rules that a run would execute."""
        return set(self.jobs(*arguments, **options))

    def copy(self, folder):
        """The same at another place, with nothing to be run again."""
        copy_tree(self.folder, folder)
        return Workflow(folder)

    def psp(self, *arguments, folder=None, imported=True):
        """Run a command of the copy, in its folder or another.

        ``imported=False``: in a process of its own, for a library that reads the environment when it is imported.
        """
        words = ["psp", *map(str, arguments)]
        code = (
            "import sys\nfrom psp.cli.main import main\n"
            f"if __name__ == '__main__':\n    sys.argv = {words}\n    sys.exit(main())\n"
        )
        with tempfile.TemporaryDirectory() as alone:  # modules are looked for beside a script
            script = Path(alone) / "command.py"
            script.write_text(code)
            command = Scripts.command(script) if imported else [sys.executable, "-c", code]
            return subprocess.run(
                command, cwd=folder or self.folder, env=self.environment, capture_output=True, text=True, check=False
            )

    def add(self, text):
        """Add to the config."""
        with (self.folder / "tiny.yaml").open("a") as file:
            file.write(text)

    def edit(self, name, old, new):
        path = self.folder / name
        text = path.read_text()
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {name}"
        path.write_text(text.replace(old, new))

    def digests(self, *names):
        """SHA-256 of files under results/demo."""
        folder = self.folder / "results/demo"
        return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder with its files' times, which Snakemake compares.

    What Python and numba have compiled comes along, since a copied source file has its time, size and content: to
    compile the loops anew took half of each training's time. What another process is just writing there does not.
    """

    def unfinished(folder: str, names: list[str]) -> list[str]:
        compiled = Path(folder).name == "__pycache__"
        return [name for name in names if compiled and not name.endswith((".pyc", ".nbi", ".nbc"))]

    shutil.copytree(source, target, symlinks=True, ignore=unfinished)


def copy_project(folder: Path) -> Workflow:
    for name in ("psp", "phrasebook", "rules", "workflow_scripts", "config", "profiles", "snakemake_logger_plugin_psp"):
        copy_tree(ROOT / name, folder / name)
    shutil.copy(ROOT / "Snakefile", folder)
    (folder / "tiny.yaml").write_text(TINY)
    return Workflow(folder)


@pytest.fixture
def project(fresh, tmp_path):
    """A fresh copy, nothing made yet."""
    for name in fresh.folder.iterdir():
        (copy_tree if name.is_dir() else shutil.copy2)(name, tmp_path / name.name)
    return Workflow(tmp_path)


@pytest.fixture(scope="session")
def fresh(once):
    """A fresh copy. Not to be changed: take ``project``."""
    return once("fresh", copy_project)


@pytest.fixture(scope="session")
def once(tmp_path_factory):
    """A function: the workflow that ``make`` makes in a new folder, once for all of pytest's processes.

    The others wait for it. It is not to be changed.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent

    def get(name: str, make: Callable[[Path], object]) -> Workflow:
        with (shared / f"{name}.folder").open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            folder = Path(file.read() or tmp_path_factory.mktemp(name) / "copy")
            if file.tell() == 0:
                make(folder)
                file.write(str(folder))
        return Workflow(folder)

    return get


@pytest.fixture(scope="session")
def finished(fresh, once):
    """A copy in which the tiny demo has run to its evaluation. Not to be changed: take ``copy_of_finished``."""
    reports = [f"results/demo/{name}" for name in ("eval.json", "data.json", "card.md")]
    return once("finished", lambda folder: fresh.copy(folder).run(*reports))


@pytest.fixture(scope="session")
def compared(finished, once):
    """The finished copy with other systems beside its model, and with smaller tables."""
    reports = [f"results/demo/{name}.json" for name in ("compare", "quantized")]
    return once("compared", lambda folder: finished.copy(folder).run(*reports))


@pytest.fixture
def copy_of_finished(finished, tmp_path):
    """The finished copy again, to be changed at will."""
    return finished.copy(tmp_path / "copy")


@pytest.fixture
def downloaded(copy_of_finished):
    """A copy in which all that the demo downloads is there, and nothing is made of it."""
    shutil.rmtree(copy_of_finished.folder / "results/demo")
    return copy_of_finished


def declared(file):
    """The rules of a file, and their bodies."""
    return re.findall(r"^rule (\w+):\n((?:(?:    .*)?\n)+)", file.read_text(), re.MULTILINE)
