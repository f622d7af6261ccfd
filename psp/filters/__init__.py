"""Filters: which pairs are good enough to train on, and why the others are not.

One file a filter, one class a file, one contract (:mod:`psp.filters.contract`); :mod:`psp.filters.stage` runs
them over a corpus and counts what they drop.
"""

from psp.filters import decontaminate, language, length, score
from psp.filters.contract import Batch, Filter, build, names
from psp.filters.stage import filter_corpus

__all__ = ["Batch", "Filter", "build", "decontaminate", "filter_corpus", "language", "length", "names", "score"]
