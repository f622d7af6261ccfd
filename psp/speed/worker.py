"""A process that holds one system, and does and times what it is told: ``python -m psp.speed.worker '{...}'``.

Commands come on standard input and answers go to standard output, a line of JSON each. The environment limits the
threads of the libraries before they are imported (:func:`psp.speed.process.limits`); every thread is bound to cores.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from psp.speed.systems import KINDS, Forward, Psp, batches, named

COPY_BYTES = 256 << 20  # more than a core's own caches hold
COMPARED = 1000  # sentences whose vectors are compared with psp's
#: Texts of a call. Their vectors are let go of before the next: to keep all would measure how fast the system finds
#: fresh memory (491 MB took from 0.1 to 1.5 s on one virtual machine).
TEXTS_OF_A_CALL = 4096


class Worker:
    """One system.

    Args:
        name: of :data:`psp.speed.systems.SYSTEMS`.
        folder: what it loads.
        task: a folder with texts.json, ids.npy and offsets.npy.
        cores: what it is bound to.
    """

    def __init__(self, name: str, folder: str, task: str, cores: list[int]) -> None:
        self._spec, self._task, self._cores = named(name), Path(task), cores
        # Libraries are imported on all cores, which is not measured, and faster.
        self.system = KINDS[self._spec.kind](self._spec, Path(folder), len(cores))
        bind(cores)
        self.texts: list[str] = []
        self._chosen: np.ndarray | None = None
        self._forward: Forward | None = None

    def load(self) -> dict[str, Any]:
        """From nothing but imports to the first vector."""
        start = time.perf_counter()
        self.system.load()
        vectors = self.system.embed(["a red car"])
        seconds, rss = time.perf_counter() - start, resident()
        self.texts = json.loads((self._task / "texts.json").read_text(encoding="utf-8"))
        return {"seconds": seconds, "rss": rss, "dim": vectors.shape[1]}

    def vectors(self, out: str) -> dict[str, Any]:
        """Write the vectors of the first sentences, to be compared."""
        np.save(out, np.asarray(self.system.embed(self.texts[:COMPARED]), np.float32))
        return {}

    def sample(self, seconds: float) -> dict[str, Any]:
        """Keep as many sentences, evenly spread, as take about so long: at least 64, twice as many, and so on."""
        count = min(len(self.texts), 64)
        while True:
            chosen = np.linspace(0, len(self.texts), count, endpoint=False).astype(int)
            texts = [self.texts[i] for i in chosen]
            start = time.monotonic()
            self.system.embed(texts)
            # More may take longer than in proportion, and the machine may be faster now than later: so no guess.
            if count == len(self.texts) or time.monotonic() - start > seconds / 2:
                break
            count = min(2 * count, len(self.texts))
        self.texts, self._chosen = texts, chosen
        return {"sentences": count}

    def prepare(self, batch_size: int) -> dict[str, Any]:
        """Make the batches of the paper's protocol."""
        ids, offsets = np.load(self._task / "ids.npy"), np.load(self._task / "offsets.npy")
        if self._chosen is not None:
            parts = [ids[offsets[i] : offsets[i + 1]] for i in self._chosen]
            ids, offsets = np.concatenate(parts), np.cumsum([0, *map(len, parts)])
        of_texts, of_ids = batches(self.texts, ids, offsets, batch_size)
        forward = self.system.forward(of_texts, of_ids)
        splits = isinstance(self.system, Psp)
        if isinstance(forward, str):
            return {"why": forward, "splits": splits}
        self._forward = forward
        return {"why": None, "splits": splits}

    def fresh(self) -> dict[str, Any]:
        """A new model, its caches empty; the old one's memory is given back before."""
        vars(self.system).pop("model", None)
        gc.collect()
        self.system.load()
        return {}

    def text(self) -> dict[str, Any]:
        """Texts in, vectors out."""

        def run() -> None:
            for start in range(0, len(self.texts), TEXTS_OF_A_CALL):
                self.system.embed(self.texts[start : start + TEXTS_OF_A_CALL])

        return _timed(run)

    def split(self) -> dict[str, Any]:
        """Texts in, ids out, by psp; the model knows what it has seen in the pass before."""
        system = self.system
        assert isinstance(system, Psp)

        def run() -> None:
            for start in range(0, len(self.texts), TEXTS_OF_A_CALL):
                system.model.ids(self.texts[start : start + TEXTS_OF_A_CALL])

        return _timed(run)

    def forward(self) -> dict[str, Any]:
        """One pass of the paper's protocol."""
        assert self._forward is not None
        return _timed(self._forward)


class Memory:
    """Copies memory, and reads it: what a core can have at most."""

    def __init__(self, cores: list[int]) -> None:
        bind(cores)
        self._source = np.ones(COPY_BYTES // 4, np.float32)
        self._target = np.zeros_like(self._source)

    def copy(self) -> dict[str, Any]:
        """Bytes read and written a second."""
        seconds = _timed(lambda: np.copyto(self._target, self._source))["seconds"]
        return {"rate": 2 * COPY_BYTES / seconds}


def _timed(work: Callable[[], Any]) -> dict[str, Any]:
    """Wall-clock and processor seconds; the former as start and end too, on a clock that all processes share."""
    gc.collect()
    cpu, start = _processor_seconds(), time.monotonic()
    work()
    end, cpu = time.monotonic(), _processor_seconds() - cpu
    return {"seconds": end - start, "cpu": cpu, "start": start, "end": end}


def _processor_seconds() -> float:
    # Of this process, and of those that it started and waited for.
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def bind(cores: list[int]) -> None:
    """Bind this process to cores: all threads that there are, and so all that they will start."""
    if not hasattr(os, "sched_setaffinity"):
        return
    tasks = Path("/proc/self/task")
    for thread in [int(entry.name) for entry in tasks.iterdir()] if tasks.is_dir() else [0]:
        os.sched_setaffinity(thread, cores)


def resident() -> int | None:
    """Bytes of memory that this process holds now."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def serve(told: IO[str], said: IO[str]) -> None:
    """Answer commands until there are no more."""
    task = json.loads(sys.argv[1])
    worker = Memory(task["cores"]) if task["name"] == "memory" else Worker(**task)
    print(json.dumps({"ready": True}), file=said, flush=True)
    for line in told:
        command = json.loads(line)
        answer = getattr(worker, command.pop("do"))(**command)
        print(json.dumps(answer), file=said, flush=True)


if __name__ == "__main__":
    # Libraries print: what they write to standard output goes to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(sys.stdin, answers)
