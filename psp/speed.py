"""How fast a model embeds, by the paper's protocol and end to end.

The paper's protocol (section 5): 120,000 sentences sorted by length, in batches of 64, with the preprocessing outside
the clock; here that is :meth:`psp.model.Model.pool`. The other figure is what a user sees: texts in, vectors out.
No output that is compared: a rate belongs to a machine and a minute, and is written with its conditions.
"""

from __future__ import annotations

import itertools
import logging
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import sentencepiece

from psp import __version__
from psp.files import write_json
from psp.model import Model
from psp.progress import Progress
from psp.store import Side, Store

log = logging.getLogger(__name__)


def measure_speed(
    model_dir: Path,
    store: Path,
    out: Path,
    *,
    sentences: int = 120_000,
    batch_size: int = 64,
    repeats: int = 5,
    threads: int = 1,
) -> dict[str, Any]:
    """Measure sentences a second, and write them with their conditions as JSON.

    The sentences are the sources and then the targets of the first pairs of the model's own store, decoded back to
    text. A small store has fewer than were asked for: their number is written, and none is taken twice.

    Args:
        model_dir: the model.
        store: the pairs that it was trained on.
        out: where the JSON goes.
        sentences: how many, at most.
        batch_size: sentences of a batch, in the paper's protocol.
        repeats: measured passes over all sentences, after one that is not counted.
        threads: of sentencepiece; pooling uses one.

    Returns:
        What is written: for ``forward`` and ``text`` the median, least and most sentences a second.

    Raises:
        DataError: model or store are missing, damaged, or do not belong together.
    """
    model = Model.load(model_dir, threads=threads)
    with Store(store) as pairs:
        pairs.check_vocabulary(model_dir / "sentencepiece.model")
        count = min(max(sentences // 2, 1), len(pairs))
        block = pairs.read(0, count)
        in_store = len(pairs)
    texts = [*_decode(model.sentencepiece, block.source), *_decode(model.sentencepiece, block.target)]
    ids, offsets = model.ids(texts)
    batches = _sorted_batches(ids, offsets, batch_size)
    load_before = _load()
    with Progress("measuring speed", "passes", 2 * (repeats + 1)) as progress:
        forward = _rates(lambda: _pool_all(model, batches), len(texts), repeats, progress)
        text = _rates(lambda: model.embed_raw_text(texts), len(texts), repeats, progress)
    result = {
        "format": 1,
        "sentences": len(texts),
        "asked": sentences,
        "pairs_in_store": in_store,
        "forward": {"what": f"ids in, vectors out; sorted by length, batches of {batch_size}"} | forward,
        "text": {"what": "texts in, vectors out, in the store's order"} | text,
        "conditions": {
            "cpu": _cpu(),
            "cores": os.cpu_count(),
            "usable_cores": _usable_cores(),
            "load_before": load_before,
            "load_after": _load(),
            "threads": {"sentencepiece": threads, "pooling": 1},
            "threads_limited_by": "sentencepiece's num_threads; pooling is numpy's gather and sum, no BLAS or OpenMP",
            "batch_size": batch_size,
            "repeats": repeats,
            "warm_up_passes": 1,
            "dim": model.dim,
            "vocab_size": model.vocab_size,
            "dtype": str(model.weight.dtype),
            "mean_pieces": round(len(ids) / len(texts), 3),
            "mean_characters": round(sum(map(len, texts)) / len(texts), 3),
            "segmented": bool(model.config.get("segment")),
            "versions": {
                "psp": __version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "sentencepiece": sentencepiece.__version__,
                "h5py": h5py.__version__,
            },
        },
    }
    write_json(out, result)
    for name, rates in (("forward only", forward), ("text to vectors", text)):
        log.info("%s: %.0f sentences/s (%.0f to %.0f)", name, *(rates[key] for key in ("median", "min", "max")))
    return result


def _decode(processor: sentencepiece.SentencePieceProcessor, side: Side) -> list[str]:
    ids, offsets = side.ids.tolist(), side.offsets.tolist()
    return processor.decode([ids[start:stop] for start, stop in itertools.pairwise(offsets)])


def _sorted_batches(ids: np.ndarray, offsets: np.ndarray, size: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """The sentences by their number of pieces, shortest first, in batches of flat ids and offsets."""
    lengths = np.diff(offsets)
    order = np.argsort(lengths, kind="stable")
    batches = []
    for start in range(0, len(order), size):
        chosen = order[start : start + size]
        flat = np.concatenate([ids[offsets[i] : offsets[i + 1]] for i in chosen])
        batches.append((flat, np.concatenate([[0], np.cumsum(lengths[chosen])])))
    return batches


def _pool_all(model: Model, batches: list[tuple[np.ndarray, np.ndarray]]) -> None:
    for ids, offsets in batches:
        model.pool(ids, offsets)


def _rates(work: Callable[[], Any], sentences: int, repeats: int, progress: Progress) -> dict[str, Any]:
    """Sentences a second of each pass after the first: the first brings table and code into the caches."""
    rates = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        work()
        rates.append(sentences / (time.perf_counter() - start))
        progress.add(1)
    rates = [round(rate, 1) for rate in rates[1:]]
    return {"median": round(statistics.median(rates), 1), "min": min(rates), "max": max(rates), "unit": "sentences/s"}


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n"):
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # no Linux
    return platform.processor() or platform.machine()


def _usable_cores() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _load() -> list[float] | None:
    """Load averages over 1, 5 and 15 minutes: whether the machine was busy with other things."""
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else None
