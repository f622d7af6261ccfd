"""A process that holds one system and times it: ``python -m psp.evaluation.speed.worker '{...}'``.

It reads commands on standard input and answers on standard output, one line of JSON each. The environment limits the
threads of libraries before they are imported (:func:`psp.evaluation.speed.process.limits`); all threads are bound to
the given cores.
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

from psp.evaluation.speed.systems import KINDS, Forward, Psp, batches, named

COPY_BYTES = 256 << 20  # more than the caches hold
COMPARED = 1000  # sentences whose vectors are compared with psp's
#: Texts per call. Vectors are freed before the next call: keeping them would measure how fast the system provides fresh
#: memory (491 MB took from 0.1 to 1.5 s on one virtual machine).
TEXTS_OF_A_CALL = 4096


class Worker:
    """Holds one system.

    Args:
        name: its name in :data:`psp.evaluation.speed.systems.SYSTEMS`.
        folder: the model that it loads.
        task: a folder with texts.json, and ids.0.npy and offsets.0.npy, of each part of a combination from 0.
        cores: the cores that it is bound to.
    """

    def __init__(self, name: str, folder: str, task: str, cores: list[int]) -> None:
        self._spec, self._task, self._cores = named(name), Path(task), cores
        # Import libraries on all cores, which is faster and not timed.
        self.system = KINDS[self._spec.kind](self._spec, Path(folder), len(cores))
        bind(cores)
        self.texts: list[str] = []
        self._chosen: np.ndarray | None = None
        self._forward: Forward | None = None

    def load(self) -> dict[str, Any]:
        """Time from imported libraries to the first vector."""
        start = time.perf_counter()
        self.system.load()
        vectors = self.system.embed(["a red car"])
        seconds, rss = time.perf_counter() - start, resident()
        self.texts = json.loads((self._task / "texts.json").read_text(encoding="utf-8"))
        return {"seconds": seconds, "rss": rss, "dim": vectors.shape[1]}

    def vectors(self, out: str) -> dict[str, Any]:
        """Write the vectors of the first sentences, for comparison."""
        np.save(out, np.asarray(self.system.embed(self.texts[:COMPARED]), np.float32))
        return {}

    def sample(self, seconds: float) -> dict[str, Any]:
        """Reduce the sentences, evenly spread, to as many as take about ``seconds``: 64, doubled while they fit."""
        count = min(len(self.texts), 64)
        while True:
            chosen = np.linspace(0, len(self.texts), count, endpoint=False).astype(int)
            texts = [self.texts[i] for i in chosen]
            start = time.monotonic()
            self.system.embed(texts)
            # Do not extrapolate: time may grow more than linearly, and the machine may slow down.
            if count == len(self.texts) or time.monotonic() - start > seconds / 2:
                break
            count = min(2 * count, len(self.texts))
        self.texts, self._chosen = texts, chosen
        return {"sentences": count}

    def prepare(self, batch_size: int) -> dict[str, Any]:
        """Prepare the batches of the paper's protocol."""
        streams = []
        for number in range(len(list(self._task.glob("ids.*.npy")))):
            ids, offsets = (np.load(self._task / f"{name}.{number}.npy") for name in ("ids", "offsets"))
            if self._chosen is not None:
                parts = [ids[offsets[i] : offsets[i + 1]] for i in self._chosen]
                ids, offsets = np.concatenate(parts), np.cumsum([0, *map(len, parts)])
            streams.append((ids, offsets))
        of_texts, of_ids = batches(self.texts, streams, batch_size)
        forward = self.system.forward(of_texts, of_ids)
        self._forward = None if isinstance(forward, str) else forward
        why = forward if isinstance(forward, str) else None
        return {"why": why, "splits": isinstance(self.system, Psp)}

    def fresh(self) -> dict[str, Any]:
        """Reload the model with empty caches, after freeing the old one's memory."""
        vars(self.system).pop("model", None)
        gc.collect()
        self.system.load()
        return {}

    def text(self) -> dict[str, Any]:
        """Time a pass from texts to vectors."""
        return self._passed(self.system.embed)

    def split(self) -> dict[str, Any]:
        """Time psp's pass from texts to ids, with caches from the pass before."""
        assert isinstance(self.system, Psp)
        return self._passed(self.system.split)

    def _passed(self, work: Callable[[list[str]], Any]) -> dict[str, Any]:
        def run() -> None:
            for start in range(0, len(self.texts), TEXTS_OF_A_CALL):
                work(self.texts[start : start + TEXTS_OF_A_CALL])

        return _timed(run)

    def forward(self) -> dict[str, Any]:
        """Time a pass of the paper's protocol."""
        assert self._forward is not None
        return _timed(self._forward)


class Memory:
    """Measures memory bandwidth by copying, as an upper bound."""

    def __init__(self, cores: list[int]) -> None:
        bind(cores)
        self._source = np.ones(COPY_BYTES // 4, np.float32)
        self._target = np.zeros_like(self._source)

    def copy(self) -> dict[str, Any]:
        """Return the bytes read and written per second."""
        seconds = _timed(lambda: np.copyto(self._target, self._source))["seconds"]
        return {"rate": 2 * COPY_BYTES / seconds}


def _timed(work: Callable[[], Any]) -> dict[str, Any]:
    """Measure wall-clock and CPU seconds; also start and end, on a clock shared by all processes."""
    gc.collect()
    cpu, start = _processor_seconds(), time.monotonic()
    work()
    end, cpu = time.monotonic(), _processor_seconds() - cpu
    return {"seconds": end - start, "cpu": cpu, "start": start, "end": end}


def _processor_seconds() -> float:
    # Of this process and its finished children.
    times = os.times()
    return time.process_time() + times.children_user + times.children_system


def bind(cores: list[int]) -> None:
    """Bind all threads of this process, and thus those that they will start, to cores."""
    if not hasattr(os, "sched_setaffinity"):
        return
    tasks = Path("/proc/self/task")
    for thread in [int(entry.name) for entry in tasks.iterdir()] if tasks.is_dir() else [0]:
        os.sched_setaffinity(thread, cores)


def resident() -> int | None:
    """Return the resident memory of this process, in bytes."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def serve(told: IO[str], answers: IO[str]) -> None:
    """Answer commands until end of file."""
    task = json.loads(sys.argv[1])
    worker = Memory(task["cores"]) if task["name"] == "memory" else Worker(**task)
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in told:
        command = json.loads(line)
        answer = getattr(worker, command.pop("do"))(**command)
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    # Redirect what libraries print from standard output to standard error.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(sys.stdin, answers)
