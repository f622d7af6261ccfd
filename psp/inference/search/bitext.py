"""Bitext mining: find translation pairs in two texts that are not translations of each other as a whole.

Margin-based mining (Artetxe and Schwenk, 2019), as in LASER and WikiMatrix: a pair's margin compares its cosine with
the mean cosine of both sides' nearest neighbours. Sentences close to everything ("hubs") then match nothing, and one
threshold works for all sentences.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from psp.core.files import atomic_text
from psp.core.progress import Progress
from psp.inference.search.index import CHUNK, IndexBlock, embed, fill, linked
from psp.inference.search.neighbours import Found, library, nearest
from psp.models.text_model import TextModel
from psp.text.lines import LineFile
from psp.text.words import clean

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
    source: np.ndarray,
    target: np.ndarray,
    *,
    k: int = 4,
    margin: str = "ratio",
    choose: str = "max",
    threshold: float = 0.0,
    effort: int | None = None,
) -> MinedBitext:
    """Find the rows of two matrices that are translations of each other.

    The candidates are each row with its neighbour of the highest margin. Cosines below 0 count as 0 in the means, and a
    pair needs a cosine above 0, so the ratio lies between 0 and 2k. The result of an exact search does not depend on
    the number of threads.

    Args:
        source: float32 or float16 (n, dim), unit vectors.
        target: float32 or float16 (m, dim), unit vectors.
        k: neighbours considered for each row.
        margin: one of ``MARGINS``.
        choose: which candidates become pairs: "forward", the best target of each source; "backward", the best source
            of each target; "intersection", those that are both; "max", greedily by descending margin from both
            directions, each row at most once.
        threshold: the lowest margin of a pair.
        effort: search effort of an approximate search (:class:`psp.inference.search.neighbours.Graph`); None for an
            exact search. Missed neighbours make margins higher: with 21,000 lines per side, precision was 67%, against
            74% for exact search. Approximate search is faster from 300,000 lines on.
    """
    if not (len(source) and len(target)):
        return MinedBitext(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
    forward = _neighbours("searching forward", source, target, k, effort)
    backward = _neighbours("searching backward", target, source, k, effort)
    means = [np.maximum(side.cosines, 0.0).sum(1) / (side.numbers >= 0).sum(1).clip(1) for side in (forward, backward)]
    there = _best(forward, means[0], means[1], MARGINS[margin])
    back = _best(backward, means[1], means[0], MARGINS[margin])
    back = MinedBitext(back.margins, back.targets, back.sources)
    if choose == "forward":
        mined = _sorted(there)
    elif choose == "backward":
        mined = _sorted(back)
    elif choose == "intersection":
        width = len(target)
        both = np.isin(there.sources * width + there.targets, back.sources * width + back.targets)
        mined = _sorted(MinedBitext(*(array[both] for array in there)))
    else:
        mined = _each_once(_sorted(MinedBitext(*(np.concatenate(arrays) for arrays in zip(there, back, strict=True)))))
    good = mined.margins >= threshold
    return MinedBitext(*(array[good] for array in mined))


def _neighbours(what: str, queries: np.ndarray, rows: np.ndarray, k: int, effort: int | None) -> Found:
    graph = None if effort is None else linked(rows)
    with Progress(what, "sentences", len(queries)) as bar:
        if graph is None or effort is None:
            return nearest(queries, rows, k, bar)
        return graph.nearest(queries, rows, k, effort, bar)


def _best(
    neighbours: Found, own: np.ndarray, others: np.ndarray, margin: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> MinedBitext:
    """Return each query's neighbour with the highest margin, ties to the nearer one. Queries are the sources here."""
    means = (own[:, None] + others[neighbours.numbers]) / 2
    possible = (neighbours.numbers >= 0) & (neighbours.cosines > 0)
    margins = np.full(neighbours.cosines.shape, -np.inf)
    margins[possible] = margin(neighbours.cosines[possible], means[possible])
    sources = np.flatnonzero(possible.any(axis=1))
    best = margins[sources].argmax(axis=1)
    return MinedBitext(margins[sources, best], sources, neighbours.numbers[sources, best])


def _sorted(pairs: MinedBitext) -> MinedBitext:
    order = np.lexsort((pairs.targets, pairs.sources, -pairs.margins))
    return MinedBitext(*(array[order] for array in pairs))


def _each_once(pairs: MinedBitext) -> MinedBitext:
    """Keep, in order, the pairs that share no side with an earlier kept pair."""
    sources, targets, keep = set[int](), set[int](), []
    for number, (source, target) in enumerate(zip(pairs.sources.tolist(), pairs.targets.tolist(), strict=True)):
        if source not in sources and target not in targets:
            sources.add(source)
            targets.add(target)
            keep.append(number)
    return MinedBitext(*(array[keep] for array in pairs))


def mine_files(
    model: TextModel,
    source: Path,
    target: Path,
    out: Path,
    *,
    half: bool = False,
    k: int = 4,
    margin: str = "ratio",
    choose: str = "max",
    threshold: float = 0.0,
    effort: int | None = None,
) -> MiningCounts:
    r"""Mine translation pairs from two files of sentences, and write lines ``source \t target \t margin``.

    Duplicate sentences, up to tabs and surrounding white space, count once; sentences without a known piece are
    skipped. Memory: the vectors of both files' distinct sentences and 60 bytes per line, but no text.

    Args:
        model: a model of both languages.
        source: sentences in one language, one per line.
        target: sentences in the other.
        out: the file to write; psp reads it as a corpus with scores.
        half: store the vectors in float16.
        k: see :func:`mine`, as for the rest.

    Raises:
        DataError: a file cannot be read, is empty, not UTF-8 or in no language of the model, or ``out`` cannot be
            written.
        PspError: faiss is not installed.
    """
    library()  # fail before the work; so does opening the output
    dtype = np.dtype(np.float16 if half else np.float32)
    files = LineFile(source), LineFile(target)
    with atomic_text(out) as stream:
        rows, lines = zip(*(_vectors(model, file, dtype) for file in files), strict=True)
        mined = mine(*rows, k=k, margin=margin, choose=choose, threshold=threshold, effort=effort)
        pairs = zip(mined.margins.tolist(), lines[0][mined.sources], lines[1][mined.targets], strict=True)
        for value, first, second in pairs:
            stream.write(f"{clean(files[0][first])}\t{clean(files[1][second])}\t{value:.6f}\n")
    return MiningCounts(len(rows[0]), len(files[0]), len(rows[1]), len(files[1]), len(mined.margins))


def _vectors(model: TextModel, file: LineFile, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    distinct = _distinct(file)
    table = np.empty((int(distinct.sum()), model.dim), dtype)  # untouched pages take no memory
    lines = fill(table, _embedded(model, file, distinct), file)
    return table[: len(lines)], lines


def _distinct(file: LineFile) -> np.ndarray:
    """Tell for each line whether it is the first with its text, bool (lines,)."""
    digest = partial(hashlib.blake2b, digest_size=16)  # probability of a collision among 2^32 lines: 10^-19
    digests = np.empty(len(file), "S16")
    start = 0
    for texts in file.chunks(CHUNK):
        digests[start : start + len(texts)] = [digest(clean(text).encode()).digest() for text in texts]
        start += len(texts)
    first = np.zeros(len(file), bool)
    first[np.unique(digests, return_index=True)[1]] = True
    return first


def _embedded(model: TextModel, file: LineFile, wanted: np.ndarray) -> Iterator[IndexBlock]:
    """Embed the wanted lines, a chunk at a time."""
    start = 0
    for texts in file.chunks(CHUNK):
        numbers = np.flatnonzero(wanted[start : start + len(texts)])
        rows, kept = embed(model, [texts[number] for number in numbers.tolist()])
        yield IndexBlock(rows, numbers[kept] + start, len(texts))
        start += len(texts)
