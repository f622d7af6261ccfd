"""Bitext mining: find translation pairs in two texts that are not translations of each other as a whole.

Margin-based mining (Artetxe and Schwenk, 2019), as in LASER and WikiMatrix: a pair's margin compares its cosine with
the mean cosine of both sides' nearest neighbours. Sentences close to everything ("hubs") then match nothing, and one
threshold works for all sentences.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from psp.core.files import atomic_text
from psp.core.logs import Progress
from psp.inference.search.index import SEARCHERS
from psp.inference.search.neighbours import library
from psp.inference.search.on_disk import (
    GrowingArray,
    HeldArray,
    ReleasedRows,
    release,
    resumable,
    spare,
    write_vectors,
)
from psp.inference.search.vectors import CHUNK, IndexBlock, Rows, embedded, readings
from psp.models.text_model import TextModel
from psp.text.lines import LineFile
from psp.text.words import clean

#: Bytes for a block of queries where no limit is given.
DEFAULT_MEMORY = 1 << 30
#: Lines of a file whose digests are compared at a time: about 100 bytes of memory each.
BUCKET_LINES = 1 << 21
#: Margin functions of a pair's cosine and the mean of its neighbours' cosines.
MARGINS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "ratio": lambda cosine, mean: cosine / mean,
    "distance": lambda cosine, mean: cosine - mean,
    "absolute": lambda cosine, mean: cosine,
}
#: Default thresholds: of a few tried, those with the best mean F1 at finding Tatoeba's 1,000 pairs among 20,000 other
#: lines per side, with one German and two French models. For ratio: precision 74% to 81%, recall 65% to 83%; at 1.06,
#: usual for deep encoders, precision is 22% to 24%. Weaker models need a lower one (Turkish, Chinese: 1.1).
THRESHOLDS = {"ratio": 1.25, "distance": 0.1, "absolute": 0.5}


class MinedBitext(NamedTuple):
    """Pairs, sorted by descending margin, then by source and target.

    Attributes:
        margins: float64 (n,).
        sources: int64 (n,), row numbers.
        targets: int64 (n,), row numbers.
    """

    margins: np.ndarray
    sources: np.ndarray
    targets: np.ndarray


class MiningCounts(NamedTuple):
    """Counts of lines read and pairs found.

    Attributes:
        sources: distinct source sentences with at least one known piece.
        source_lines: lines of the source.
        targets: as ``sources``.
        target_lines: as ``source_lines``.
        pairs: pairs written.
    """

    sources: int
    source_lines: int
    targets: int
    target_lines: int
    pairs: int


def mine(
    source: Rows,
    target: Rows,
    *,
    k: int = 4,
    margin: str = "ratio",
    choose: str = "max",
    threshold: float = 0.0,
    index: str = "flat",
    effort: int | None = None,
    folder: Path | None = None,
    memory: int = DEFAULT_MEMORY,
) -> MinedBitext:
    """Find the rows of two matrices that are translations of each other.

    The candidates are each row with its neighbour of the highest margin. Cosines below 0 count as 0 in the means, and a
    pair needs a cosine above 0, so the ratio lies between 0 and 2k. The result of an exact search does not depend on
    the number of threads.

    Args:
        source: float32, float16 or int8 (n, dim), unit vectors.
        target: likewise (m, dim).
        k: neighbours considered for each row.
        margin: one of ``MARGINS``.
        choose: which candidates become pairs: "forward", the best target of each source; "backward", the best source
            of each target; "intersection", those that are both; "max", greedily by descending margin from both
            directions, each row at most once.
        threshold: the lowest margin of a pair.
        index: one of :data:`psp.inference.search.INDEXES`; "ivf" with a folder alone. Missed neighbours make margins
            higher: with 21,000 lines per side, the precision of "hnsw" was 67%, against 74% for exact search; it is
            faster from 300,000 lines on.
        effort: of an approximate search; None for its default.
        folder: keeps neighbours (:func:`psp.inference.search.on_disk.resumable`); None to hold them in memory.
        memory: bytes for a block of queries of "ivf".
    """
    if not (len(source) and len(target)):
        return MinedBitext(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
    forward = _neighbours("forward", source, target, k, index, effort, folder, memory)
    backward = _neighbours("backward", target, source, k, index, effort, folder, memory)
    means = [_means(found, name, folder) for name, found in (("source", forward), ("target", backward))]
    best_targets = _best(forward, means[0], means[1], MARGINS[margin], threshold)
    best_sources = _best(backward, means[1], means[0], MARGINS[margin], threshold)
    best_sources = MinedBitext(best_sources.margins, best_sources.targets, best_sources.sources)
    if choose == "forward":
        return _sorted(best_targets)
    if choose == "backward":
        return _sorted(best_sources)
    if choose == "intersection":
        width = len(target)
        both = np.isin(
            best_targets.sources * width + best_targets.targets, best_sources.sources * width + best_sources.targets
        )
        return _sorted(MinedBitext(*(array[both] for array in best_targets)))
    either = MinedBitext(*(np.concatenate(arrays) for arrays in zip(best_targets, best_sources, strict=True)))
    return _each_once(_sorted(either), len(source), len(target))


def _array(folder: Path | None, name: str, dtype: np.dtype) -> GrowingArray | HeldArray:
    return HeldArray(dtype) if folder is None else GrowingArray(folder / name, dtype)


def _neighbours(
    direction: str,
    queries: Rows,
    rows: Rows,
    k: int,
    index: str,
    effort: int | None,
    folder: Path | None,
    memory: int,
) -> np.ndarray:
    """The nearest rows of each query: cosines float64 (k,) and numbers int64 (k,), as fields of an array (queries,)."""
    k = min(k, len(rows))
    dtype = np.dtype([("cosines", np.float64, (k,)), ("numbers", np.int64, (k,))])
    found = _array(folder, f"{direction}.neighbours", dtype)
    if len(found) < len(queries):
        searcher = SEARCHERS[index].prepare(rows, folder, direction)
        left = len(queries) - len(found)
        blocks = math.ceil(left / searcher.queries_in(memory, k, effort))
        step = math.ceil(left / blocks)  # of one size: a small rest takes long for its size
        with Progress(f"searching {direction}", "sentences", len(queries), done=len(found)) as bar:
            for start in range(len(found), len(queries), step):
                block = np.empty(min(step, len(queries) - start), dtype)
                block["cosines"], block["numbers"] = searcher.nearest(queries[start : start + step], k, effort)
                found.append(block)
                bar.add(len(block))
    return found.mapped()


def _means(found: np.ndarray, name: str, folder: Path | None) -> np.ndarray:
    """The mean cosine of each row's neighbours, float64 (rows,)."""
    means = _array(folder, f"{name}.means", np.dtype(np.float64))
    for start in range(len(means), len(found), CHUNK):
        block = found[start : start + CHUNK]
        means.append(np.maximum(block["cosines"], 0.0).sum(1) / (block["numbers"] >= 0).sum(1).clip(1))
        release(found)
    return means.mapped()


def _best(
    found: np.ndarray,
    own: np.ndarray,
    others: np.ndarray,
    margin: Callable[[np.ndarray, np.ndarray], np.ndarray],
    threshold: float,
) -> MinedBitext:
    """Return each query's neighbour with the highest margin, ties to the nearer one. Queries are the sources here."""
    parts = []
    for start in range(0, len(found), CHUNK):
        block = found[start : start + CHUNK]
        cosines, numbers = block["cosines"], block["numbers"]
        means = (own[start : start + CHUNK, None] + others[numbers]) / 2
        possible = (numbers >= 0) & (cosines > 0)
        margins = np.full(cosines.shape, -np.inf)
        margins[possible] = margin(cosines[possible], means[possible])
        best = margins.argmax(axis=1)
        rows = np.arange(len(block))
        good = np.flatnonzero(possible.any(axis=1) & (margins[rows, best] >= threshold))
        parts.append(MinedBitext(margins[good, best[good]], good + start, numbers[good, best[good]]))
        for array in (found, own, others):
            release(array)
    return MinedBitext(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def _sorted(pairs: MinedBitext) -> MinedBitext:
    order = np.lexsort((pairs.targets, pairs.sources, -pairs.margins))
    return MinedBitext(*(array[order] for array in pairs))


def _each_once(pairs: MinedBitext, sources: int, targets: int) -> MinedBitext:
    """Keep, in order, the pairs that share no side with an earlier kept pair."""
    free_sources, free_targets, keep = np.ones(sources, bool), np.ones(targets, bool), []
    for number, (source, target) in enumerate(zip(pairs.sources.tolist(), pairs.targets.tolist(), strict=True)):
        if free_sources[source] and free_targets[target]:
            free_sources[source] = free_targets[target] = False
            keep.append(number)
    return MinedBitext(*(array[keep] for array in pairs))


def mine_files(
    model: TextModel,
    source: Path,
    target: Path,
    out: Path,
    *,
    dtype: str = "float32",
    k: int = 4,
    margin: str = "ratio",
    choose: str = "max",
    threshold: float = 0.0,
    index: str = "flat",
    effort: int | None = None,
    memory: int | None = None,
) -> MiningCounts:
    r"""Mine translation pairs from two files of sentences, and write lines ``source \t target \t margin``.

    Sentences that the model reads as the same, such as copies and other spellings of one, count once: the first.
    Sentences without a known piece are skipped. Vectors and neighbours are files in ``<out>.work``; if the process is
    killed or fails, the next call with the same arguments goes on from there. ``margin``, ``choose``, ``threshold`` and
    ``memory`` may differ.

    Args:
        model: a model of both languages.
        source: sentences in one language, one per line.
        target: sentences in the other.
        out: the file to write; psp reads it as a corpus with scores.
        dtype: in which vectors are stored: float32, float16 or int8.
        k: see :func:`mine`, as for the rest.
        memory: bytes that the process may take, besides 2 per line and 70 per pair found; None: files stay mapped, and
            so in memory as far as there is room.

    Raises:
        DataError: a file cannot be read, is empty, not UTF-8 or in no language of the model, or ``out`` cannot be
            written; or ``<out>.work`` is of another call.
        ConfigError: ``memory`` does not suffice.
        PspError: faiss is not installed.
    """
    library()  # fail before the work
    room = DEFAULT_MEMORY if memory is None else spare(memory)
    files = LineFile(source), LineFile(target)
    job = {
        "format": 1,
        "kind": "psp-mining",
        "model": model.identity(),
        "source": files[0].sha256,
        "target": files[1].sha256,
        "dtype": dtype,
        "k": k,
        "index": index,
        "effort": effort,
    }
    with resumable(out, job) as work, atomic_text(out) as stream:  # in this order: a full disk may fail its last write
        sides = [
            _vectors(model, file, np.dtype(dtype), work, name)
            for name, file in zip(("source", "target"), files, strict=True)
        ]
        rows: list[Rows] = [ReleasedRows(vectors) if memory else vectors for vectors, _ in sides]
        mined = mine(
            *rows, k=k, margin=margin, choose=choose, threshold=threshold, index=index, effort=effort, folder=work,
            memory=room,
        )  # fmt: skip
        lines = [ReleasedRows(lines) for _, lines in sides]
        for start in range(0, len(mined.margins), CHUNK):
            margins, sources, targets = (array[start : start + CHUNK] for array in mined)
            numbers = zip(margins.tolist(), lines[0][sources].tolist(), lines[1][targets].tolist(), strict=True)
            for value, first, second in numbers:
                stream.write(f"{clean(files[0][first])}\t{clean(files[1][second])}\t{value:.6f}\n")
    return MiningCounts(len(rows[0]), len(files[0]), len(rows[1]), len(files[1]), len(mined.margins))


def _vectors(model: TextModel, file: LineFile, dtype: np.dtype, work: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    def blocks(first: int) -> Iterator[IndexBlock]:
        return embedded(model, file, first, _distinct(model, file, work))

    return write_vectors(work, name, model.dim, dtype, file, blocks)


def _distinct(model: TextModel, file: LineFile, work: Path) -> np.ndarray:
    """Tell for each line whether it is the first of those that the model reads as the same, bool (lines,)."""
    digest = partial(hashlib.blake2b, digest_size=16)  # probability of a collision among 2^32 lines: 10^-19
    record = np.dtype([("digest", "S16"), ("line", np.int64)])
    buckets = [GrowingArray(work / f"bucket{number}", record) for number in range(len(file) // BUCKET_LINES + 1)]
    for bucket in buckets:
        bucket.cut(0)  # a killed process's
    start = 0
    with Progress(f"looking for copies in {file.path.name}", "lines", len(file)) as bar:
        for texts in file.chunks(CHUNK):
            rows = np.empty(len(texts), record)
            rows["digest"] = [digest(reading).digest() for reading in readings(model, texts)]
            rows["line"] = np.arange(start, start + len(texts))
            numbers = np.frombuffer(rows["digest"].tobytes(), np.uint64)[::2] % np.uint64(len(buckets))
            for number, bucket in enumerate(buckets):
                bucket.append(rows[numbers == number], durable=False)
            start += len(texts)
            bar.add(len(texts))
    first = np.zeros(len(file), bool)
    for bucket in buckets:
        rows = np.array(bucket.mapped())
        first[rows["line"][np.unique(rows["digest"], return_index=True)[1]]] = True
        bucket.path.unlink()
    return first
