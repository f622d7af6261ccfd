"""Approximate search in inverted lists on disk, for more vectors than fit into memory.

Rows are grouped by the nearest of some centroids, so that a list is one piece of a file. A block of queries is compared
with the lists one after the other, each with the queries that have its centroid among their nearest: products of whole
matrices, as in exact search, of a fraction of the rows.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np

from psp.core.corruption import ARRAY_DAMAGE
from psp.core.errors import DataError
from psp.core.progress import Progress
from psp.inference.search.neighbours import BLOCK_BYTES, Found, exact_cosines, library, merged
from psp.inference.search.on_disk import GrowingArray, mapped, release
from psp.inference.search.vectors import Rows, from_stored

#: Lists: this times the root of the rows, at most so many; rows that train a centroid; bytes of them at most.
ROOTS, MOST_LISTS, TRAINING_ROWS, TRAINING_BYTES = 2, 8192, 40, 256 << 20
#: Queries at a time: the more, the larger the products and the fewer times the file is read.
QUERIES = 65_536


class Lists:
    """Centroids, and where the rows of each begin.

    Attributes:
        centroids: float32 (lists, dim), of length 1.
        starts: int64 (lists + 1,): the rows of list ``n`` are those from ``starts[n]`` to ``starts[n + 1]``.
    """

    #: Lists that a query is compared with, by default.
    EFFORT = 64

    def __init__(self, centroids: np.ndarray, starts: np.ndarray) -> None:
        self.centroids, self.starts = centroids, starts

    @classmethod
    def build(cls, rows: Rows, folder: Path, name: str) -> tuple[Lists, np.ndarray, np.ndarray]:
        """Group rows by list, in the files ``<name>.grouped`` and ``<name>.order``.

        Args:
            rows: float32, float16 or int8 (m, dim), unit vectors; at least one.
            folder: of :func:`psp.inference.search.on_disk.resumable`; a killed run goes on.

        Returns:
            The lists; the grouped rows, memory-mapped; and the number of each grouped row in ``rows``, int64 (m,).
        """
        trained = folder / f"{name}.centroids.npy"
        if not trained.exists():
            with (folder / f"{name}.centroids.part").open("wb") as file:
                np.save(file, _centroids(rows))
            Path(file.name).rename(trained)
        centroids = np.load(trained)
        numbers = _assigned(rows, centroids, GrowingArray(folder / f"{name}.assigned", np.dtype(np.int32)))
        starts = np.zeros(len(centroids) + 1, np.int64)
        for start in range(0, len(rows), QUERIES):
            starts[1:] += np.bincount(numbers[start : start + QUERIES], minlength=len(centroids))
        np.cumsum(starts, out=starts)
        grouped = _writable(folder / f"{name}.grouped", np.dtype((rows.dtype, (rows.shape[1],))), len(rows))
        order = _writable(folder / f"{name}.order", np.dtype(np.int64), len(rows))
        ends = starts[:-1].copy()
        with Progress("grouping vectors", "sentences", len(rows)) as bar:
            for start, block in _blocks(rows):
                lists = np.array(numbers[start : start + len(block)])
                by_list = np.argsort(lists, kind="stable")
                lists = lists[by_list]
                first = np.searchsorted(lists, lists)  # of the block's rows, the first of the same list
                places = ends[lists] + np.arange(len(lists)) - first
                grouped[places], order[places] = block[by_list], by_list + start
                np.add.at(ends, lists, 1)
                for array in (grouped, order, numbers):
                    release(array)
                bar.add(len(block))
        return cls(centroids, starts), grouped, order

    def queries_in(self, memory: int, k: int, effort: int) -> int:
        """How many queries a block may have to be compared in so many bytes."""
        a_query = 2 * 4 * self.centroids.shape[1] + 40 * min(effort, len(self.centroids)) + 64 * k
        return min(QUERIES, max(1024, memory // 4 // a_query))

    def nearest(self, queries: Rows, rows: Rows, k: int, effort: int, progress: Progress | None = None) -> Found:
        """Find approximately the k nearest rows; like :meth:`psp.inference.search.neighbours.Graph.nearest`.

        Args:
            queries: float32, float16 or int8 (n, dim), unit vectors.
            rows: the grouped rows.
            k: 1 or more.
            effort: lists that each query is compared with.
            progress: counts queries.
        """
        faiss = library()
        k = min(k, len(rows))
        probed = min(effort, len(self.centroids))
        parts = []
        for start in range(0, len(queries), QUERIES):
            stored = queries[start : start + QUERIES]
            batch = np.ascontiguousarray(from_stored(stored, np.float32))
            near = faiss.knn(batch, self.centroids, probed, metric=faiss.METRIC_INNER_PRODUCT)[1].ravel()
            by_list = np.argsort(near, kind="stable")
            asked, counts = np.unique(near[by_list], return_counts=True)
            scores = np.full((len(batch), k), -np.inf, np.float32)
            numbers = np.full((len(batch), k), -1, np.int64)
            for number, who in zip(asked.tolist(), np.split(by_list // probed, np.cumsum(counts)[:-1]), strict=True):
                first, end = self.starts[number : number + 2].tolist()
                if first == end:
                    continue
                block = np.ascontiguousarray(from_stored(rows[first:end], np.float32))
                new = faiss.knn(batch[who], block, min(k, len(block)), metric=faiss.METRIC_INNER_PRODUCT)
                scores[who], numbers[who] = merged((scores[who], numbers[who]), (new[0], new[1] + first), k)
            parts.append(exact_cosines(stored, rows, numbers))
            if progress is not None:
                progress.add(len(batch))
        if not parts:
            return Found(np.zeros((0, k)), np.zeros((0, k), np.int64))
        return Found(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def save(self, path: Path) -> None:
        """Write centroids and starts to a file (.npz)."""
        with path.open("wb") as file:
            np.savez(file, centroids=self.centroids, starts=self.starts)

    @classmethod
    def load(cls, path: Path) -> Lists:
        """Load saved lists.

        Raises:
            DataError: the file is missing, truncated or damaged.
        """
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return cls(arrays["centroids"], arrays["starts"])
        except (OSError, KeyError, *ARRAY_DAMAGE):
            raise DataError("missing, truncated or damaged; make the index again", path) from None

    def fits(self, rows: Rows) -> bool:
        """Tell whether the lists are of as many rows and dimensions."""
        shape = (int(self.starts[-1]), self.centroids.shape[1])
        return shape == rows.shape and len(self.starts) == len(self.centroids) + 1


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


def _assigned(rows: Rows, centroids: np.ndarray, numbers: GrowingArray) -> np.ndarray:
    """The number of the nearest centroid of each row, int32 (m,), memory-mapped."""
    faiss = library()
    with Progress("assigning vectors to lists", "sentences", len(rows), done=len(numbers)) as bar:
        for _, block in _blocks(rows, len(numbers)):
            queries = np.ascontiguousarray(from_stored(block, np.float32))
            nearest = faiss.knn(queries, centroids, 1, metric=faiss.METRIC_INNER_PRODUCT)[1]
            numbers.append(nearest.ravel().astype(np.int32))
            bar.add(len(block))
    return numbers.mapped()


def _blocks(rows: Rows, first: int = 0):  # type: ignore[no-untyped-def]
    step = max(1, BLOCK_BYTES // (4 * rows.shape[1]))
    for start in range(first, len(rows), step):
        yield start, rows[start : start + step]


def _writable(path: Path, dtype: np.dtype, rows: int) -> np.ndarray:
    """Map a file of rows for writing; its space is taken first, since a full disk kills a process that maps it."""
    with path.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, rows * dtype.itemsize)
    return mapped(path, dtype, rows, "r+")
