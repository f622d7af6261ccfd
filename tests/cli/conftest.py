"""A small model for the commands that use one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psp.models.folder import save_model
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from tests.conftest import train_sentencepiece

DIM = 12


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model's folder: 12 dimensions, the vectors of its words random."""
    folder = tmp_path_factory.mktemp("small")
    path = train_sentencepiece(folder / "sp.model")
    pieces = load_sentencepiece(path).get_piece_size()
    table = np.random.default_rng(1).standard_normal((pieces, DIM), dtype=np.float32)
    save_model(folder / "model", table, path, {"languages": ["en", "fr"], "recipe": "psp"})
    return folder / "model"


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
