"""How fast a model embeds, beside its peers, by the paper's protocol and end to end.

Two figures, in sentences a second:

- *forward*, the paper's protocol (section 5): ids in, vectors out, with the preprocessing outside the clock; sentences
  sorted by length, in batches of 64.
- *text*, what a user sees: texts in, vectors out, 4,096 texts a call. *cold* is the first pass of a new model whose
  caches are empty, *warm* the pass after it.

Each system is in a process of its own, first bound to one core and then to all, with as many threads in its libraries.
The systems take turns, round by round, so that what else the machine does falls on all of them alike. A rate belongs to
a machine and a minute: it is written with its conditions, and is no output that is compared.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import logging
import statistics
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from psp.errors import PspError
from psp.exports import export
from psp.files import write_json
from psp.model import Model
from psp.modelfolder import CONFIG, model_name
from psp.progress import Progress
from psp.speed.conditions import conditions, load_averages, usable_cores
from psp.speed.process import Broken, Process
from psp.speed.systems import OWN, PEERS, SYSTEMS, TEXTS_OF_A_BATCH, Spec, missing
from psp.store import Side, Store

log = logging.getLogger(__name__)

FORMAT = 1
#: The system whose vectors the others' are compared with, and that several processes run.
REFERENCE, MANY = "psp float32, NumPy", ("psp float32, numba", "psp float32, NumPy")
FORMS = ("static-embedding", "model2vec", "onnx")


def measure_speed(
    model_dir: Path,
    store: Path,
    out: Path,
    chart: Path | None = None,
    *,
    sentences: int = 120_000,
    batch_size: int = 64,
    repeats: int = 5,
    seconds: float = 2.0,
    own: Iterable[str] = OWN,
    peers: Iterable[str] = PEERS,
    exports: Path | None = None,
) -> dict[str, Any]:
    """Measure sentences a second, and write them with their conditions as JSON.

    The sentences are the sources and then the targets of the first pairs of the model's own store, decoded back to
    text. A small store has fewer than were asked for: their number is written, and none is taken twice.

    Args:
        model_dir: the model.
        store: the pairs that it was trained on.
        out: where the JSON goes.
        chart: where a picture of it goes, if anywhere; takes matplotlib.
        sentences: how many, at most.
        batch_size: sentences of a batch, in the paper's protocol.
        repeats: rounds, in each of which every system makes a pass of each kind.
        seconds: about how long a pass may take for systems that do not hold the model's table: they embed as many of
            the sentences as that allows, evenly spread.
        own: of :data:`psp.speed.systems.OWN`, the forms of psp to measure; the first always is.
        peers: of :data:`psp.speed.systems.PEERS`, those to measure beside psp. Those that are not installed are named.
        exports: a folder with exports of this model by their form's name; those that are not there are made for the
            time of the measurement.

    Returns:
        What is written (``psp/schemas/speed.yaml``).

    Raises:
        DataError: model or store are missing, damaged, or do not belong together.
        PspError: psp itself could not be measured.
    """
    model = Model.load(model_dir, accelerate=False)
    with Store(store) as pairs:
        pairs.check_vocabulary(model_dir / "sentencepiece.model")
        count = min(max(sentences // 2, 1), len(pairs))
        block = pairs.read(0, count)
        source = f"the first {count:,} of {len(pairs):,} pairs of its training data: {', '.join(pairs.corpora)}"
    texts = [*_decode(model, block.source), *_decode(model, block.target)]
    ids, offsets = model.ids(texts)
    chosen = {REFERENCE, *own, *peers}
    specs = [spec for spec in SYSTEMS if spec.name in chosen]
    absent = [{"name": spec.name, "why": why} for spec in specs if (why := missing(spec)) is not None]
    specs = [spec for spec in specs if missing(spec) is None]
    before = load_averages()
    with tempfile.TemporaryDirectory(prefix="psp-speed-") as scratch:
        task = Path(scratch)
        (task / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
        np.save(task / "ids.npy", ids)
        np.save(task / "offsets.npy", offsets)
        folders = _folders(model, specs, task, exports, absent)
        cores = usable_cores()
        parts = [cores[:1], cores] if len(cores) > 1 else [cores]
        rows: list[dict[str, Any]] = []
        memory: list[dict[str, Any]] = []
        total = repeats * (3 * len(specs) * len(parts) + 2 * (len(parts) - 1))
        with Progress("measuring speed", "passes", total) as progress:
            for part in parts:
                measured = _Part(specs, part, task, folders, progress, absent, len(texts))
                rows += measured.run(repeats, batch_size, seconds)
                memory.append({"cores": len(part), "copy": rates(measured.copies, "bytes/s")})
            processes = _processes(specs, cores, task, folders, repeats, progress, len(texts))
    mean_pieces = len(ids) / len(texts)
    for row in rows:
        _add_gathered(row, model, mean_pieces, memory)
    result = {
        "format": FORMAT,
        "model": model_name(model_dir),
        "sentences": len(texts),
        "asked": sentences,
        "source": source,
        "systems": rows,
        "missing": _once(absent),
        "processes": processes,
        "memory": memory,
        "conditions": conditions(model, texts, ids, batch_size=batch_size, repeats=repeats, load_before=before),
    }
    write_json(out, result)
    if chart is not None:
        from psp.speed.chart import draw

        draw(result, chart)
    for row in rows:
        log.info("%s", _line(row))
    return result


def rates(values: list[float], unit: str = "sentences/s") -> dict[str, Any]:
    """Median, least and most of the passes, and each of them in their order."""
    passes = [round(value, 1) for value in values]
    median = round(statistics.median(passes), 1)
    return {"median": median, "min": min(passes), "max": max(passes), "passes": passes, "unit": unit}


class _Part:
    """All systems, bound to the same cores."""

    def __init__(
        self,
        specs: list[Spec],
        cores: list[int],
        task: Path,
        folders: dict[str, Path],
        progress: Progress,
        absent: list[dict[str, str]],
        sentences: int,
    ) -> None:
        self._specs, self._cores, self._task, self._sentences = specs, cores, task, sentences
        self._folders, self._progress, self._absent = folders, progress, absent
        self.copies: list[float] = []

    def run(self, repeats: int, batch_size: int, seconds: float) -> list[dict[str, Any]]:
        """The rows of the systems."""
        with contextlib.ExitStack() as stack:
            memory = stack.enter_context(Process("memory", self._cores))
            memory.wait()
            started = [(spec, stack.enter_context(self._process(spec))) for spec in self._specs]
            systems = [
                system
                for spec, process in started
                if (system := self._begun(spec, process, batch_size, seconds)) is not None
            ]
            for _ in range(repeats):
                self.copies.append(memory.ask("copy")["rate"])
                for system in list(systems):
                    if not self._safely(system.spec, system.round):
                        systems.remove(system)
                    self._progress.add(3)
        return [system.row(len(self._cores)) for system in systems]

    def _process(self, spec: Spec) -> Process:
        return Process(spec.name, self._cores, folder=str(self._folders.get(spec.name, "")), task=str(self._task))

    def _begun(self, spec: Spec, process: Process, batch_size: int, seconds: float) -> _System | None:
        system = _System(spec, process, self._sentences)
        return system if self._safely(spec, lambda: system.begin(self._task, batch_size, seconds)) else None

    def _safely(self, spec: Spec, work: Any) -> bool:
        """Do it; where a peer breaks, say so and go on without it."""
        try:
            work()
        except Broken as error:
            if spec.kind == "psp":
                raise
            log.warning("%s", error)
            self._absent.append({"name": spec.name, "why": str(error)})
            return False
        return True


class _System:
    """A system while it is measured."""

    def __init__(self, spec: Spec, process: Process, sentences: int) -> None:
        self.spec, self._process, self._sentences = spec, process, sentences
        self._passes: dict[str, list[dict[str, float]]] = {"cold": [], "warm": [], "split": [], "forward": []}
        self._why: str | None = None

    def begin(self, task: Path, batch_size: int, seconds: float) -> None:
        """Load it for the first time, and get it ready."""
        self._process.wait()
        self._loaded = self._process.ask("load")
        self._vectors: np.ndarray | None = None
        if self.spec.table:
            path = task / f"{self.spec.name}.npy"
            self._process.ask("vectors", out=str(path))
            self._vectors = np.load(path)
        if not self.spec.table:
            self._sentences = self._process.ask("sample", seconds=seconds)["sentences"]
        prepared = self._process.ask("prepare", batch_size=batch_size)
        self._why, self._splits = prepared["why"], prepared["splits"]
        self._reference = np.load(task / f"{REFERENCE}.npy") if self.spec.table else None

    def round(self) -> None:
        """A pass of each kind."""
        self._process.ask("fresh")
        self._passes["cold"].append(self._process.ask("text"))
        self._passes["warm"].append(self._process.ask("text"))
        if self._splits:
            self._passes["split"].append(self._process.ask("split"))
        if self._why is None:
            self._passes["forward"].append(self._process.ask("forward"))

    def row(self, cores: int) -> dict[str, Any]:
        """What is written of it."""

        def of(kind: str) -> dict[str, Any] | None:
            passes = self._passes[kind]
            return rates([self._sentences / one["seconds"] for one in passes]) if passes else None

        every = [one for passes in self._passes.values() for one in passes]
        return {
            "name": self.spec.name,
            "cores": cores,
            "backend": self.spec.backend,
            "dtype": self.spec.dtype if self.spec.table else None,
            "dim": self._loaded["dim"],
            "texts_of_a_batch": TEXTS_OF_A_BATCH.get(self.spec.kind),
            "sentences": self._sentences,
            "agreement": None if self._vectors is None else _agreement(self._vectors, self._reference),
            "load_seconds": round(self._loaded["seconds"], 4),
            "resident_bytes": self._loaded["rss"],
            "cold": of("cold"),
            "warm": of("warm"),
            "split": of("split"),
            "forward": of("forward"),
            "no_forward": self._why,
            "busy_cores": round(statistics.median(one["cpu"] / one["seconds"] for one in every), 3),
        }


def _processes(
    specs: list[Spec],
    cores: list[int],
    task: Path,
    folders: dict[str, Path],
    repeats: int,
    progress: Progress,
    sentences: int,
) -> dict[str, Any] | None:
    """As many processes as cores, each bound to one, beside one alone in the same rounds; None on a single core."""
    names = [spec.name for spec in specs]
    name = next(name for name in MANY if name in names)
    if len(cores) < 2:
        return None
    alone, together = [], []
    with contextlib.ExitStack() as stack:
        workers = [
            stack.enter_context(Process(name, [core], folder=str(folders[name]), task=str(task))) for core in cores
        ]
        for worker in workers:
            worker.wait()
            worker.ask("load")
            worker.ask("text")
        for number in range(repeats):
            # Cores may differ: each is the one that works alone in its turn.
            alone.append(sentences / workers[number % len(workers)].ask("text")["seconds"])
            for worker in workers:
                worker.tell("text")
            done = [worker.answer() for worker in workers]
            seconds = max(one["end"] for one in done) - min(one["start"] for one in done)
            together.append(len(workers) * sentences / seconds)
            progress.add(2)
    one, several = rates(alone), rates(together)
    share = several["median"] / (len(cores) * one["median"])
    return {"name": name, "processes": len(cores), "one": one, "all": several, "efficiency": round(share, 3)}


def _folders(
    model: Model, specs: list[Spec], task: Path, exports: Path | None, absent: list[dict[str, str]]
) -> dict[str, Path]:
    """What each system loads, by its name; what cannot be exported is moved from ``specs`` to ``absent``."""
    made: dict[str, Path] = {}
    for spec in list(specs):
        if spec.form is None:
            continue
        folder = task / spec.form
        if spec.form in FORMS:
            if exports is not None and (exports / spec.form).is_dir():
                made[spec.name] = exports / spec.form
                continue
            try:
                export(spec.form, model, folder, [])
            except PspError as error:
                specs.remove(spec)
                absent.append({"name": spec.name, "why": str(error)})
                continue
            if spec.form == "onnx":
                write_json(folder / CONFIG, model.config)
        elif not folder.exists():
            model.quantized(spec.form).save(folder)
        made[spec.name] = folder
    return made


def _add_gathered(row: dict[str, Any], model: Model, mean_pieces: float, memory: list[dict[str, Any]]) -> None:
    """Bytes of the table's rows that the forward pass reads a second, and their share of what copying moves."""
    row["gathered"] = row["of_copy"] = None
    if row["dtype"] is None or row["forward"] is None:
        return
    size = np.dtype(row["dtype"]).itemsize
    copy = next(one["copy"]["median"] for one in memory if one["cores"] == row["cores"])
    row["gathered"] = round(row["forward"]["median"] * mean_pieces * model.dim * size)
    row["of_copy"] = round(row["gathered"] / copy, 3)


def _agreement(vectors: np.ndarray, reference: np.ndarray | None) -> float:
    """Mean cosine of two systems' vectors of the same sentences."""
    assert reference is not None
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(reference, axis=1)
    dots = np.einsum("ij,ij->i", vectors, reference, dtype=np.float64)
    return round(float(np.mean(dots[norms > 0] / norms[norms > 0])), 6) if (norms > 0).any() else 0.0


def _decode(model: Model, side: Side) -> list[str]:
    ids, offsets = side.ids.tolist(), side.offsets.tolist()
    decoded: list[str] = model.sentencepiece.decode([ids[start:stop] for start, stop in itertools.pairwise(offsets)])
    return decoded


def _once(absent: list[dict[str, str]]) -> list[dict[str, str]]:
    """Each missing system once, for the first reason."""
    found: dict[str, dict[str, str]] = {}
    for one in absent:
        found.setdefault(one["name"], one)
    return list(found.values())


def _line(row: dict[str, Any]) -> str:
    forward = f", forward {row['forward']['median']:,.0f}" if row["forward"] else ""
    return (
        f"{row['name']} on {row['cores']} cores: text {row['cold']['median']:,.0f} cold, "
        f"{row['warm']['median']:,.0f} warm{forward} sentences/s"
    )
