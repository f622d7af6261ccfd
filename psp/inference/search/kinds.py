"""All ways to find neighbours that psp has, registered by importing this module."""

from __future__ import annotations

from psp.inference.search import graph, lists, neighbours
from psp.inference.search.base import Searcher

__all__ = ["KINDS", "searcher"]

KINDS: tuple[type[Searcher], ...] = (neighbours.Exact, graph.Graph, lists.Lists)


def searcher(name: str) -> type[Searcher]:
    """Return the class of an index's name.

    Raises:
        KeyError: there is none.
    """
    return Searcher.classes[name]
