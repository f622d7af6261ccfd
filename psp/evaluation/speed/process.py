"""The parent's side of the processes that hold one system each."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from psp.core.errors import PspError

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)


def limits(cores: int) -> dict[str, str]:
    """Return environment variables that limit libraries to this many threads, and keep them offline."""
    environment = dict.fromkeys(THREAD_VARIABLES, str(cores))
    environment["TOKENIZERS_PARALLELISM"] = "true" if cores > 1 else "false"
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    return environment | offline | {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "CUDA_DEVICE_MAX_CONNECTIONS": "1"}


class Broken(PspError):
    """A system's process failed."""


class Process:
    """A system in its own process (:mod:`psp.evaluation.speed.worker`).

    Use as a context manager: the process ends with the block.

    Raises:
        Broken: by any method, if the process has died; with its last line of output.
    """

    def __init__(self, name: str, cores: list[int], **task: str) -> None:
        self.name = name
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        # Import psp from the same place as here, installed or not.
        path = os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "psp.evaluation.speed.worker", json.dumps({"name": name, "cores": cores, **task})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **limits(len(cores)), "PYTHONPATH": path},
            text=True,
        )

    def wait(self) -> None:
        """Wait until its libraries are imported."""
        self.answer()

    def tell(self, do: str, **options: Any) -> None:
        """Send a command without waiting."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has died; answer() reports that
            self._process.stdin.write(json.dumps({"do": do, **options}) + "\n")
            self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Wait for the answer to a command."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            status = self._process.wait()
            self._errors.seek(0)
            lines = [part.strip() for part in self._errors.read().decode("utf-8", "replace").split("\n")]
            last = next((part for part in reversed(lines) if part), "no output")
            raise Broken(f"{self.name}: its process ended with status {status}: {last:.300}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, do: str, **options: Any) -> dict[str, Any]:
        """Send a command and wait for its answer."""
        self.tell(do, **options)
        return self.answer()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        if kind is not None:
            self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()
