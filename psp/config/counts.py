"""How many pairs corpora have and give, before anything is downloaded.

From the catalogue's ``pairs``, or from a sample of the user's own file.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from psp.config.blocks.mixing import DECILES
from psp.config.corpus_entries import CorpusSpec
from psp.config.made_entries import KEPT, SCORED, making, of_files
from psp.core.errors import PspError
from psp.corpora import count_pairs

Catalogue = Mapping[str, Mapping[str, Any]]  # the config's ``corpora``


def listed(catalogue: Catalogue, part: CorpusSpec, key: str) -> int | None:
    """The catalogue's entry for a part; None for all of the user's own files."""
    value = None if part.path else catalogue[part.corpus].get(key, {}).get(part.pair)
    return None if value is None else int(value)


def left(parts: Iterable[CorpusSpec], known: Mapping[str, int | None]) -> float:
    """About how many pairs of corpora are trained on, by the numbers of pairs of their files."""
    total = 0.0
    for part in parts:
        made = making(part)
        kept = SCORED if part.filters["score"]["enabled"] else KEPT
        pairs = made.planned(part, known) if made else kept * of_files(part, known)
        pairs *= len(part.rank["deciles"]) / DECILES if part.ranked else 1
        total += min(pairs, part.cap or math.inf)
    return total


def count(catalogue: Catalogue, part: CorpusSpec) -> int | None:
    """The number of pairs of a part's file, before it is downloaded; None: not known."""
    if part.path is None:
        return listed(catalogue, part, "pairs")
    try:
        there = Path(part.path).stat()
        return _counted(part.kind, part.path, part.opus, part.names, there.st_size, there.st_mtime_ns)
    except (OSError, PspError):  # the job reports what is wrong with it
        return None


@functools.lru_cache
def _counted(kind: str, path: str, corpus: str, names: tuple[str, ...], size: int, changed: int) -> int:
    """The pairs of a file of this size and time of change."""
    return count_pairs(kind, Path(path), corpus, names)[0]
