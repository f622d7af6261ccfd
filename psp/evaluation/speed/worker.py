"""One system in a process of its own, ``python -m psp.evaluation.speed.worker '{...}'``: loaded, and timed in rounds.

The environment limits the threads of libraries before they are imported (:func:`limits`), and all threads are bound to
the given cores. The process writes a line of JSON about what it has loaded. Then it makes a round of passes for each
line that it is sent, and writes their seconds.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from psp.core.errors import PspError
from psp.evaluation.speed.systems import KINDS, Embed, Streams, named

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
)
COMPARED = 1000  # sentences whose vectors are compared with psp's
#: Texts per call. Vectors are freed before the next call: keeping them would measure how fast the system provides fresh
#: memory (491 MB took from 0.1 to 1.5 s on one virtual machine).
TEXTS_OF_A_CALL = 4096


def limits(cores: int) -> dict[str, str]:
    """Return environment variables that limit libraries to this many threads, and keep them offline."""
    environment = dict.fromkeys(THREAD_VARIABLES, str(cores))
    environment["TOKENIZERS_PARALLELISM"] = "true" if cores > 1 else "false"
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}
    return environment | offline | {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "CUDA_DEVICE_MAX_CONNECTIONS": "1"}


class Broken(PspError):
    """A system's process failed."""


class Process:
    """A system in its own process, which loads it; as a context manager, the process ends with the block.

    Args:
        name: its name in :data:`psp.evaluation.speed.systems.SYSTEMS`.
        task: the arguments of :func:`serve`.
        cores: the cores that it is bound to.

    Raises:
        Broken: by any method, if the process has died; with its last line of output.
    """

    def __init__(self, name: str, task: dict[str, Any], cores: list[int]) -> None:
        self.name = name
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by __exit__
        # Import psp from the same place as here, installed or not.
        path = os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "psp.evaluation.speed.worker", json.dumps({"name": name, "cores": cores, **task})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **limits(len(cores)), "PYTHONPATH": path},
            text=True,
        )

    def answer(self) -> dict[str, Any]:
        """What it has loaded, at first; then the seconds of each pass of a round."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            status = self.process.wait()
            self._errors.seek(0)
            lines = [part.strip() for part in self._errors.read().decode("utf-8", "replace").split("\n")]
            last = next((part for part in reversed(lines) if part), "no output")
            raise Broken(f"{self.name}: its process ended with status {status}: {last:.300}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def round(self) -> dict[str, float]:
        """Make a pass of each kind, and return its seconds."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it has died; the answer says why
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        return self.answer()

    def __enter__(self) -> Process:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is not None:
            self.process.kill()
        self.process.communicate()
        self._errors.close()


def serve(
    name: str,
    cores: list[int],
    folder: str,
    sentences: str,
    batch_size: int,
    seconds: float,
    answer: Callable[[dict[str, Any]], None],
) -> None:
    """Load a system and make its rounds.

    Args:
        name, cores: as of :class:`Process`.
        folder: the model that it loads.
        sentences: a folder with texts.json and their ids, ids.npz (:func:`write_sentences`); a system with the model's
            table writes the vectors of the first ones there.
        batch_size: of the paper's protocol.
        seconds: if it does not use the model's table, it embeds as many sentences as take about so long.
        answer: is given what it has loaded, and then the seconds of each round.
    """
    spec = named(name)
    load = KINDS[spec.kind](spec, Path(folder), len(cores))  # imports libraries on all cores, which is faster
    bind(cores)
    start = time.perf_counter()
    embed, forward = load()
    dim = embed(["a red car"]).shape[1]
    load_seconds = round(time.perf_counter() - start, 4)
    texts, streams = read_sentences(Path(sentences))
    if spec.table:
        np.save(Path(sentences, f"{name}.npy"), np.asarray(embed(texts[:COMPARED]), np.float32))
    else:
        texts, streams = chosen(texts, streams, sample(embed, texts, seconds))

    def text() -> None:
        for first in range(0, len(texts), TEXTS_OF_A_CALL):
            embed(texts[first : first + TEXTS_OF_A_CALL])

    passes = {"cold": text, "warm": text}
    if forward is not None:
        passes["forward"] = forward(*batches(texts, streams, batch_size))
    answer({"dim": dim, "load_seconds": load_seconds, "sentences": len(texts)})
    for _ in sys.stdin:
        del embed  # its memory is freed before the next one is loaded
        gc.collect()
        embed = load()[0]
        answer({kind: _seconds(work) for kind, work in passes.items()})


def write_sentences(folder: Path, texts: Sequence[str], streams: Streams) -> None:
    """Write sentences and their ids, by each part of a combination, for :func:`serve`."""
    (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    np.savez(folder / "ids.npz", *[array for stream in streams for array in stream])


def read_sentences(folder: Path) -> tuple[list[str], Streams]:
    """Read what :func:`write_sentences` wrote."""
    with np.load(folder / "ids.npz") as saved:
        arrays = [saved[name] for name in saved.files]
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    return texts, list(zip(arrays[::2], arrays[1::2], strict=True))


def sample(embed: Embed, texts: Sequence[str], seconds: float) -> np.ndarray:
    """Numbers of sentences, evenly spread, that take about ``seconds`` to embed: 64, doubled while they fit."""
    count = min(len(texts), 64)
    while True:
        numbers = np.linspace(0, len(texts), count, endpoint=False).astype(int)
        start = time.monotonic()
        embed([texts[number] for number in numbers])
        # Do not extrapolate: time may grow more than linearly, and the machine may slow down.
        if count == len(texts) or time.monotonic() - start > seconds / 2:
            return numbers
        count = min(2 * count, len(texts))


def chosen(texts: Sequence[str], streams: Streams, numbers: np.ndarray) -> tuple[list[str], Streams]:
    """The sentences of these numbers, and their ids."""
    of_numbers = []
    for ids, offsets in streams:
        parts = [ids[offsets[number] : offsets[number + 1]] for number in numbers]
        of_numbers.append((np.concatenate(parts), np.cumsum([0, *map(len, parts)])))
    return [texts[number] for number in numbers], of_numbers


def batches(texts: Sequence[str], streams: Streams, size: int) -> tuple[list[list[str]], list[Streams]]:
    """Batch the sentences by number of pieces of all parts, shortest first: as texts, and as each part's ids."""
    order = np.argsort(np.sum([np.diff(offsets) for _, offsets in streams], axis=0), kind="stable")
    pairs = [chosen(texts, streams, order[start : start + size]) for start in range(0, len(order), size)]
    return [batch for batch, _ in pairs], [ids for _, ids in pairs]


def _seconds(work: Callable[[], None]) -> float:
    gc.collect()
    start = time.monotonic()
    work()
    return time.monotonic() - start


def bind(cores: list[int]) -> None:
    """Bind all threads of this process, and thus those that they will start, to cores."""
    if not hasattr(os, "sched_setaffinity"):
        return
    tasks = Path("/proc/self/task")
    for thread in [int(entry.name) for entry in tasks.iterdir()] if tasks.is_dir() else [0]:
        os.sched_setaffinity(thread, cores)


if __name__ == "__main__":
    # What libraries print goes to standard error, and the answers alone to standard output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(**json.loads(sys.argv[1]), answer=lambda value: print(json.dumps(value), file=answers, flush=True))
