"""The conditions of a speed measurement."""

from __future__ import annotations

import os
import platform
from typing import Any

import numpy as np

from psp.core.machine import gpu, load_averages, processor, usable_cores, versions
from psp.core.version import __version__
from psp.evaluation.speed.process import THREAD_VARIABLES
from psp.models.static import StaticModel


def conditions(
    model: StaticModel,
    texts: list[str],
    ids: np.ndarray,
    *,
    batch_size: int,
    repeats: int,
    load_before: list[float] | None,
) -> dict[str, Any]:
    """Collect the conditions, as in speed.json."""
    rows = len(np.unique(ids))
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
        "vocab_size": model.vocab_size,
        "rows_in_use": rows,
        "mean_pieces": round(len(ids) / len(texts), 3),
        "mean_characters": round(sum(map(len, texts)) / len(texts), 3),
        "segmented": bool(model.config.get("segment")),
        "versions": {"psp": __version__, "python": platform.python_version(), **versions()},
    }
