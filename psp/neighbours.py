"""Nearest neighbours by cosine, with faiss.

faiss finds candidates with float32 products, whose last digits depend on the number of threads and of queries. Here a
few more candidates are fetched than are asked for, and their cosines are computed again in float64; where they do not
rule out that a row which was not fetched is nearer, more are fetched. So the result is that of a plain search in
float64, ties by the lower number, for any number of threads and any division into batches.

:class:`Graph` is faster among hundreds of thousands, and approximate.
"""

from __future__ import annotations

import logging
import math
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from psp.errors import DataError, PspError
from psp.progress import Progress

#: Of a block of rows: one in float32 at a time, when the rows are float16 or on disk; and of rows gathered in float64.
BLOCK_BYTES = 32 << 20
#: Of float64 rows that stay in a core's own cache.
CACHE_BYTES = 512 << 10
#: Candidates beyond those asked for. Of real sentences they are enough for all but one query in thousands.
EXTRA = 16
#: Queries that are compared with a block together. At 1,024 numbers and one core the products run at 150 GFLOP/s.
QUERIES = 4096
#: Numbers of candidates that are held for a batch of queries, while more are fetched.
CANDIDATES = 1 << 22
#: Of the graph: links of a row on each level, of which the lowest has twice as many; how many rows are kept in mind
#: when a row's links are sought; and rows that set the 8-bit scale.
LINKS, LINKING_EFFORT, SAMPLE = 32, 64, 20_000


class Found(NamedTuple):
    """The nearest rows of each query, the nearest first.

    Attributes:
        cosines: float64 (queries, k); 0 where nothing was found.
        numbers: int64 (queries, k), rows' numbers; -1 where nothing was found, which only :class:`Graph` does.
    """

    cosines: np.ndarray
    numbers: np.ndarray


def library() -> ModuleType:
    """faiss.

    Raises:
        PspError: it is not installed.
    """
    logging.getLogger("faiss.loader").setLevel(logging.WARNING)  # it tells which of its libraries it tried
    try:
        import faiss
    except ModuleNotFoundError:
        raise PspError("searching needs a package: pip install 'psp[search]'") from None
    return faiss


def use_threads(threads: int) -> None:
    """Let faiss use so many threads. The results do not depend on it."""
    library().omp_set_num_threads(threads)


def unit(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of length 1, float32 (m, dim), and the numbers of those that have a length at all, int64 (m,)."""
    made, kept = np.empty(vectors.shape, np.float32), np.empty(len(vectors), bool)
    step = max(1, CACHE_BYTES // (8 * vectors.shape[1]))
    for start in range(0, len(vectors), step):  # the float64 of all together would take three times as long
        part = slice(start, start + step)
        wide = vectors[part].astype(np.float64)
        lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
        kept[part] = lengths > 0
        made[part] = np.divide(wide, np.where(lengths > 0, lengths, 1.0)[:, None], out=wide)
    return (made if kept.all() else made[kept]), np.flatnonzero(kept)


def nearest(queries: np.ndarray, rows: np.ndarray, k: int, progress: Progress | None = None) -> Found:
    """The k rows with the highest cosines to each query; all rows, where there are fewer.

    Args:
        queries: float32 or float16 (n, dim), of length 1.
        rows: float32 or float16 (m, dim), of length 1; may be on disk.
        k: 1 or more.
        progress: counts queries.
    """
    k = min(k, len(rows))
    found = Found(np.zeros((len(queries), k)), np.full((len(queries), k), -1, np.int64))
    if k == 0:
        return found
    # How far a product of two such vectors in float32 may be from the exact one: dim roundings, each of half a unit.
    error = (queries.shape[1] + 8) * 2.0**-24
    for start in range(0, len(queries), QUERIES):
        batch = np.ascontiguousarray(queries[start : start + QUERIES], np.float32)
        waiting, wanted = np.arange(len(batch)), min(k + EXTRA, len(rows))
        while len(waiting):
            unsure = []
            for part in np.array_split(waiting, math.ceil(len(waiting) * wanted / CANDIDATES)):
                scores, numbers = _candidates(batch[part], rows, wanted)
                cosines, numbers = _exact(batch[part], rows, numbers)
                found.cosines[start + part], found.numbers[start + part] = cosines[:, :k], numbers[:, :k]
                unsure.append(part[(wanted < len(rows)) & (cosines[:, k - 1] <= scores.min(axis=1) + error)])
            waiting, wanted = np.concatenate(unsure), min(4 * wanted, len(rows))
        if progress is not None:
            progress.add(len(batch))
    return found


def _candidates(queries: np.ndarray, rows: np.ndarray, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """The ``wanted`` highest products of each query in float32, in any order: (n, wanted) products and numbers."""
    faiss = library()
    block_rows = max(1, BLOCK_BYTES // (4 * rows.shape[1]))
    buffer = np.empty((min(block_rows, len(rows)), rows.shape[1]), np.float32)
    best: tuple[np.ndarray, np.ndarray] | None = None
    for start in range(0, len(rows), block_rows):
        block = rows[start : start + block_rows]
        if block.dtype != np.float32:
            np.copyto(buffer[: len(block)], block)
            block = buffer[: len(block)]
        scores, numbers = faiss.knn(queries, block, min(wanted, len(block)), metric=faiss.METRIC_INNER_PRODUCT)
        numbers += start
        if best is not None:
            scores, numbers = np.hstack([best[0], scores]), np.hstack([best[1], numbers])
        if scores.shape[1] > wanted:
            keep = np.argpartition(-scores, wanted - 1, axis=1)[:, :wanted]
            scores, numbers = np.take_along_axis(scores, keep, 1), np.take_along_axis(numbers, keep, 1)
        best = scores, numbers
    assert best is not None
    return best


def _exact(queries: np.ndarray, rows: np.ndarray, numbers: np.ndarray) -> Found:
    """The cosines of candidates in float64, and both in order; a number of -1 comes last."""
    cosines = np.empty(numbers.shape)
    step = max(1, BLOCK_BYTES // (8 * rows.shape[1] * max(1, numbers.shape[1])))
    for start in range(0, len(queries), step):
        part = slice(start, start + step)
        # einsum without optimize is numpy's own loop: its sums do not depend on threads, as those of a BLAS do.
        gathered = rows[numbers[part]].astype(np.float64)
        np.einsum("qd,qkd->qk", queries[part].astype(np.float64), gathered, out=cosines[part])
    np.clip(cosines, -1.0, 1.0, out=cosines)
    cosines[numbers < 0] = -np.inf
    order = np.lexsort((numbers, -cosines), axis=1)
    cosines, numbers = np.take_along_axis(cosines, order, 1), np.take_along_axis(numbers, order, 1)
    cosines[numbers < 0] = 0.0
    return Found(cosines, numbers)


class Graph:
    """An approximate search, which goes from neighbour to neighbour towards the query: faiss's HNSW.

    It holds the rows once more, as 8-bit integers, and 64 links of each: a third of the memory of float32. The cosines
    come from the rows themselves, which may be on disk. An inverted file is made in a tenth of the time but finds less,
    since our vectors do not lie in clusters: of the 10 nearest among 100,000 sentences of 1,024 numbers, 65% in 1 ms a
    query, and the graph 88%. Principal components do no better: the first 256 hold 65% of the variance.
    """

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def build(cls, rows: np.ndarray, progress: Progress | None = None) -> Graph:
        """Link each row with its neighbours: 0.9 ms a row of 1,024 numbers on one core.

        The same rows give the same graph on one thread alone.

        Args:
            rows: float32 or float16 (m, dim), of length 1; at least one.
            progress: counts rows.
        """
        faiss = library()
        index = faiss.index_factory(rows.shape[1], f"HNSW{LINKS},SQ8", faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = LINKING_EFFORT
        sample = np.sort(np.random.default_rng(1).permutation(len(rows))[:SAMPLE])
        index.train(np.ascontiguousarray(rows[sample], np.float32))
        block_rows = max(1, BLOCK_BYTES // (4 * rows.shape[1]))
        for start in range(0, len(rows), block_rows):
            block = np.ascontiguousarray(rows[start : start + block_rows], np.float32)
            index.add(block)
            if progress is not None:
                progress.add(len(block))
        return cls(index)

    def nearest(
        self, queries: np.ndarray, rows: np.ndarray, k: int, effort: int, progress: Progress | None = None
    ) -> Found:
        """As :func:`nearest`, but some of the nearest rows are missed, and others are in their place.

        Args:
            queries: float32 or float16 (n, dim), of length 1.
            rows: those that this was built of.
            k: 1 or more.
            effort: how many rows are kept in mind on the way; at least k + 16 are.
            progress: counts queries.
        """
        faiss = library()
        k = min(k, len(rows))
        wanted = min(k + EXTRA, len(rows))
        parameters = faiss.SearchParametersHNSW(efSearch=max(effort, wanted))
        parts = []
        for start in range(0, len(queries), QUERIES):
            batch = np.ascontiguousarray(queries[start : start + QUERIES], np.float32)
            _, numbers = self._index.search(batch, wanted, params=parameters)
            found = _exact(batch, rows, numbers)
            parts.append(Found(found.cosines[:, :k], found.numbers[:, :k]))
            if progress is not None:
                progress.add(len(batch))
        if not parts:
            return Found(np.zeros((0, k)), np.zeros((0, k), np.int64))
        return Found(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def save(self, path: Path) -> None:
        """Write the graph to a file.

        Raises:
            DataError: it cannot be written.
        """
        try:
            library().write_index(self._index, str(path))
        except RuntimeError:  # faiss says in it which line of its own failed
            raise DataError("cannot be written; free space or choose another place", path) from None

    @classmethod
    def load(cls, path: Path) -> Graph:
        """Read it back.

        Raises:
            DataError: the file is missing, cut short or damaged.
        """
        faiss = library()
        try:
            return cls(faiss.read_index(str(path)))
        except RuntimeError:
            raise DataError("missing, cut short or damaged; make the index again", path) from None

    def fits(self, rows: np.ndarray) -> bool:
        """Whether it is of as many rows of that length."""
        return bool((self._index.ntotal, self._index.d) == rows.shape)
