"""Nearest neighbours by cosine, with faiss.

faiss computes float32 products, whose last digits depend on the number of threads and queries. We therefore fetch a few
more candidates than requested and recompute their cosines in float64; if a row not fetched could still be nearer, we
fetch more. The result equals brute-force search in float64, ties to the lower row number, for any number of threads and
any batching.

:class:`Graph` is approximate, and faster among hundreds of thousands of rows.
"""

from __future__ import annotations

import logging
import math
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from psp.core.errors import DataError, PspError
from psp.core.progress import Progress
from psp.inference.search.vectors import Rows, from_stored

#: Size of a block of rows converted to float32 (if they are float16 or on disk), and of rows gathered in float64.
BLOCK_BYTES = 32 << 20
#: Candidates fetched beyond k. On real sentences these suffice for all but one query in thousands.
EXTRA = 16
#: Queries per batch. At 1,024 dimensions and on one core the products run at 150 GFLOP/s.
QUERIES = 4096
#: Most candidates held at a time for a batch of queries while more are fetched.
CANDIDATES = 1 << 22
#: HNSW's M (the lowest level has twice as many links per row), efConstruction, and rows that train the 8-bit scale.
LINKS, LINKING_EFFORT, SAMPLE = 32, 64, 20_000


class Found(NamedTuple):
    """The nearest rows of each query, nearest first.

    Attributes:
        cosines: float64 (queries, k); 0 where nothing was found.
        numbers: int64 (queries, k), row numbers; -1 where nothing was found, which happens only with :class:`Graph`.
    """

    cosines: np.ndarray
    numbers: np.ndarray


def library() -> ModuleType:
    """Import faiss.

    Raises:
        PspError: it is not installed.
    """
    logging.getLogger("faiss.loader").setLevel(logging.WARNING)  # it logs which of its libraries it tried
    try:
        import faiss
    except ModuleNotFoundError:
        raise PspError("search needs faiss: pip install 'paraphrastic[search]'") from None
    return faiss


def use_threads(threads: int) -> None:
    """Set faiss's number of threads; results do not depend on it."""
    library().omp_set_num_threads(threads)


def nearest(queries: Rows, rows: Rows, k: int, progress: Progress | None = None) -> Found:
    """Find the k rows with the highest cosine to each query, or all if there are fewer.

    Args:
        queries: float32, float16 or int8 (n, dim), unit vectors (:func:`psp.inference.search.vectors.to_stored`).
        rows: likewise (m, dim); may be on disk.
        k: 1 or more.
        progress: counts queries.
    """
    k = min(k, len(rows))
    neighbours = Found(np.zeros((len(queries), k)), np.full((len(queries), k), -1, np.int64))
    if k == 0:
        return neighbours
    # Bound on the error of a float32 product of two unit vectors: dim roundings of half a unit in the last place.
    error = (queries.shape[1] + 8) * 2.0**-24
    for start in range(0, len(queries), QUERIES):
        stored = queries[start : start + QUERIES]
        batch = np.ascontiguousarray(from_stored(stored, np.float32))
        waiting, wanted = np.arange(len(batch)), min(k + EXTRA, len(rows))
        while len(waiting):
            unsure = []
            for part in np.array_split(waiting, math.ceil(len(waiting) * wanted / CANDIDATES)):
                scores, numbers = _candidates(batch[part], rows, wanted)
                cosines, numbers = exact_cosines(stored[part], rows, numbers)
                neighbours.cosines[start + part], neighbours.numbers[start + part] = cosines[:, :k], numbers[:, :k]
                unsure.append(part[(wanted < len(rows)) & (cosines[:, k - 1] <= scores.min(axis=1) + error)])
            waiting, wanted = np.concatenate(unsure), min(4 * wanted, len(rows))
        if progress is not None:
            progress.add(len(batch))
    return neighbours


def _candidates(queries: Rows, rows: Rows, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the ``wanted`` highest float32 products of each query and their rows, (n, wanted) each, in any order."""
    faiss = library()
    block_rows = max(1, BLOCK_BYTES // (4 * rows.shape[1]))
    best: tuple[np.ndarray, np.ndarray] | None = None
    for start in range(0, len(rows), block_rows):
        block = np.ascontiguousarray(from_stored(rows[start : start + block_rows], np.float32))
        scores, numbers = faiss.knn(queries, block, min(wanted, len(block)), metric=faiss.METRIC_INNER_PRODUCT)
        numbers += start
        best = (scores, numbers) if best is None else merged(best, (scores, numbers), wanted)
    assert best is not None
    return best


def merged(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], wanted: int
) -> tuple[np.ndarray, np.ndarray]:
    """Join candidates, scores and numbers of each query, and keep the ``wanted`` highest, in any order."""
    scores, numbers = np.hstack([first[0], second[0]]), np.hstack([first[1], second[1]])
    if scores.shape[1] > wanted:
        keep = np.argpartition(-scores, wanted - 1, axis=1)[:, :wanted]
        scores, numbers = np.take_along_axis(scores, keep, 1), np.take_along_axis(numbers, keep, 1)
    return scores, numbers


def exact_cosines(queries: Rows, rows: Rows, numbers: np.ndarray) -> Found:
    """Recompute the candidates' cosines in float64 and sort by them; row -1 comes last."""
    cosines = np.empty(numbers.shape)
    step = max(1, BLOCK_BYTES // (8 * rows.shape[1] * max(1, numbers.shape[1])))
    for start in range(0, len(queries), step):
        part = slice(start, start + step)
        # einsum without optimize is NumPy's own loop: unlike a BLAS, its sums do not depend on threads.
        gathered = from_stored(rows[numbers[part]], np.float64)
        np.einsum("qd,qkd->qk", from_stored(queries[part], np.float64), gathered, out=cosines[part])
    np.clip(cosines, -1.0, 1.0, out=cosines)
    cosines[numbers < 0] = -np.inf
    order = np.lexsort((numbers, -cosines), axis=1)
    cosines, numbers = np.take_along_axis(cosines, order, 1), np.take_along_axis(numbers, order, 1)
    cosines[numbers < 0] = 0.0
    return Found(cosines, numbers)


class Graph:
    """Approximate search with faiss's HNSW graph.

    It holds an 8-bit copy of the rows and 64 links for each: a third of the memory of float32. The cosines are computed
    from the original rows, which may be on disk. An inverted file takes a tenth of the time to build but finds less,
    since our vectors are not clustered: 65% of the 10 nearest among 100,000 sentences of 1,024 dimensions at 1 ms per
    query, where the graph finds 88%. PCA does not help: the first 256 components explain 65% of the variance.
    """

    #: HNSW's efSearch, by default. With effort 32, 64, 128, 256, 512 it finds 81, 88, 92, 94, 96% of the 10 nearest
    #: among 100,000 sentences of 1,024 dimensions, in 0.7, 1.0, 1.7, 2.7, 5.1 ms per query on one core. Exact search
    #: takes 1.9 ms per query in batches; among a million sentences 17 ms, and 310 ms for a single query.
    EFFORT = 128

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def build(cls, rows: Rows, progress: Progress | None = None) -> Graph:
        """Build the graph: 0.9 ms per row of 1,024 dimensions on one core.

        It is reproducible only with one thread.

        Args:
            rows: float32, float16 or int8 (m, dim), unit vectors; at least one.
            progress: counts rows.
        """
        faiss = library()
        index = faiss.index_factory(rows.shape[1], f"HNSW{LINKS},SQ8", faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = LINKING_EFFORT
        sample = np.sort(np.random.default_rng(1).permutation(len(rows))[:SAMPLE])
        index.train(np.ascontiguousarray(from_stored(rows[sample], np.float32)))
        block_rows = max(1, BLOCK_BYTES // (4 * rows.shape[1]))
        for start in range(0, len(rows), block_rows):
            block = np.ascontiguousarray(from_stored(rows[start : start + block_rows], np.float32))
            index.add(block)
            if progress is not None:
                progress.add(len(block))
        return cls(index)

    def nearest(self, queries: Rows, rows: Rows, k: int, effort: int, progress: Progress | None = None) -> Found:
        """Find approximately the k nearest rows; like :func:`nearest`, but some are missed and replaced by others.

        Args:
            queries: float32, float16 or int8 (n, dim), unit vectors.
            rows: the rows from which this was built.
            k: 1 or more.
            effort: HNSW's efSearch; at least k + 16 is used.
            progress: counts queries.
        """
        faiss = library()
        k = min(k, len(rows))
        wanted = min(k + EXTRA, len(rows))
        parameters = faiss.SearchParametersHNSW(efSearch=max(effort, wanted))
        parts = []
        for start in range(0, len(queries), QUERIES):
            stored = queries[start : start + QUERIES]
            batch = np.ascontiguousarray(from_stored(stored, np.float32))
            _, numbers = self._index.search(batch, wanted, params=parameters)
            candidates = exact_cosines(stored, rows, numbers)
            parts.append(Found(candidates.cosines[:, :k], candidates.numbers[:, :k]))
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
        except RuntimeError:  # its message only names a source line of faiss
            raise DataError("cannot be written; free space or choose another place", path) from None

    @classmethod
    def load(cls, path: Path) -> Graph:
        """Load a saved graph.

        Raises:
            DataError: the file is missing, truncated or damaged.
        """
        faiss = library()
        try:
            return cls(faiss.read_index(str(path)))
        except RuntimeError:
            raise DataError("missing, truncated or damaged; make the index again", path) from None

    def fits(self, rows: Rows) -> bool:
        """Tell whether the graph has as many rows and dimensions."""
        return bool((self._index.ntotal, self._index.d) == rows.shape)
