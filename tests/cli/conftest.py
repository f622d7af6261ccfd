"""A small model for the commands that use one."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from phrasebook import generate
from psp.cli.main import main
from psp.models.folder import load_model, save_model
from psp.models.static import StaticModel
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from tests.conftest import train_sentencepiece

DIM = 12
#: Python after which a write fails as on a full disk.
FULL_DISK = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
FULL_DISK += "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model's folder: 12 dimensions, the vectors of its words random."""
    folder = tmp_path_factory.mktemp("small")
    path = train_sentencepiece(folder / "sp.model")
    pieces = load_sentencepiece(path).get_piece_size()
    table = np.random.default_rng(1).standard_normal((pieces, DIM), dtype=np.float32)
    save_model(folder / "model", table, path, {"languages": ["en", "fr"], "recipe": "psp"})
    return folder / "model"


@pytest.fixture(scope="session")
def model(small_model: Path) -> StaticModel:
    """The same, loaded."""
    return load_model(small_model)


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """The one line of an error with which a command ends."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    assert ended.value.code == 1
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(said) == 1
    return said[0]


def phrases(folder: Path) -> list[tuple[str, str]]:
    """The pairs of the demo, whose corpora and test sets are written into ``folder``."""
    generate(folder, pairs=1500, seed=1)
    with zipfile.ZipFile(folder / "opus/Phrasebook/v1/moses/en-fr.txt.zip") as archive:
        sides = [archive.read(f"Phrasebook.en-fr.{side}").decode().splitlines() for side in ("en", "fr")]
    return [pair for pair in zip(*sides, strict=True) if "\t" not in "".join(pair)]


class Psp:
    """Runs ``psp`` in a process of its own."""

    command = (sys.executable, "-c", "from psp.cli.main import main; main()")

    def start(self, *arguments: object, before: str = "", **options: Any) -> subprocess.Popen[bytes]:
        """Start it; ``before`` is Python that runs first."""
        code = f"{before}\nfrom psp.cli.main import main; main()"
        command = [sys.executable, "-c", code, *map(str, arguments)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL} | options
        return subprocess.Popen(command, **streams)

    def run(self, *arguments: object, text: bytes | None = None, **options: Any) -> subprocess.CompletedProcess[bytes]:
        """Run it to its end; ``text`` is its standard input."""
        process = self.start(*arguments, **({"stdin": subprocess.PIPE} if text is not None else {}), **options)
        out, said = process.communicate(text, timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, out, said)


@pytest.fixture(scope="session")
def psp_command() -> Psp:
    """The command, as a shell runs it."""
    return Psp()
