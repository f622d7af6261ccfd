"""The conditions of a speed measurement."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import Any

import numpy as np

from psp.core.machine import gpu, load_averages, processor, usable_cores, versions
from psp.core.version import __version__
from psp.evaluation.speed.process import THREAD_VARIABLES
from psp.evaluation.speed.systems import Ids
from psp.models.combined import parts_of
from psp.models.text_model import TextModel


def conditions(
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
