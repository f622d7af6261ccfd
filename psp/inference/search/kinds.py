"""All ways to find neighbours that psp has."""

from __future__ import annotations

from psp.inference.search.base import Searcher
from psp.inference.search.graph import Graph
from psp.inference.search.lists import Lists
from psp.inference.search.neighbours import Exact

#: By name.
SEARCHERS: dict[str, type[Searcher]] = {one.name: one for one in (Exact, Graph, Lists)}
