"""Nearest neighbours: search indexes and bitext mining."""

from __future__ import annotations

from typing import NamedTuple

#: Which candidates of mining become pairs, and what each choice means.
CHOICES = {
    "max": "best of both directions, highest margin first, each sentence once (default)",
    "intersection": "pairs that are each other's best match",
    "forward": "best target of each source; a target may be in several pairs",
    "backward": "best source of each target; a source may be in several pairs",
}


class IndexKind(NamedTuple):
    """What the commands need to know of a way to find neighbours, whose class is in ``kinds``.

    Attributes:
        description: what it is.
        approximate: it misses some neighbours; with more effort, fewer.
        needs_folder: it is on disk alone.
        in_memory: it takes memory for all rows, and so has no limit.
    """

    description: str
    approximate: bool = True
    needs_folder: bool = False
    in_memory: bool = False


#: How neighbours are found; the first is the default.
INDEXES = {
    "flat": IndexKind("exact", approximate=False),
    "hnsw": IndexKind("approximate, slow to build and fast to search; in memory", in_memory=True),
    "ivf": IndexKind("approximate, in lists on disk, for millions of lines", needs_folder=True),
}
