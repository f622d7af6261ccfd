"""Search in a corpus: the index of its lines, in memory or on disk, and the lines nearest to a query.

A saved index is a folder:

- ``index.json``: format (1), kind ("psp-index"), model and corpus (SHA-256, see :func:`identity`), dim, dtype, rows,
  graph (bool)
- ``vectors.bin``: rows of ``dtype``, each of length 1, one after another
- ``lines.npy``: int64, the number of each row's line in the corpus, from 0
- ``graph.faiss``: where there is a graph, for an approximate search
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from psp.errors import DataError
from psp.files import new_folder, read_json, write_json
from psp.linefile import LineFile
from psp.model import Model
from psp.neighbours import Graph, library, nearest, unit
from psp.progress import Progress

FORMAT, KIND = 1, "psp-index"
DESCRIPTION, VECTORS, LINES, GRAPH = "index.json", "vectors.bin", "lines.npy", "graph.faiss"
#: Lines that are embedded together: 32 MB of vectors at 1,024 numbers.
CHUNK = 8192
#: Lines on which a file of vectors is compared with the model's, and how close they must be (8-bit tables: 0.999).
SAMPLE, CLOSE = 64, 0.98
#: Of an approximate search. By effort 32, 64, 128, 256, 512 it finds 81, 88, 92, 94, 96% of the 10 nearest among
#: 100,000 sentences of 1,024 numbers, in 0.7, 1.0, 1.7, 2.7, 5.1 ms a query on one core. The exact search takes 1.9 ms,
#: where queries come together; 17 ms among a million, and 310 ms for a query alone.
EFFORT = 128


class Hit(NamedTuple):
    """A line that is near to a query.

    Attributes:
        cosine: -1 to 1.
        line: its number in the corpus, from 1.
        text: the line.
    """

    cosine: float
    line: int
    text: str


def embed(model: Model, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of length 1 of the texts in which the model knows something, and the numbers of these texts.

    Blank texts have no direction, and texts of unknown pieces alone all have the same: neither is near to anything.

    Returns:
        float32 (m, dim) and int64 (m,).
    """
    ids, offsets = model.ids(texts)
    vectors, kept = unit(model.pool(ids, offsets))
    both = _understood(model, ids, offsets)[kept]
    return (vectors, kept) if both.all() else (vectors[both], kept[both])


def _understood(model: Model, ids: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Of each text whether the model knows something in it, bool (n,)."""
    # A word of unknown characters leaves the word mark before it behind, which is a piece.
    says_nothing = [model.unknown_id, model.sentencepiece.piece_to_id("▁")]
    known = np.concatenate([[0], np.cumsum(~np.isin(ids, says_nothing))])
    return known[offsets[1:]] > known[offsets[:-1]]


def identity(model: Model) -> str:
    """SHA-256 of all that decides a model's vectors: its table as it is used, its pieces and how it reads text."""
    digest = hashlib.sha256()
    reads = {key: model.config.get(key) for key in ("sentencepiece_sha256", "lower_case", "segment", "left_out")}
    digest.update(json.dumps([model.vocab_size, model.dim, reads], sort_keys=True).encode())
    for start in range(0, model.vocab_size, CHUNK):
        ids = np.arange(start, min(start + CHUNK, model.vocab_size))
        digest.update(model.pool(ids, np.arange(len(ids) + 1)).tobytes())
    return digest.hexdigest()


class Block(NamedTuple):
    """A part of a corpus.

    Attributes:
        rows: float32 (m, dim), of length 1.
        lines: int64 (m,), the number of each row's line, from 0.
        read: how many lines the part has, with those that have no row.
    """

    rows: np.ndarray
    lines: np.ndarray
    read: int


class Index:
    """The vectors of a corpus.

    Attributes:
        rows: float32 or float16 (m, dim), each of length 1; in memory, or mapped from a file.
        lines: int64 (m,), the number of each row's line, from 0. Lines in which the model knows nothing have no row.
        graph: for an approximate search, or None.
    """

    def __init__(
        self, model: Model, corpus: LineFile, rows: np.ndarray, lines: np.ndarray, graph: Graph | None
    ) -> None:
        self.model, self.corpus = model, corpus
        self.rows, self.lines, self.graph = rows, lines, graph

    @classmethod
    def build(
        cls,
        model: Model,
        corpus: LineFile,
        *,
        vectors: Path | None = None,
        half: bool = False,
        graph: bool = False,
        folder: Path | None = None,
    ) -> Index:
        """Embed a corpus. Memory: the rows, 8 bytes a line, and a chunk; the rows alone may be on disk.

        Args:
            model: whose vectors.
            corpus: sentences, one a line.
            vectors: a .npy file of the model's vectors of the corpus; None: they are made.
            half: keep them in float16.
            graph: make a graph, for approximate searches.
            folder: save the index there; its rows are then not in memory.

        Raises:
            DataError: a line is not UTF-8, the model knows nothing in any line, ``vectors`` are others, or ``folder``
                is there already or cannot be written.
            PspError: faiss is not installed.
        """
        library()  # before the work
        dtype = np.dtype(np.float16 if half else np.float32)
        blocks = _embedded(model, corpus) if vectors is None else _read(model, corpus, vectors)
        if folder is None:
            table = np.empty((len(corpus), model.dim), dtype)  # what is not written to takes no memory
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
                "model": identity(model),
                "corpus": corpus.sha256,
                "dim": model.dim,
                "dtype": dtype.name,
                "rows": len(lines),
                "graph": graph,
            }
            write_json(temporary / DESCRIPTION, description)
        return cls.load(folder, model, corpus)

    @classmethod
    def load(cls, folder: Path, model: Model, corpus: LineFile) -> Index:
        """A saved index; its rows are mapped into memory, so that processes share them.

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
                f"format {description.get('format')}, this psp reads {FORMAT}; make the index again",
                folder / DESCRIPTION,
            )
        for key, value, what in (
            ("model", identity(model), "model"),
            ("corpus", corpus.sha256, f"corpus than {corpus.path}"),
        ):
            if description.get(key) != value:
                raise DataError(f"the index of another {what}; make it again with --save-index", folder)
        try:
            dtype, shape = np.dtype(description["dtype"]), (int(description["rows"]), int(description["dim"]))
            lines = np.load(folder / LINES, allow_pickle=False)
            size = (folder / VECTORS).stat().st_size
            if size != dtype.itemsize * shape[0] * shape[1] or lines.shape != shape[:1] or shape[1] != model.dim:
                raise ValueError("sizes do not fit")
            rows = np.memmap(folder / VECTORS, dtype, "r", shape=shape)
        except (KeyError, TypeError, ValueError, EOFError, OSError) as error:
            raise DataError(f"damaged ({error}); make the index again with --save-index", folder) from None
        graph = Graph.load(folder / GRAPH) if description.get("graph") else None
        if graph is not None and not graph.fits(rows):
            raise DataError("not of these vectors; make the index again", folder / GRAPH)
        return cls(model, corpus, rows, lines, graph)

    def search(self, queries: Sequence[str], k: int = 10, effort: int = EFFORT) -> list[list[Hit]]:
        """The k nearest lines of each query, the nearest first; on a tie the earlier line.

        None for a query in which the model knows nothing; fewer than k where the corpus has fewer. With a graph some
        are missed.

        Args:
            queries: texts; memory grows with them.
            k: 1 or more.
            effort: of a search in the graph: more finds more, and takes longer.
        """
        vectors, kept = embed(self.model, queries)
        if self.graph is None:
            found = nearest(vectors, self.rows, k)
        else:
            found = self.graph.nearest(vectors, self.rows, k, effort)
        hits: list[list[Hit]] = [[] for _ in queries]
        for query, cosines, numbers in zip(kept.tolist(), *found, strict=True):
            lines = self.lines[numbers[numbers >= 0]].tolist()
            hits[query] = [
                Hit(cosine, line + 1, self.corpus[line]) for cosine, line in zip(cosines.tolist(), lines, strict=False)
            ]
        return hits


def linked(rows: np.ndarray) -> Graph:
    """:meth:`Graph.build`, with a bar."""
    with Progress("linking neighbours", "sentences", len(rows)) as bar:
        return Graph.build(rows, bar)


def _embedded(model: Model, corpus: LineFile) -> Iterator[Block]:
    """A corpus, a chunk at a time."""
    first = 0
    for texts in corpus.chunks(CHUNK):
        rows, kept = embed(model, texts)
        yield Block(rows, kept + first, len(texts))
        first += len(texts)


def _read(model: Model, corpus: LineFile, path: Path) -> Iterator[Block]:
    """As :func:`_embedded`, of vectors that were made before."""
    try:
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path) from None
    except (ValueError, EOFError):
        raise DataError("not a .npy file of vectors, or cut short; make it with psp embed", path) from None
    if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype.kind != "f":
        raise DataError("not a table of vectors; make it with psp embed", path)
    if table.shape != (len(corpus), model.dim):
        raise DataError(
            f"{len(table):,} vectors of {table.shape[1]} numbers; {corpus.path} has {len(corpus):,} lines, and the "
            f"model's vectors have {model.dim} numbers",
            path,
        )
    sample = np.unique(np.linspace(0, len(corpus) - 1, SAMPLE).astype(np.int64))
    expected, kept = embed(model, [corpus[line] for line in sample.tolist()])
    found, there = unit(table[sample[kept]])
    if len(there) < len(kept) or (np.einsum("ij,ij->i", expected, found) < CLOSE).any():
        raise DataError(f"not this model's vectors of {corpus.path}; make them again with psp embed", path)
    return _rows_of(table, model, corpus)


def _rows_of(table: np.ndarray, model: Model, corpus: LineFile) -> Iterator[Block]:
    first = 0
    for texts in corpus.chunks(CHUNK):
        rows, kept = unit(table[first : first + len(texts)])
        both = _understood(model, *model.ids(texts))[kept]
        yield Block(rows[both], kept[both] + first, len(texts))
        first += len(texts)


def fill(table: np.ndarray, blocks: Iterator[Block], corpus: LineFile) -> np.ndarray:
    """Put the rows of blocks into a table, from its first row on; the number of each one's line, int64 (m,).

    Raises:
        DataError: there is no row.
    """
    numbers, count = [], 0
    for block in _watched(blocks, corpus):
        table[count : count + len(block.rows)] = block.rows
        numbers.append(block.lines)
        count += len(block.rows)
    return np.concatenate(numbers)


def _write(path: Path, blocks: Iterator[Block], dtype: np.dtype, corpus: LineFile) -> np.ndarray:
    """As :func:`fill`, into a file: written rather than mapped, since a full disk kills a process that maps it."""
    numbers = []
    with path.open("wb") as file:
        for block in _watched(blocks, corpus):
            file.write(block.rows.astype(dtype, copy=False).data)
            numbers.append(block.lines)
    return np.concatenate(numbers)


def _watched(blocks: Iterator[Block], corpus: LineFile) -> Iterator[Block]:
    count = 0
    with Progress(f"embedding {corpus.path.name}", "lines", len(corpus)) as bar:
        for block in blocks:
            yield block
            count += len(block.rows)
            bar.add(block.read)
    if count == 0:
        raise DataError("the model knows no word in any line; is it a text in the model's languages?", corpus.path)
