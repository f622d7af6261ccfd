"""Nearest neighbours by cosine, with faiss.

faiss computes float32 products, whose last digits depend on the number of threads and queries. We therefore fetch a few
more candidates than requested and recompute their cosines in float64; if a row not fetched could still be nearer, we
fetch more. The result equals brute-force search in float64, ties to the lower row number, for any number of threads and
any batching, and also where the first candidates are by faster, rougher products (``bfloat16``).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np

from psp.core.errors import from_extra
from psp.core.logs import Progress
from psp.inference.search import bfloat16
from psp.inference.search.base import QUERIES, Found, Searcher
from psp.inference.search.bfloat16 import float32_error
from psp.inference.search.vectors import Rows, from_stored

#: Size of a block of rows converted to float32 (if they are float16 or on disk), and of rows gathered in float64.
BLOCK_BYTES = 32 << 20
#: Candidates fetched beyond k. On real sentences these suffice for all but one query in thousands.
EXTRA = 16
#: Most candidates held at a time for a batch of queries while more are fetched.
CANDIDATES = 1 << 22


def library() -> ModuleType:
    """Import faiss.

    Raises:
        PspError: it is not installed.
    """
    logging.getLogger("faiss.loader").setLevel(logging.WARNING)  # it logs which of its libraries it tried
    with from_extra("search", "search needs faiss"):
        import faiss
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
    # Few queries at a time may be those of a caller who has no memory for torch.
    rough = len(queries) > QUERIES and bfloat16.pays(len(queries), rows, k + EXTRA)
    step = bfloat16.batch(rows.shape[1]) if rough else QUERIES
    for start in range(0, len(queries), step):
        stored = queries[start : start + step]
        batch = np.ascontiguousarray(from_stored(stored, np.float32))
        waiting, wanted = np.arange(len(batch)), min(k + EXTRA, len(rows))
        find: Callable[..., tuple[np.ndarray, np.ndarray]]
        find = partial(bfloat16.candidates, threads=library().omp_get_max_threads()) if rough else _candidates
        while len(waiting):
            unsure = []
            for part in np.array_split(waiting, math.ceil(len(waiting) * wanted / CANDIDATES)):
                numbers, others = find(batch[part], rows, wanted)
                cosines, numbers = exact_cosines(stored[part], rows, numbers)
                neighbours.cosines[start + part], neighbours.numbers[start + part] = cosines[:, :k], numbers[:, :k]
                unsure.append(part[(wanted < len(rows)) & (cosines[:, k - 1] <= others)])
            waiting, wanted, find = np.concatenate(unsure), min(4 * wanted, len(rows)), _candidates
        if progress is not None:
            progress.add(len(batch))
    return neighbours


def _candidates(queries: np.ndarray, rows: Rows, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows with the highest float32 products, (n, wanted), in any order, and a bound on others' cosines."""
    faiss = library()
    block_rows = max(1, BLOCK_BYTES // (4 * rows.shape[1]))
    best: tuple[np.ndarray, np.ndarray] | None = None
    for start in range(0, len(rows), block_rows):
        block = np.ascontiguousarray(from_stored(rows[start : start + block_rows], np.float32))
        scores, numbers = faiss.knn(queries, block, min(wanted, len(block)), metric=faiss.METRIC_INNER_PRODUCT)
        numbers += start
        best = (scores, numbers) if best is None else merged(best, (scores, numbers), wanted)
    assert best is not None
    return best[1], best[0].min(axis=1) + float32_error(rows.shape[1])


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


class Exact(Searcher):
    """Exact search."""

    name = "flat"
    BATCH = 1 << 62  # :func:`nearest` has its own

    @classmethod
    def prepare(cls, rows: Rows, folder: Path | None = None, name: str = "") -> Exact:
        return cls(rows)

    def queries_in(self, memory: int, k: int, effort: int | None) -> int:
        """More where products in bfloat16 may be used."""
        usual = super().queries_in(memory, k, effort)
        may = memory >= bfloat16.MEMORY and bfloat16.available()
        return max(usual, bfloat16.batch(self.rows.shape[1])) if may else usual

    def places(self, queries: np.ndarray, k: int, effort: int) -> Found:
        return nearest(queries, self.rows, k)
