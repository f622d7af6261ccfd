"""Measure the embedding speed of a model and of other systems, by the paper's protocol and end to end.

It has two figures, in sentences per second:

- *forward*, the paper's protocol (section 7): ids in, vectors out, excluding preprocessing; sentences sorted by length,
  in batches of 64.
- *text*, what a user sees: texts in, vectors out, 4,096 texts per call. *cold* is the first pass of a new model with
  empty caches, *warm* the pass after it.

Each system runs in its own process, bound first to one core and then to all, with as many threads in its libraries.
Systems take turns in rounds, so that other load on the machine affects all of them alike. A rate is only valid for a
machine and a moment: it is written with its conditions, and is not a reproducible output.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import statistics
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, Literal, TypedDict, cast

import numpy as np

from psp.core.errors import DataError, PspError
from psp.core.files import open_regular, write_json
from psp.core.machine import gpu, load_averages, processor, usable_cores, versions
from psp.core.progress import Progress
from psp.core.version import __version__
from psp.evaluation.speed.process import THREAD_VARIABLES, Broken, Process
from psp.evaluation.speed.settings import SECTION
from psp.evaluation.speed.systems import OWN, PEERS, SYSTEMS, TEXTS_OF_A_BATCH, Ids, Spec, missing, named
from psp.models.combined import parts_of
from psp.models.exports import export
from psp.models.files import CONFIG
from psp.models.folder import model_name
from psp.models.kinds import load
from psp.models.registry import SENTENCE_TRANSFORMERS
from psp.models.similarity import cosines
from psp.models.text_model import TextModel
from psp.pairs.store import Store
from psp.text.lines import read_lines
from psp.text.parts_tokenizer import PartsTokenizer
from psp.text.tokenizer import Tokenizer


class SpeedFigures(TypedDict):
    median: float  # median over the passes, per second
    min: float  # slowest pass, per second
    max: float  # fastest pass, per second
    passes: list[float]  # each pass, in order
    unit: Literal["sentences/s", "bytes/s"]  # the unit of all rates


class SpeedSystem(TypedDict):
    name: str  # the system
    cores: int  # cores it was bound to, and threads of each of its libraries
    backend: str  # the library that did the work
    # number format of the embedding matrix; null for a system with another model
    dtype: Literal["float32", "float16", "int8"] | None
    dim: int  # length of its vectors
    texts_of_a_batch: int | None  # batch size for text input; null for all texts at once
    sentences: int  # sentences per pass; if fewer than all, evenly spread over them
    # mean cosine with psp's float32 vectors on the first 1,000; null for a system with another model
    agreement: float | None
    load_seconds: float  # time from imported libraries to the first vector, with files in the page cache
    resident_bytes: int | None  # resident memory of the process at that point; null if the system does not report it
    cold: SpeedFigures  # text in, vectors out, by a freshly loaded model with empty caches
    warm: SpeedFigures  # the same in the next pass
    split: SpeedFigures | None  # text in, ids out, after the warm pass; null for all systems but psp
    forward: SpeedFigures | None  # the paper's protocol, ids in and vectors out; null if the system does not support it
    no_forward: str | None  # why forward is null
    busy_cores: float  # CPU seconds per second, median over all passes; low if other work used the cores
    gathered: float | None  # bytes of embeddings that the forward pass read per second
    of_copy: float | None  # gathered divided by the rate of copying; above 1 if embeddings were in a cache


class SpeedMissing(TypedDict):
    name: str  # the system
    why: str  # the reason, such as a package that is not installed


class SpeedProcesses(TypedDict):
    name: str  # the system they run
    processes: int  # number of processes
    one: SpeedFigures  # one process, while the others wait
    all: SpeedFigures  # all processes together
    efficiency: float  # the rate of all, divided by the rate of one times the number of processes


class SpeedMemory(TypedDict):
    cores: int  # cores the process was bound to; one thread copies
    copy: SpeedFigures  # bytes read and written per second by a plain copy of 256 MiB


class SpeedConditions(TypedDict):
    """Conditions that affect the rates."""

    cpu: str  # the processor's name
    gpu: str | None  # the GPU's name; null if the system reports none
    cores: int | None  # logical cores of the machine; null if the system does not report them
    usable_cores: int  # logical cores available to the measurement
    load_before: list[float] | None  # load averages before the measurement, over 1, 5 and 15 minutes
    load_after: list[float] | None  # load averages after the measurement, over 1, 5 and 15 minutes
    threads_limited_by: str  # how systems are limited to their cores
    batch_size: int  # batch size in the paper's protocol
    repeats: int  # rounds; in each, every system made one pass of each kind
    dim: int  # length of the model's vectors
    vocab_size: int  # rows of the model's embedding matrix; of a combination, of those of all parts
    rows_in_use: int  # those of them that occur in the sentences
    mean_pieces: float  # mean sentence length in pieces; of a combination, in those of all parts
    mean_characters: float  # mean sentence length in characters
    segmented: bool  # whether the model, or a part of it, segments text with Han ideographs
    versions: dict[str, str]  # package versions, by package name


class SpeedReport(TypedDict):
    """Embedding speed of a model and of other systems, with the measurement conditions."""

    format: int
    model: str
    sentences: int  # sentences measured; systems with the model's embedding matrix embed all of them in each pass
    asked: int  # sentences requested; a small store has fewer
    source: str  # where the sentences come from
    systems: list[SpeedSystem]  # the systems measured, first on one core, then on all
    missing: list[SpeedMissing]  # systems that were requested but could not be measured
    # one process per core, each bound to its core and embedding all sentences; null on a single core
    processes: SpeedProcesses | None
    memory: list[SpeedMemory]  # memory bandwidth, for each number of cores
    conditions: SpeedConditions


log = logging.getLogger(__name__)

FORMAT: Final = 1
#: The system with whose vectors the others' are compared, and the candidates for the test with several processes.
REFERENCE, MANY = "psp float32, NumPy", ("psp float32, numba", "psp float32, NumPy")
FORMS = ("static-embedding", "onnx")


def measure_speed(
    model_dir: Path,
    store: Path,
    out: Path,
    *,
    sentences: int | str | Path = SECTION["sentences"].default,
    batch_size: int = SECTION["batch_size"].default,
    repeats: int = SECTION["repeats"].default,
    seconds: float = SECTION["seconds"].default,
    own: Iterable[str] = OWN,
    peers: Iterable[str] = PEERS,
    exports: Path | None = None,
) -> SpeedReport:
    """Measure sentences per second, and write them with their conditions as JSON.

    The sentences are those of a file; or the sources and then the targets of the first pairs of the model's training
    store, decoded back to text. A small store may have fewer than requested: the actual number is written, and none is
    used twice.

    Args:
        model_dir: the model, which may be a combination.
        store: its training pairs; for models joined after training, those of the first.
        out: path of the JSON file.
        sentences: maximum number of sentences; or a file, one a line, of which blank lines are left out.
        batch_size: batch size in the paper's protocol.
        repeats: number of rounds; in each, every system makes a pass of each kind.
        seconds: approximate time per pass for systems other than the model's own embeddings: they embed as many of the
            sentences, evenly spread, as fit into it.
        own: forms of psp to measure, of :data:`psp.evaluation.speed.systems.OWN`; the first is always measured.
        peers: other systems to measure (:func:`psp.evaluation.speed.systems.named`). Those not installed are listed.
        exports: a folder with exports of this model by format name; missing ones are made temporarily.

    Returns:
        What is written.

    Raises:
        DataError: the model or the store is missing or damaged, or they do not match.
        PspError: psp itself could not be measured.
    """
    model = load(model_dir, accelerate=False)
    texts, source = (
        _of_file(Path(sentences)) if isinstance(sentences, (str, Path)) else _of_store(model, store, sentences)
    )
    streams = [part.ids(texts) for part in parts_of(model)]
    chosen = {REFERENCE, *own, *peers}
    listed = [*SYSTEMS, *(named(peer) for peer in peers if peer.startswith(SENTENCE_TRANSFORMERS))]
    reasons = {spec: missing(spec, model) for spec in listed if spec.name in chosen}
    absent = [{"name": spec.name, "why": why} for spec, why in reasons.items() if why is not None]
    specs = [spec for spec, why in reasons.items() if why is None]
    before = load_averages()
    with tempfile.TemporaryDirectory(prefix="psp-speed-") as scratch:
        task = Path(scratch)
        (task / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
        for number, (ids, offsets) in enumerate(streams):
            np.save(task / f"ids.{number}.npy", ids)
            np.save(task / f"offsets.{number}.npy", offsets)
        folders = _folders(model, specs, task, exports, absent)
        cores = usable_cores()
        parts = [cores[:1], cores] if len(cores) > 1 else [cores]
        rows: list[dict[str, Any]] = []
        memory: list[dict[str, Any]] = []
        total = repeats * (3 * len(specs) * len(parts) + 2 * (len(parts) - 1))
        with Progress("measuring speed", "passes", total) as progress:
            for part in parts:
                with contextlib.ExitStack() as stack:
                    copying = stack.enter_context(Process("memory", part))
                    copying.wait()
                    systems = []
                    for spec in specs:
                        folder = str(folders.get(spec.name, ""))
                        process = stack.enter_context(Process(spec.name, part, folder=folder, task=scratch))
                        systems.append(_System(spec, process, task, len(texts), batch_size, seconds))
                    copies = _measured(systems, copying, repeats, progress, absent)
                rows += [system.row(len(part)) for system in systems]
                memory.append({"cores": len(part), "copy": rates(copies, "bytes/s")})
            processes = _processes(specs, cores, task, folders, repeats, progress, len(texts))
    # The numbers of the embeddings that a sentence's vector is made of, on average.
    gathered = sum(len(ids) * part.table.dim for part, (ids, _) in zip(parts_of(model), streams, strict=True)) / len(
        texts
    )
    for row in rows:
        _add_gathered(row, gathered, memory)
    result: dict[str, Any] = {
        "format": FORMAT,
        "model": model_name(model_dir),
        "sentences": len(texts),
        "asked": sentences if isinstance(sentences, int) else len(texts),
        "source": source,
        "systems": rows,
        "missing": _once(absent),
        "processes": processes,
        "memory": memory,
        "conditions": _conditions(model, texts, streams, batch_size=batch_size, repeats=repeats, load_before=before),
    }
    write_json(out, result)
    for row in rows:
        log.info("%s", _line(row))
    return cast("SpeedReport", result)


def _of_file(path: Path) -> tuple[list[str], str]:
    try:
        with open_regular(path) as file:
            texts = [line for line in read_lines(file, path) if line.strip()]
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    if not texts:
        raise DataError("no sentences; write one a line", path)
    return texts, f"{len(texts):,} sentences of {path}"


def _of_store(model: TextModel, store: Path, sentences: int) -> tuple[list[str], str]:
    with Store(store) as pairs:
        tokenizer = _tokenizer(model, pairs)
        pairs.check_vocabulary(tokenizer)
        count = min(max(sentences // 2, 1), len(pairs))
        block = pairs.read(0, count)
        source = f"the first {count:,} of {len(pairs):,} pairs of its training data: {', '.join(pairs.corpora)}"
    return [text for side in (block.source, block.target) for text in tokenizer.decode(side)], source


def rates(values: list[float], unit: str = "sentences/s") -> dict[str, Any]:
    """Return median, minimum and maximum of the passes, and all of them in order."""
    passes = [round(value, 1) for value in values]
    median = round(statistics.median(passes), 1)
    return {"median": median, "min": min(passes), "max": max(passes), "passes": passes, "unit": unit}


def _tokenizer(model: TextModel, pairs: Store) -> Tokenizer:
    """Return the tokenizer of a store: the model's; for a combination, its first part's, or all if trained together."""
    tokenizers = [part.tokenizer for part in parts_of(model)]
    if pairs.attributes.get("tokenizer") == PartsTokenizer.name_on_disk() and len(tokenizers) > 1:
        return PartsTokenizer(tokenizers)
    return tokenizers[0]


def _measured(
    systems: list[_System], memory: Process, repeats: int, progress: Progress, absent: list[dict[str, str]]
) -> list[float]:
    """Measure systems in rounds, and return the rates of copying memory, measured in between.

    Systems other than psp that fail are logged, added to ``absent``, and taken from ``systems``.
    """

    def each(work: Callable[[_System], None]) -> None:
        for system in list(systems):
            try:
                work(system)
            except Broken as error:
                if system.spec.kind == "psp":
                    raise
                log.warning("%s", error)
                absent.append({"name": system.spec.name, "why": str(error)})
                systems.remove(system)

    each(_System.begin)
    copied = []
    for _ in range(repeats):
        copied.append(memory.ask("copy")["rate"])
        progress.add(3 * len(systems))
        each(_System.round)
    return copied


class _System:
    """A system being measured."""

    def __init__(
        self, spec: Spec, process: Process, task: Path, sentences: int, batch_size: int, seconds: float
    ) -> None:
        self.spec, self._process, self._task, self._sentences = spec, process, task, sentences
        self._batch_size, self._seconds = batch_size, seconds
        self._passes: dict[str, list[dict[str, float]]] = {"cold": [], "warm": [], "split": [], "forward": []}
        self._why: str | None = None

    def begin(self) -> None:
        """Load the system for the first time, and prepare it."""
        self._process.wait()
        self._loaded = self._process.ask("load")
        self._agreement: float | None = None
        if self.spec.table:
            path = self._task / f"{self.spec.name}.npy"
            self._process.ask("vectors", out=str(path))
            self._agreement = _agreement(np.load(path), np.load(self._task / f"{REFERENCE}.npy"))
        else:
            self._sentences = self._process.ask("sample", seconds=self._seconds)["sentences"]
        prepared = self._process.ask("prepare", batch_size=self._batch_size)
        self._why, self._splits = prepared["why"], prepared["splits"]

    def round(self) -> None:
        """Make a pass of each kind."""
        self._process.ask("fresh")
        self._passes["cold"].append(self._process.ask("text"))
        self._passes["warm"].append(self._process.ask("text"))
        if self._splits:
            self._passes["split"].append(self._process.ask("split"))
        if self._why is None:
            self._passes["forward"].append(self._process.ask("forward"))

    def row(self, cores: int) -> dict[str, Any]:
        """Return the row for speed.json."""

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
            "agreement": self._agreement,
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
    """Measure one process per core, each bound to its core, against a single one; None on a single core."""
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
            # Cores may differ: take turns at working alone.
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
    model: TextModel, specs: list[Spec], task: Path, exports: Path | None, absent: list[dict[str, str]]
) -> dict[str, Path]:
    """Return what each system loads, by name; move systems that cannot be exported from ``specs`` to ``absent``."""
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
                if not folder.exists():  # another system may load the same form
                    exported(spec.form, model, folder)
            except PspError as error:
                specs.remove(spec)
                absent.append({"name": spec.name, "why": str(error)})
                continue
        elif not folder.exists():
            model.quantized(spec.form).save(folder)
        made[spec.name] = folder
    return made


def exported(form: str, model: TextModel, folder: Path) -> None:
    """Write an export as its system loads it; the ONNX system also needs to know which parts lower-case text.

    Raises:
        PspError: the model cannot be exported to this format, or a library is missing.
    """
    export(form, model, folder, [])
    if form == "onnx":
        parts = [{"lower_case": part.tokenizer.lower_case} for part in parts_of(model)]
        write_json(folder / CONFIG, {"parts": parts})


def _conditions(
    model: TextModel,
    texts: list[str],
    streams: Sequence[Ids],
    *,
    batch_size: int,
    repeats: int,
    load_before: list[float] | None,
) -> dict[str, Any]:
    """Collect the conditions, as in speed.json; ``streams`` are the texts' ids and offsets by each part."""
    parts = parts_of(model)
    return {
        "cpu": processor(),
        "gpu": gpu(),
        "cores": os.cpu_count(),
        "usable_cores": len(usable_cores()),
        "load_before": load_before,
        "load_after": load_averages(),
        "threads_limited_by": f"affinity of all threads, and {', '.join(THREAD_VARIABLES)}",
        "batch_size": batch_size,
        "repeats": repeats,
        "dim": model.dim,
        "vocab_size": sum(part.vocab_size for part in parts),
        "rows_in_use": sum(len(np.unique(ids)) for ids, _ in streams),
        "mean_pieces": round(sum(len(ids) for ids, _ in streams) / len(texts), 3),
        "mean_characters": round(sum(map(len, texts)) / len(texts), 3),
        "segmented": any(bool(part.config.get("segment")) for part in parts),
        "versions": {"psp": __version__, "python": platform.python_version(), **versions()},
    }


def _add_gathered(row: dict[str, Any], numbers: float, memory: list[dict[str, Any]]) -> None:
    """Add the bytes of embeddings that the forward pass reads per second, also as a share of the copying speed."""
    row["gathered"] = row["of_copy"] = None
    if row["dtype"] is None or row["forward"] is None:
        return
    size = np.dtype(row["dtype"]).itemsize
    copy = next(one["copy"]["median"] for one in memory if one["cores"] == row["cores"])
    row["gathered"] = round(row["forward"]["median"] * numbers * size)
    row["of_copy"] = round(row["gathered"] / copy, 3)


def _agreement(vectors: np.ndarray, reference: np.ndarray) -> float:
    """Return the mean cosine of two systems' vectors of the same sentences."""
    there = vectors.any(axis=1) & reference.any(axis=1)
    return round(float(np.mean(cosines(vectors[there], reference[there]))), 6) if there.any() else 0.0


def _once(absent: list[dict[str, str]]) -> list[dict[str, str]]:
    """Keep each missing system once, with the first reason."""
    by_name: dict[str, dict[str, str]] = {}
    for one in absent:
        by_name.setdefault(one["name"], one)
    return list(by_name.values())


def _line(row: dict[str, Any]) -> str:
    forward = f", forward {row['forward']['median']:,.0f}" if row["forward"] else ""
    return (
        f"{row['name']} on {row['cores']} cores: text {row['cold']['median']:,.0f} cold, "
        f"{row['warm']['median']:,.0f} warm{forward} sentences/s"
    )
