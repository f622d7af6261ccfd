"""Filters: which pairs are good enough to train on, and why the others are not.

One file a filter, one class a file, one contract (:mod:`psp.filters.contract`); :mod:`psp.filters.stage` runs
them over a corpus and counts what they drop.
"""

from psp.filters import (
    custom,
    decontaminate,
    identical,
    language,
    length,
    overlap,
    ratio,
    score,
    similarity,
    symbols,
)
from psp.filters.contract import Batch, Filter, RowError, build, names
from psp.filters.stage import filter_corpus

__all__ = [
    "Batch",
    "Filter",
    "RowError",
    "build",
    "custom",
    "decontaminate",
    "filter_corpus",
    "identical",
    "language",
    "length",
    "names",
    "overlap",
    "ratio",
    "score",
    "similarity",
    "symbols",
]
