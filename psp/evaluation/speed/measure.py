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
import logging
import os
import platform
import statistics
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, Literal, TypedDict, cast

import numpy as np

from psp.config.blocks.evaluation import SpeedBlock
from psp.core import __version__
from psp.core.errors import DataError, PspError
from psp.core.files import open_regular, write_json
from psp.core.logs import Progress
from psp.core.machine import gpu, load_averages, processor, usable_cores, versions
from psp.evaluation.speed.systems import OWN, PEERS, SYSTEMS, TEXTS_OF_A_BATCH, Spec, missing, named
from psp.evaluation.speed.worker import Broken, Process, write_sentences
from psp.models import CONFIG
from psp.models.combined import parts_of
from psp.models.cosines import cosines
from psp.models.exports import export
from psp.models.folder import load, model_name
from psp.models.registry import SENTENCE_TRANSFORMERS
from psp.models.text_model import TextModel
from psp.pairs.store import Store
from psp.text.lines import read_lines
from psp.text.parts_tokenizer import PartsTokenizer


class SpeedFigures(TypedDict):
    """Sentences per second."""

    median: float  # median over the passes
    min: float  # slowest pass
    max: float  # fastest pass
    passes: list[float]  # each pass, in order


class SpeedSystem(TypedDict):
    name: str  # the system
    cores: int  # cores it was bound to, and threads of each of its libraries
    backend: str  # the library that did the work
    # number format of the embedding matrix; null for a system with another model
    dtype: Literal["float32", "float16", "int8"] | None
    texts_of_a_batch: int | None  # batch size for text input; null for all texts at once
    # mean cosine with psp's float32 vectors on the first 1,000; null for a system with another model
    agreement: float | None
    dim: int  # length of its vectors
    load_seconds: float  # time from imported libraries to the first vector, with files in the page cache
    sentences: int  # sentences per pass; if fewer than all, evenly spread over them
    cold: SpeedFigures  # text in, vectors out, by a freshly loaded model with empty caches
    warm: SpeedFigures  # the same in the next pass
    forward: SpeedFigures | None  # the paper's protocol, ids in and vectors out; null if the system does not support it
    no_forward: str | None  # why forward is null


class SpeedMissing(TypedDict):
    name: str  # the system
    why: str  # the reason, such as a package that is not installed


class SpeedConditions(TypedDict):
    """Conditions that affect the rates."""

    cpu: str  # the processor's name
    gpu: str | None  # the GPU's name; null if the system reports none
    cores: int | None  # logical cores of the machine; null if the system does not report them
    load_before: list[float] | None  # load averages before the measurement, over 1, 5 and 15 minutes
    load_after: list[float] | None  # load averages after the measurement, over 1, 5 and 15 minutes
    batch_size: int  # batch size in the paper's protocol
    repeats: int  # rounds; in each, every system made one pass of each kind
    dim: int  # length of the model's vectors
    vocab_size: int  # rows of the model's embedding matrix; of a combination, of those of all parts
    mean_pieces: float  # mean sentence length in pieces; of a combination, in those of all parts
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
    conditions: SpeedConditions


log = logging.getLogger(__name__)
DEFAULTS = SpeedBlock()

FORMAT: Final = 1
#: The system with whose vectors the others' are compared.
REFERENCE = "psp float32, NumPy"


def measure_speed(
    model_dir: Path,
    store: Path,
    out: Path,
    *,
    sentences: int | str | Path = DEFAULTS.sentences,
    batch_size: int = DEFAULTS.batch_size,
    repeats: int = DEFAULTS.repeats,
    seconds: float = DEFAULTS.seconds,
    own: Iterable[str] = OWN,
    peers: Iterable[str] = PEERS,
) -> SpeedReport:
    """Measure sentences per second, and write them with their conditions as JSON.

    The sentences are those of a file; or the sources and then the targets of the first pairs of the model's training
    store, decoded back to text. A small store may have fewer than requested: the actual number is written, and none is
    used twice.

    Args:
        store: the model's training pairs; for models joined after training, those of the first.
        sentences: maximum number of sentences; or a file, one a line, of which blank lines are left out.
        seconds: approximate time per pass for systems other than the model's own embeddings: they embed as many of the
            sentences, evenly spread, as fit into it.
        own: forms of psp to measure, of :data:`psp.evaluation.speed.systems.OWN`; the first is always measured.
        peers: other systems to measure (:func:`psp.evaluation.speed.systems.named`). Those not installed are listed.

    Raises:
        DataError: the model or the store is missing or damaged, or they do not match.
        PspError: psp itself could not be measured.
    """
    model = load(model_dir, accelerate=False)
    texts, source = (
        _of_file(Path(sentences)) if isinstance(sentences, (str, Path)) else _of_store(model, store, sentences)
    )
    streams = [part.ids(texts) for part in parts_of(model)]
    requested = {REFERENCE, *own, *peers}
    listed = [*SYSTEMS, *(named(peer) for peer in peers if peer.startswith(SENTENCE_TRANSFORMERS))]
    reasons = {spec.name: missing(spec, model) for spec in listed if spec.name in requested}
    absent = {name: why for name, why in reasons.items() if why is not None}
    specs = [spec for spec in listed if spec.name in requested and spec.name not in absent]
    before, cores, rows = load_averages(), usable_cores(), []
    with tempfile.TemporaryDirectory(prefix="psp-speed-") as scratch:
        write_sentences(Path(scratch), texts, streams)
        folders = _folders(model, specs, Path(scratch), absent)
        task = {"sentences": scratch, "batch_size": batch_size, "seconds": seconds}
        parts = [cores[:1], cores] if len(cores) > 1 else [cores]
        with Progress("measuring speed", "rounds", (repeats + 1) * len(specs) * len(parts)) as progress:
            for part in parts:
                rows += _measured(specs, part, folders, task, repeats, progress, absent)
    result: dict[str, Any] = {
        "format": FORMAT,
        "model": model_name(model_dir),
        "sentences": len(texts),
        "asked": sentences if isinstance(sentences, int) else len(texts),
        "source": source,
        "systems": rows,
        "missing": [{"name": name, "why": why} for name, why in absent.items()],
        "conditions": {
            "cpu": processor(),
            "gpu": gpu(),
            "cores": os.cpu_count(),
            "load_before": before,
            "load_after": load_averages(),
            "batch_size": batch_size,
            "repeats": repeats,
            "dim": model.dim,
            "vocab_size": sum(part.vocab_size for part in parts_of(model)),
            "mean_pieces": round(sum(len(ids) for ids, _ in streams) / len(texts), 3),
            "versions": {"psp": __version__, "python": platform.python_version(), **versions()},
        },
    }
    write_json(out, result)
    for row in rows:
        rates = ", ".join(f"{row[kind]['median']:,.0f} {kind}" for kind in ("cold", "warm", "forward") if row[kind])
        log.info("%s on %d cores: %s sentences/s", row["name"], row["cores"], rates)
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
        tokenizers = [part.tokenizer for part in parts_of(model)]
        # That of a combination is its first part's, or all, if its parts were trained together.
        together = pairs.attributes.get("tokenizer") == PartsTokenizer.name_on_disk() and len(tokenizers) > 1
        tokenizer = PartsTokenizer(tokenizers) if together else tokenizers[0]
        pairs.check_vocabulary(tokenizer)
        count = min(max(sentences // 2, 1), len(pairs))
        block = pairs.read(0, count)
        source = f"the first {count:,} of {len(pairs):,} pairs of its training data: {', '.join(pairs.corpora)}"
    return [text for side in (block.source, block.target) for text in tokenizer.decode(side)], source


def _folders(model: TextModel, specs: list[Spec], scratch: Path, absent: dict[str, str]) -> dict[str, Path]:
    """Return what each system loads, by name; move systems that cannot be exported from ``specs`` to ``absent``."""
    made: dict[str, Path] = {}
    for spec in list(specs):
        folder = scratch / (spec.form or "none")
        try:
            if spec.form is not None and not folder.exists():  # another system may load the same form
                exported(spec.form, model, folder)
            made[spec.name] = folder
        except PspError as error:
            specs.remove(spec)
            absent[spec.name] = str(error)
    return made


def exported(form: str, model: TextModel, folder: Path) -> None:
    """Write a model as a system loads it: as psp's own of a dtype, or as an export.

    Raises:
        PspError: the model cannot be exported to this format, or a library is missing.
    """
    if form in ("float32", "float16", "int8"):
        model.quantized(form).save(folder, card=False)
        return
    export(form, model, folder, [])
    if form == "onnx":  # the system also needs to know which parts lower-case text
        parts = [{"lower_case": part.tokenizer.lower_case} for part in parts_of(model)]
        write_json(folder / CONFIG, {"parts": parts})


def _measured(
    specs: list[Spec],
    cores: list[int],
    folders: dict[str, Path],
    task: dict[str, Any],
    repeats: int,
    progress: Progress,
    absent: dict[str, str],
) -> list[dict[str, Any]]:
    """Load systems one after another, and measure them in rounds; return their rows for speed.json.

    Systems other than psp that fail are logged, and added to ``absent``.
    """
    running: dict[Spec, Process] = {}
    rounds: dict[Spec, list[dict[str, Any]]] = {spec: [] for spec in specs}  # first what was loaded
    with contextlib.ExitStack() as stack:
        for number in range(repeats + 1):
            for spec in list(rounds):
                try:
                    if number == 0:
                        options = {**task, "folder": str(folders[spec.name])}
                        running[spec] = stack.enter_context(Process(spec.name, options, cores))
                        rounds[spec].append(running[spec].answer())
                    else:
                        rounds[spec].append(running[spec].round())
                except Broken as error:
                    if spec.kind == "psp":
                        raise
                    log.warning("%s", error)
                    absent.setdefault(spec.name, str(error))
                    del rounds[spec]
                progress.add()
    reference = np.load(Path(task["sentences"], f"{REFERENCE}.npy"))
    rows = []
    for spec, (loaded, *passes) in rounds.items():
        vectors = np.load(Path(task["sentences"], f"{spec.name}.npy")) if spec.table else None
        rates = {
            kind: _rates([loaded["sentences"] / one[kind] for one in passes]) if kind in passes[0] else None
            for kind in ("cold", "warm", "forward")
        }
        rows.append(
            {
                "name": spec.name,
                "cores": len(cores),
                "backend": spec.backend,
                "dtype": spec.dtype if spec.table else None,
                "texts_of_a_batch": TEXTS_OF_A_BATCH.get(spec.kind),
                "agreement": None if vectors is None else _agreement(vectors, reference),
                **loaded,
                **rates,
                "no_forward": None if rates["forward"] else "it has no entry for ids",
            }
        )
    return rows


def _rates(values: list[float]) -> dict[str, Any]:
    """Return median, minimum and maximum of the passes, and all of them in order."""
    passes = [round(value, 1) for value in values]
    median = round(statistics.median(passes), 1)
    return {"median": median, "min": min(passes), "max": max(passes), "passes": passes}


def _agreement(vectors: np.ndarray, reference: np.ndarray) -> float:
    """Return the mean cosine of two systems' vectors of the same sentences."""
    nonzero = vectors.any(axis=1) & reference.any(axis=1)
    return round(float(np.mean(cosines(vectors[nonzero], reference[nonzero]))), 6) if nonzero.any() else 0.0
