"""Approximate search in inverted lists on disk, for more vectors than fit into memory.

Rows are grouped by centroid, so that a list is one piece of a file. A block of queries is compared with the lists one
after the other, each with the queries that have its centroid among their nearest: products of whole matrices, as in
exact search, of a fraction of the rows.

Each row is in two lists, that of its nearest centroid and one chosen so that a query that misses the first is likely to
look into the second (SOAR; Sun et al., 2023). Among a million sentences of 256 dimensions, 95% of the 4 nearest were
found by looking at 3% of the rows, and without second lists at 16%.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np

from psp.core.corruption import ARRAY_DAMAGE
from psp.core.errors import DataError
from psp.core.files import atomic
from psp.core.logs import Progress
from psp.inference.search.base import Found, Searcher
from psp.inference.search.neighbours import BLOCK_BYTES, exact_cosines, library, merged
from psp.inference.search.on_disk import GrowingArray, ReleasedRows, mapped, release
from psp.inference.search.vectors import Rows, from_stored

#: Lists: this times the root of the rows, at most so many; rows that train a centroid; bytes of them at most.
ROOTS, MOST_LISTS, TRAINING_ROWS, TRAINING_BYTES = 4, 16_384, 40, 256 << 20
#: Nearest centroids among which the second is chosen, and rows for which this is done at a time.
SECONDS, SECOND_ROWS = 16, 1024
#: Queries at a time: the more, the larger the products and the fewer times the file is read.
QUERIES = 65_536


class Lists(Searcher):
    """Centroids, and where the rows of each begin.

    Attributes:
        centroids: float32 (lists, dim), of length 1.
        starts: int64 (lists + 1,): the rows of list ``n`` are those from ``starts[n]`` to ``starts[n + 1]``.
        numbers: the same for both copies of a row.
    """

    numbers: Rows
    name = "ivf"
    FILE = "lists.npz"
    #: Lists that a query is compared with, by default.
    EFFORT = 64
    BATCH = QUERIES

    def __init__(
        self, rows: Rows, centroids: np.ndarray, starts: np.ndarray, numbers: Rows, rows_file: Path | None = None
    ) -> None:
        super().__init__(rows, numbers, rows_file)
        self.centroids, self.starts = centroids, starts

    @classmethod
    def prepare(cls, rows: Rows, folder: Path | None, name: str) -> Lists:
        """Group rows by list, in the files ``<name>.grouped`` and ``<name>.order``."""
        if folder is None:
            raise ValueError("lists need a folder")
        trained = folder / f"{name}.centroids.npy"
        if not trained.exists():
            with atomic(trained) as temporary, temporary.open("wb") as file:
                np.save(file, _centroids(rows))
        centroids = np.load(trained)
        copies = min(2, len(centroids))
        dtype = np.dtype((np.int32, (copies,)))
        assigned = _assigned(rows, centroids, GrowingArray(folder / f"{name}.assigned", dtype))
        starts = np.zeros(len(centroids) + 1, np.int64)
        for start in range(0, len(rows), QUERIES):
            starts[1:] += np.bincount(assigned[start : start + QUERIES].ravel(), minlength=len(centroids))
        np.cumsum(starts, out=starts)
        rows_file = folder / f"{name}.grouped"
        grouped = _writable(rows_file, np.dtype((rows.dtype, (rows.shape[1],))), copies * len(rows))
        order = _writable(folder / f"{name}.order", np.dtype(np.int64), copies * len(rows))
        ends = starts[:-1].copy()
        with Progress("grouping vectors", "sentences", len(rows)) as bar:
            for start, block in _blocks(rows):
                lists = np.array(assigned[start : start + len(block)]).ravel()
                by_list = np.argsort(lists, kind="stable")
                lists = lists[by_list]
                first = np.searchsorted(lists, lists)  # of the block's rows, the first of the same list
                places = ends[lists] + np.arange(len(lists)) - first
                grouped[places], order[places] = block[by_list // copies], by_list // copies + start
                np.add.at(ends, lists, 1)
                for array in (grouped, order, assigned):
                    release(array)
                bar.add(len(block))
        return cls(ReleasedRows(grouped), centroids, starts, ReleasedRows(order), rows_file)

    def queries_in(self, memory: int, k: int, effort: int | None) -> int:
        """How many queries a block may have to be compared in so many bytes."""
        effort = effort or self.EFFORT
        a_query = 2 * 4 * self.centroids.shape[1] + 40 * min(effort, len(self.centroids)) + 64 * k
        return min(QUERIES, max(1024, memory // 4 // a_query))

    def places(self, queries: np.ndarray, k: int, effort: int) -> Found:
        """Compare each query with so many lists; of a row's two copies one is found."""
        faiss = library()
        rows = self.rows
        wanted = min(2 * k, len(rows))  # a row may come twice
        probed = min(effort, len(self.centroids))
        batch = np.ascontiguousarray(from_stored(queries, np.float32))
        near = faiss.knn(batch, self.centroids, probed, metric=faiss.METRIC_INNER_PRODUCT)[1].ravel()
        by_list = np.argsort(near, kind="stable")
        asked, counts = np.unique(near[by_list], return_counts=True)
        scores = np.full((len(batch), wanted), -np.inf, np.float32)
        places = np.full((len(batch), wanted), -1, np.int64)
        for number, who in zip(asked.tolist(), np.split(by_list // probed, np.cumsum(counts)[:-1]), strict=True):
            first, end = self.starts[number : number + 2].tolist()
            if first == end:
                continue
            block = np.ascontiguousarray(from_stored(rows[first:end], np.float32))
            new = faiss.knn(batch[who], block, min(wanted, len(block)), metric=faiss.METRIC_INNER_PRODUCT)
            scores[who], places[who] = merged((scores[who], places[who]), (new[0], new[1] + first), wanted)
        return self._distinct(exact_cosines(queries, rows, places), k)

    def _distinct(self, found: Found, k: int) -> Found:
        """The k nearest, without second copies: these have the same cosine, and so, sorted, stand side by side."""
        numbers = np.where(found.numbers < 0, -1, self.numbers[found.numbers])
        cosines = np.where(numbers < 0, -np.inf, found.cosines)
        order = np.lexsort((numbers, -cosines), axis=1)
        numbers = np.take_along_axis(numbers, order, 1)
        again = np.zeros(numbers.shape, bool)
        again[:, 1:] = numbers[:, 1:] == numbers[:, :-1]
        again |= numbers < 0
        kept = np.argsort(again, axis=1, kind="stable")[:, :k]
        order, missing = np.take_along_axis(order, kept, 1), np.take_along_axis(again, kept, 1)
        cosines, places = np.take_along_axis(found.cosines, order, 1), np.take_along_axis(found.numbers, order, 1)
        return Found(np.where(missing, 0.0, cosines), np.where(missing, -1, places))

    def save(self, path: Path) -> None:
        with path.open("wb") as file:
            np.savez(file, centroids=self.centroids, starts=self.starts)

    @classmethod
    def load(cls, path: Path, rows: Rows, numbers: Rows) -> Lists:
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return cls(rows, arrays["centroids"], arrays["starts"], numbers)
        except (OSError, KeyError, *ARRAY_DAMAGE):
            raise DataError("missing, truncated or damaged; make the index again", path) from None


def _centroids(rows: Rows) -> np.ndarray:
    """Centroids of a sample of the rows by spherical k-means, float32 (lists, dim)."""
    faiss = library()
    dim = rows.shape[1]
    lists = min(MOST_LISTS, math.ceil(ROOTS * math.sqrt(len(rows))), len(rows))
    most = min(len(rows), lists * TRAINING_ROWS, max(lists, TRAINING_BYTES // (4 * dim)))
    sample = np.sort(np.random.default_rng(1).choice(len(rows), most, replace=False))
    step = max(1, BLOCK_BYTES // (4 * dim))
    vectors = np.concatenate(
        [from_stored(rows[sample[start : start + step]], np.float32) for start in range(0, most, step)]
    )
    trained = faiss.Kmeans(dim, lists, niter=10, spherical=True, seed=1, min_points_per_centroid=1)
    trained.train(vectors)
    return np.ascontiguousarray(trained.centroids)


def _assigned(rows: Rows, centroids: np.ndarray, assigned: GrowingArray) -> np.ndarray:
    """The numbers of each row's lists, int32 (m, copies), memory-mapped."""
    faiss = library()
    with Progress("assigning vectors to lists", "sentences", len(rows), done=len(assigned)) as bar:
        for _, block in _blocks(rows, len(assigned)):
            vectors = np.ascontiguousarray(from_stored(block, np.float32))
            cosines, near = faiss.knn(
                vectors, centroids, min(SECONDS, len(centroids)), metric=faiss.METRIC_INNER_PRODUCT
            )
            lists = near[:, : assigned.dtype.shape[0]].astype(np.int32)
            if lists.shape[1] > 1:
                lists[:, 1] = _second(vectors, centroids, cosines, near)
            assigned.append(lists)
            bar.add(len(block))
    return assigned.mapped()


def _second(vectors: np.ndarray, centroids: np.ndarray, cosines: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The list among each row's nearest that is best besides the first.

    A query misses a row if the row's distance from its centroid lies along the query. The second centroid is therefore
    near to the row, and its difference from the row at right angles to that of the first: SOAR's loss with a weight of
    1, which is 2 - 2 cos + (r (x - c))², where r is the direction of the first difference.
    """
    second = np.empty(len(vectors), near.dtype)
    for start in range(0, len(vectors), SECOND_ROWS):
        part = slice(start, start + SECOND_ROWS)
        rows, others = vectors[part], centroids[near[part, 1:]]
        away = rows - centroids[near[part, 0]]
        away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-12)
        along = np.einsum("rd,rd->r", rows, away)[:, None] - np.einsum("rcd,rd->rc", others, away)
        best = (2 - 2 * cosines[part, 1:] + along**2).argmin(axis=1)
        second[part] = np.take_along_axis(near[part, 1:], best[:, None], 1)[:, 0]
    return second


def _blocks(rows: Rows, first: int = 0):  # type: ignore[no-untyped-def]
    step = max(1, BLOCK_BYTES // (4 * rows.shape[1]))
    for start in range(first, len(rows), step):
        yield start, rows[start : start + step]


def _writable(path: Path, dtype: np.dtype, rows: int) -> np.ndarray:
    """Map a file of rows for writing; its space is taken first, since a full disk kills a process that maps it."""
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, rows * dtype.itemsize)
    return mapped(path, dtype, rows, "r+")
