"""Search a corpus for the lines nearest to a query, with an index in memory or on disk.

A saved index is a folder:

- ``index.json``: format (1), kind ("psp-index"), model (its ``identity()``) and corpus (SHA-256), dim, dtype, rows,
  graph (bool)
- ``vectors.bin``: the unit vectors as contiguous rows of ``dtype``
- ``lines.npy``: int64, each row's line number in the corpus, from 0
- ``graph.faiss``: the graph for approximate search, if there is one
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from psp.core.corruption import ARRAY_DAMAGE
from psp.core.errors import DataError
from psp.core.files import new_folder, read_json, sha256, write_json
from psp.core.progress import Progress
from psp.inference.search.neighbours import Graph, library, nearest, unit
from psp.models.text_model import TextModel
from psp.text.lines import LineFile

FORMAT, KIND = 1, "psp-index"
DESCRIPTION, VECTORS, LINES, GRAPH = "index.json", "vectors.bin", "lines.npy", "graph.faiss"
#: Lines embedded at a time: 32 MB of vectors at 1,024 dimensions.
CHUNK = 8192
#: Number of lines on which given vectors are compared with the model's, and the lowest cosine allowed (int8: 0.999).
SAMPLE, CLOSE = 64, 0.98
#: Default effort of an approximate search. With effort 32, 64, 128, 256, 512 it finds 81, 88, 92, 94, 96% of the 10
#: nearest among 100,000 sentences of 1,024 dimensions, in 0.7, 1.0, 1.7, 2.7, 5.1 ms per query on one core. Exact
#: search takes 1.9 ms per query in batches; among a million sentences 17 ms, and 310 ms for a single query.
EFFORT = 128


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


def embed(model: TextModel, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors of the texts with at least one known piece, and the indices of these texts.

    Blank texts have a zero vector, and texts of unknown pieces all have the same vector; neither can be searched for.

    Returns:
        float32 (m, dim) and int64 (m,).
    """
    embedded, understood = model.embed_understood(texts)
    vectors, kept = unit(embedded)
    both = understood[kept]
    return (vectors, kept) if both.all() else (vectors[both], kept[both])


class IndexBlock(NamedTuple):
    """A part of a corpus.

    Attributes:
        rows: float32 (m, dim), unit vectors.
        lines: int64 (m,), each row's line number, from 0.
        read: number of lines in the part, including those without a row.
    """

    rows: np.ndarray
    lines: np.ndarray
    read: int


class Index:
    """The vectors of a corpus.

    Attributes:
        rows: float32 or float16 (m, dim), unit vectors; in memory, or memory-mapped.
        lines: int64 (m,), each row's line number, from 0. Lines without a known piece have no row.
        graph: the graph for approximate search, or None.
    """

    def __init__(
        self, model: TextModel, corpus: LineFile, rows: np.ndarray, lines: np.ndarray, graph: Graph | None
    ) -> None:
        self.model, self.corpus = model, corpus
        self.rows, self.lines, self.graph = rows, lines, graph

    @classmethod
    def build(
        cls,
        model: TextModel,
        corpus: LineFile,
        *,
        vectors: Path | None = None,
        half: bool = False,
        graph: bool = False,
        folder: Path | None = None,
    ) -> Index:
        """Embed a corpus. Memory: the rows (unless saved to disk), 8 bytes per line, and a chunk.

        Args:
            model: the model.
            corpus: sentences, one per line.
            vectors: a .npy file with the model's vectors of the corpus; None to compute them.
            half: store them in float16.
            graph: build a graph for approximate search.
            folder: save the index there; its rows are then not in memory.

        Raises:
            DataError: a line is not UTF-8, no line has a known piece, ``vectors`` do not match, or ``folder`` already
                exists or cannot be written.
            PspError: faiss is not installed.
        """
        library()  # fail before the work
        dtype = np.dtype(np.float16 if half else np.float32)
        blocks = _embedded(model, corpus) if vectors is None else _read(model, corpus, vectors)
        if folder is None:
            table = np.empty((len(corpus), model.dim), dtype)  # untouched pages take no memory
            lines = fill(table, blocks, corpus)
            rows = table[: len(lines)]
            return cls(model, corpus, rows, lines, linked(rows) if graph else None)
        with new_folder(folder) as temporary:
            lines = _write(temporary / VECTORS, blocks, dtype, corpus)
            np.save(temporary / LINES, lines)
            if graph:
                rows = np.memmap(temporary / VECTORS, dtype, "r", shape=(len(lines), model.dim))
                linked(rows).save(temporary / GRAPH)
            description = {
                "format": FORMAT,
                "kind": KIND,
                "model": model.identity(),
                "corpus": corpus.sha256,
                "dim": model.dim,
                "dtype": dtype.name,
                "rows": len(lines),
                "graph": graph,
                "sha256": {name: sha256(temporary / name) for name in (VECTORS, LINES, *([GRAPH] if graph else []))},
            }
            write_json(temporary / DESCRIPTION, description)
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
        # What is read below is not checked there: a changed graph makes faiss ask for any amount of memory.
        sums = description.get("sha256")
        if not isinstance(sums, dict):
            raise DataError("was made by an earlier psp, without checksums; make it again with --save-index", folder)
        for name in (VECTORS, LINES, *([GRAPH] if description.get("graph") else [])):
            if not (folder / name).is_file() or sha256(folder / name) != sums.get(name):
                raise DataError("missing, truncated or damaged; make the index again with --save-index", folder / name)
        try:
            dtype, shape = np.dtype(description["dtype"]), (int(description["rows"]), int(description["dim"]))
            lines = np.load(folder / LINES, allow_pickle=False)
            size = (folder / VECTORS).stat().st_size
            if size != dtype.itemsize * shape[0] * shape[1] or lines.shape != shape[:1] or shape[1] != model.dim:
                raise ValueError("sizes do not match")
            if lines.dtype != np.int64 or (len(lines) and not 0 <= lines.min() <= lines.max() < len(corpus)):
                raise ValueError("lines that the corpus does not have")
            rows = np.memmap(folder / VECTORS, dtype, "r", shape=shape)
        except (KeyError, TypeError, *ARRAY_DAMAGE) as error:
            raise DataError(f"damaged ({error}); make the index again with --save-index", folder) from None
        graph = Graph.load(folder / GRAPH) if description.get("graph") else None
        if graph is not None and not graph.fits(rows):
            raise DataError("belongs to other vectors; make the index again", folder / GRAPH)
        return cls(model, corpus, rows, lines, graph)

    def search(self, queries: Sequence[str], k: int = 10, effort: int = EFFORT) -> list[list[Hit]]:
        """Return the k nearest lines of each query, nearest first, ties to the earlier line.

        A query without a known piece has no hits; a small corpus yields fewer than k. With a graph, some are missed.

        Args:
            queries: texts; memory grows with their number.
            k: 1 or more.
            effort: effort of a graph search: higher is more accurate and slower.
        """
        vectors, kept = embed(self.model, queries)
        if self.graph is None:
            neighbours = nearest(vectors, self.rows, k)
        else:
            neighbours = self.graph.nearest(vectors, self.rows, k, effort)
        hits: list[list[Hit]] = [[] for _ in queries]
        for query, cosines, numbers in zip(kept.tolist(), *neighbours, strict=True):
            lines = self.lines[numbers[numbers >= 0]].tolist()
            hits[query] = [
                Hit(cosine, line + 1, self.corpus[line]) for cosine, line in zip(cosines.tolist(), lines, strict=False)
            ]
        return hits


def linked(rows: np.ndarray) -> Graph:
    """Call :meth:`Graph.build` with a progress bar."""
    with Progress("linking neighbours", "sentences", len(rows)) as bar:
        return Graph.build(rows, bar)


def _embedded(model: TextModel, corpus: LineFile) -> Iterator[IndexBlock]:
    """Embed a corpus, a chunk at a time."""
    first = 0
    for texts in corpus.chunks(CHUNK):
        rows, kept = embed(model, texts)
        yield IndexBlock(rows, kept + first, len(texts))
        first += len(texts)


def _read(model: TextModel, corpus: LineFile, path: Path) -> Iterator[IndexBlock]:
    """Like :func:`_embedded`, with vectors from a file."""
    try:
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
    sample = np.unique(np.linspace(0, len(corpus) - 1, SAMPLE).astype(np.int64))
    expected, kept = embed(model, [corpus[line] for line in sample.tolist()])
    directions, there = unit(table[sample[kept]])
    if len(there) < len(kept) or (np.einsum("ij,ij->i", expected, directions) < CLOSE).any():
        raise DataError(f"does not hold this model's vectors of {corpus.path}; make it again with psp embed", path)
    return _rows_of(table, model, corpus)


def _rows_of(table: np.ndarray, model: TextModel, corpus: LineFile) -> Iterator[IndexBlock]:
    first = 0
    for texts in corpus.chunks(CHUNK):
        rows, kept = unit(table[first : first + len(texts)])
        both = model.understood(texts)[kept]
        yield IndexBlock(rows[both], kept[both] + first, len(texts))
        first += len(texts)


def fill(table: np.ndarray, blocks: Iterator[IndexBlock], corpus: LineFile) -> np.ndarray:
    """Copy the rows of blocks into the first rows of a matrix; return each row's line number, int64 (m,).

    Raises:
        DataError: there are no rows.
    """
    numbers, count = [], 0
    for block in _watched(blocks, corpus):
        table[count : count + len(block.rows)] = block.rows
        numbers.append(block.lines)
        count += len(block.rows)
    return np.concatenate(numbers)


def _write(path: Path, blocks: Iterator[IndexBlock], dtype: np.dtype, corpus: LineFile) -> np.ndarray:
    """Like :func:`fill`, into a file; written rather than mapped, since a full disk kills a process that maps it."""
    numbers = []
    with path.open("wb") as file:
        for block in _watched(blocks, corpus):
            file.write(block.rows.astype(dtype, copy=False).data)
            numbers.append(block.lines)
    return np.concatenate(numbers)


def _watched(blocks: Iterator[IndexBlock], corpus: LineFile) -> Iterator[IndexBlock]:
    count = 0
    with Progress(f"embedding {corpus.path.name}", "lines", len(corpus)) as bar:
        for block in blocks:
            yield block
            count += len(block.rows)
            bar.add(block.read)
    if count == 0:
        raise DataError("no line has a piece known to the model; is the text in the model's languages?", corpus.path)
