"""Nearest neighbours: search indexes and bitext mining."""

from __future__ import annotations

#: Which candidates of mining become pairs, and what each choice means.
CHOICES = {
    "max": "best of both directions, highest margin first, each sentence once (default)",
    "intersection": "pairs that are each other's best match",
    "forward": "best target of each source; a target may be in several pairs",
    "backward": "best source of each target; a source may be in several pairs",
}


#: How neighbours are found, by the classes of ``index.SEARCHERS``; approximate search misses some, fewer with effort.
INDEXES = {
    "flat": "exact (default)",
    "hnsw": "approximate, slow to build and fast to search; in memory",
    "ivf": "approximate, in lists on disk, for millions of lines",
}
