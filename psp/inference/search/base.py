"""The interface of the ways to find nearest rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from psp.inference.search.vectors import Rows

#: Queries per batch. At 1,024 dimensions and on one core the products run at 150 GFLOP/s.
QUERIES = 4096


class Found(NamedTuple):
    """The nearest rows of each query, nearest first.

    Attributes:
        cosines: float64 (queries, k); 0 where nothing was found.
        numbers: int64 (queries, k), row numbers; -1 where nothing was found, which happens only in approximate search.
    """

    cosines: np.ndarray
    numbers: np.ndarray


class Searcher(ABC):
    """Finds the nearest of a matrix's rows in one of the ways of :data:`psp.inference.search.INDEXES`.

    Attributes:
        rows: float32, float16 or int8 (m, dim), unit vectors, in this searcher's order; may be on disk.
        numbers: int64 (m,), what to call each row; None for its place. Lists have each row twice.
        rows_file: the file of the rows, where they are not in the order in which they were given.
    """

    #: Its key in :data:`psp.inference.search.INDEXES`.
    name: ClassVar[str]
    #: The file in which it is saved; None where there is nothing to save.
    FILE: ClassVar[str | None] = None
    #: The default effort of approximate search; 0 where it is exact.
    EFFORT: ClassVar[int] = 0
    #: Queries searched for at a time.
    BATCH: ClassVar[int] = QUERIES

    def __init__(self, rows: Rows, numbers: Rows | None = None, rows_file: Path | None = None) -> None:
        self.rows, self.numbers, self.rows_file = rows, numbers, rows_file

    @classmethod
    @abstractmethod
    def prepare(cls, rows: Rows, folder: Path | None, name: str) -> Searcher:
        """Prepare search among rows, at least one.

        Files have ``name`` in a folder of :func:`psp.inference.search.on_disk.resumable`, where a killed run goes on;
        without one, all is in memory.
        """

    @abstractmethod
    def places(self, queries: np.ndarray, k: int, effort: int) -> Found:
        """Like :meth:`nearest`, with the rows' places as numbers, of a batch of queries; ``k`` is at most the rows'."""

    def nearest(self, queries: Rows, k: int, effort: int | None = None) -> Found:
        """Find the k nearest rows of each query, or all if there are fewer; approximate search misses some.

        Args:
            queries: float32, float16 or int8 (n, dim), unit vectors.
            k: 1 or more.
            effort: of approximate search: higher is more accurate and slower; None for its default.
        """
        k = min(k, len(self.rows))
        parts = [Found(np.zeros((0, k)), np.zeros((0, k), np.int64))]
        for start in range(0, len(queries), self.BATCH):
            parts.append(self.places(queries[start : start + self.BATCH], k, effort or self.EFFORT))
        found = Found(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        if self.numbers is None:
            return found
        return Found(found.cosines, np.where(found.numbers < 0, -1, self.numbers[found.numbers]))

    def queries_in(self, memory: int, k: int, effort: int | None) -> int:
        """How many queries are best searched for at a time, in so many bytes."""
        return QUERIES

    def save(self, path: Path) -> None:  # noqa: B027  # a kind without a FILE has nothing to save
        """Write what was prepared, without rows and numbers, to a file; DataError if it cannot be written."""

    @classmethod
    def load(cls, path: Path, rows: Rows, numbers: Rows) -> Searcher:
        """Load what :meth:`save` has written; DataError if the file is missing, truncated or damaged."""
        return cls(rows, numbers)
