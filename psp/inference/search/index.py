"""Search a corpus for the lines nearest to a query, with an index in memory or on disk.

A saved index is a folder:

- ``index.json``: format (1), kind ("psp-index"), model (its ``identity()``) and corpus (SHA-256), dim, dtype, rows,
  approximate ("hnsw", "ivf" or null), sha256 of the other files
- ``vectors.bin``: the unit vectors as contiguous rows of ``dtype``; with "ivf", those of a list side by side, and
  each in two lists
- ``lines.npy``: int64, each row's line number in the corpus, from 0
- ``graph.faiss``: the graph of "hnsw"
- ``lists.npz``: the lists of "ivf"
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from psp.core.corruption import ARRAY_DAMAGE
from psp.core.errors import DataError
from psp.core.files import open_regular, read_json, sha256, write_json
from psp.inference.search.base import Searcher
from psp.inference.search.graph import Graph
from psp.inference.search.lists import Lists
from psp.inference.search.neighbours import Exact, library
from psp.inference.search.on_disk import ReleasedRows, resumable, write_vectors
from psp.inference.search.vectors import CHUNK, IndexBlock, embed, embedded, fill, unit
from psp.inference.vectorfile import check_rows, write_npy_header
from psp.models.text_model import TextModel
from psp.text.lines import LineFile

#: The ways to find neighbours, by their names in :data:`psp.inference.search.INDEXES`.
SEARCHERS: dict[str, type[Searcher]] = {one.name: one for one in (Exact, Graph, Lists)}
FORMAT, KIND = 1, "psp-index"
DESCRIPTION, VECTORS, LINES = "index.json", "vectors.bin", "lines.npy"
#: Number of lines on which given vectors are compared with the model's, and the lowest cosine allowed (int8: 0.999).
#: Whether bits have changed since psp embed wrote them, their SHA-256 tells.
SAMPLE, CLOSE = 64, 0.98


class Hit(NamedTuple):
    """A line found for a query.

    Attributes:
        cosine: -1 to 1.
        line: line number in the corpus, from 1.
        text: the line.
    """

    cosine: float
    line: int
    text: str


class Index:
    """The vectors of a corpus.

    Attributes:
        searcher: finds rows, which are called by their line numbers, from 0. Lines without a known piece have no row.
    """

    def __init__(self, model: TextModel, corpus: LineFile, searcher: Searcher) -> None:
        self.model, self.corpus, self.searcher = model, corpus, searcher

    @classmethod
    def build(
        cls,
        model: TextModel,
        corpus: LineFile,
        *,
        vectors: Path | None = None,
        dtype: str = "float32",
        kind: str = "flat",
        folder: Path | None = None,
    ) -> Index:
        """Embed a corpus. Memory: the rows (unless saved to disk), 8 bytes per row, and a chunk.

        Args:
            model: the model.
            corpus: sentences, one per line.
            vectors: a .npy file with the model's vectors of the corpus; None to compute them.
            dtype: in which they are stored: float32, float16 or int8.
            kind: one of :data:`psp.inference.search.INDEXES`; "ivf" needs a folder.
            folder: save the index there; its rows are then not in memory. If the process is killed or fails, the
                next call with the same arguments goes on from what is in ``<folder>.work``.

        Raises:
            DataError: a line is not UTF-8, no line has a known piece, ``vectors`` do not match, or ``folder`` already
                exists or cannot be written.
            PspError: faiss is not installed.
        """
        library()  # fail before the work
        searcher = SEARCHERS[kind]
        stored = np.dtype(dtype)
        blocks = partial(embedded, model, corpus) if vectors is None else _read(model, corpus, vectors)
        if folder is None:
            table = np.empty((len(corpus), model.dim), stored)  # untouched pages take no memory
            lines = fill(table, blocks(0), corpus)
            prepared = searcher.prepare(table[: len(lines)], None, "corpus")
            prepared.numbers = lines
            return cls(model, corpus, prepared)
        if folder.exists() or folder.is_symlink():
            raise DataError("already exists; name another place, or remove it first", folder)
        description = {
            "format": FORMAT,
            "kind": KIND,
            "model": model.identity(),
            "corpus": corpus.sha256,
            "dim": model.dim,
            "dtype": stored.name,
            "approximate": None if kind == "flat" else kind,
        }
        with resumable(folder, description | {"vectors": vectors and str(vectors.absolute())}) as work:
            made = work / "index"
            if not (made / VECTORS).exists():  # moved there last, when all else is done
                rows, lines = write_vectors(work, "corpus", model.dim, stored, corpus, blocks)
                shutil.rmtree(made, ignore_errors=True)  # a killed process's
                made.mkdir()
                prepared = searcher.prepare(ReleasedRows(rows), work, "corpus")
                vectors_file = prepared.rows_file or work / "corpus.vectors"
                order = np.arange(len(lines)) if prepared.numbers is None else prepared.numbers
                sums = {VECTORS: sha256(vectors_file)}
                if searcher.FILE:
                    prepared.save(made / searcher.FILE)
                    sums[searcher.FILE] = sha256(made / searcher.FILE)
                numbers = ReleasedRows(lines)
                with (made / LINES).open("wb") as file:
                    write_npy_header(file, (len(order),), "int64")
                    for start in range(0, len(order), CHUNK):
                        file.write(numbers[order[start : start + CHUNK]].data)
                sums[LINES] = sha256(made / LINES)
                write_json(made / DESCRIPTION, description | {"rows": len(order), "sha256": sums})
                vectors_file.rename(made / VECTORS)
            made.rename(folder)
        return cls.load(folder, model, corpus)

    @classmethod
    def load(cls, folder: Path, model: TextModel, corpus: LineFile) -> Index:
        """Load a saved index; its rows are memory-mapped, so that processes share them.

        Raises:
            DataError: a file is missing, damaged or of another version, or the index is of another model or corpus.
            PspError: faiss is not installed.
        """
        library()
        if not folder.is_dir():
            raise DataError("no such folder; make it with --save-index", folder)
        description = read_json(folder / DESCRIPTION)
        if not isinstance(description, dict) or description.get("kind") != KIND:
            raise DataError(f'not an index of psp search ("kind": "{KIND}" is missing)', folder / DESCRIPTION)
        if description.get("format") != FORMAT:
            raise DataError(
                f"has format {description.get('format')}, but this psp reads {FORMAT}; make the index again",
                folder / DESCRIPTION,
            )
        for key, value, what in (
            ("model", model.identity(), "model"),
            ("corpus", corpus.sha256, f"corpus than {corpus.path}"),
        ):
            if description.get(key) != value:
                raise DataError(f"is the index of another {what}; make it again with --save-index", folder)
        # Nothing in the files is checked further: a changed graph makes faiss ask for any amount of memory.
        sums = description.get("sha256")
        if not isinstance(sums, dict):
            raise DataError("lists no checksums; make the index again with --save-index", folder / DESCRIPTION)
        kind = description.get("approximate") or "flat"
        if kind not in SEARCHERS:
            raise DataError(f"unknown approximate search {kind!r}", folder / DESCRIPTION)
        searcher = SEARCHERS[kind]
        files = [VECTORS, LINES, *filter(None, [searcher.FILE])]
        for name in files:
            if not (folder / name).is_file() or sha256(folder / name) != sums.get(name):
                raise DataError("missing, truncated or damaged; make the index again with --save-index", folder / name)
        try:
            dtype, shape = np.dtype(description["dtype"]), (int(description["rows"]), int(description["dim"]))
            lines = np.load(folder / LINES, mmap_mode="r", allow_pickle=False)
            size = (folder / VECTORS).stat().st_size
            if size != dtype.itemsize * shape[0] * shape[1] or lines.shape != shape[:1] or shape[1] != model.dim:
                raise ValueError("sizes do not match")
            rows = np.memmap(folder / VECTORS, dtype, "r", shape=shape)
        except (KeyError, TypeError, *ARRAY_DAMAGE) as error:
            raise DataError(f"damaged ({error}); make the index again with --save-index", folder) from None
        return cls(model, corpus, searcher.load(folder / files[-1], rows, lines))

    def search(self, queries: Sequence[str], k: int = 10, effort: int | None = None) -> list[list[Hit]]:
        """Return the k nearest lines of each query, nearest first, ties to the earlier line.

        A query without a known piece has no hits; a small corpus yields fewer than k. Approximate search misses some.

        Args:
            queries: texts; memory grows with their number.
            k: 1 or more.
            effort: of approximate search: higher is more accurate and slower; None for its default.
        """
        vectors, kept = embed(self.model, queries)
        neighbours = self.searcher.nearest(vectors, k, effort)
        hits: list[list[Hit]] = [[] for _ in queries]
        for query, cosines, numbers in zip(kept.tolist(), *neighbours, strict=True):
            lines = numbers[numbers >= 0].tolist()
            hits[query] = [
                Hit(cosine, line + 1, self.corpus[line]) for cosine, line in zip(cosines.tolist(), lines, strict=False)
            ]
        return hits

    def release(self) -> None:
        """Keep no vector in memory after it was read: slower, for rows that do not fit."""
        self.searcher.rows = ReleasedRows(self.searcher.rows)


def _read(model: TextModel, corpus: LineFile, path: Path) -> Callable[[int], Iterator[IndexBlock]]:
    """Like :func:`psp.inference.search.vectors.embedded`, with vectors from a file."""
    try:
        with open_regular(path):
            table = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path) from None
    except ARRAY_DAMAGE:
        raise DataError("not a .npy file of vectors, or truncated; make it with psp embed", path) from None
    if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype.kind != "f":
        raise DataError("not a matrix of floats; make it with psp embed", path)
    if table.shape != (len(corpus), model.dim):
        raise DataError(
            f"has {len(table):,} vectors of {table.shape[1]} dimensions, but {corpus.path} has {len(corpus):,} lines "
            f"and the model {model.dim} dimensions; make it again with psp embed",
            path,
        )
    check_rows(path, table)
    sample = np.unique(np.linspace(0, len(corpus) - 1, SAMPLE).astype(np.int64))
    expected, kept = embed(model, [corpus[line] for line in sample.tolist()])
    directions, there = unit(table[sample[kept]])
    if len(there) < len(kept) or (np.einsum("ij,ij->i", expected, directions) < CLOSE).any():
        raise DataError(f"does not hold this model's vectors of {corpus.path}; make it again with psp embed", path)
    return partial(_rows_of, table, path, model, corpus)


def _rows_of(table: np.ndarray, path: Path, model: TextModel, corpus: LineFile, first: int) -> Iterator[IndexBlock]:
    for texts in corpus.chunks(CHUNK, first):
        read = table[first : first + len(texts)]
        if len(bad := np.flatnonzero(~np.isfinite(read).all(axis=1))):
            raise DataError(f"row {first + bad[0]:,} is not finite; make it again with psp embed", path)
        rows, kept = unit(read)
        both = model.understood(texts)[kept]
        yield IndexBlock(rows[both], kept[both] + first, len(texts))
        first += len(texts)
