"""Mining translations in two texts that are no translation of each other as a whole.

Artetxe and Schwenk (2019): a pair's margin is its cosine against the mean cosine of both sides' nearest neighbours.
Sentences that are near to everything are so no one's translation, and one threshold does for all sentences. The method
of LASER's and WikiMatrix's miners.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from psp.files import atomic_text
from psp.linefile import LineFile
from psp.model import Model
from psp.neighbours import Found, library, nearest
from psp.progress import Progress
from psp.search import CHUNK, Block, embed, fill, linked
from psp.text import clean

#: From a pair's cosine and the mean of its neighbours' cosines.
MARGINS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "ratio": lambda cosine, mean: cosine / mean,
    "distance": lambda cosine, mean: cosine - mean,
    "absolute": lambda cosine, mean: cosine,
}
#: Default thresholds: of a few, those of the best mean F1 where Tatoeba's 1,000 pairs were sought among 20,000 other
#: lines a side, by a German and two French models. Of ratio: precision 74% to 81%, recall 65% to 83%; at 1.06, which is
#: customary with deep encoders, precision is 22% to 24%. Weaker models want less (Turkish, Chinese: 1.1).
THRESHOLDS = {"ratio": 1.25, "distance": 0.1, "absolute": 0.5}


class Mined(NamedTuple):
    """Pairs by falling margin, then by source and target.

    Attributes:
        margins: float64 (n,).
        sources: int64 (n,), numbers of rows.
        targets: int64 (n,), numbers of rows.
    """

    margins: np.ndarray
    sources: np.ndarray
    targets: np.ndarray


class Counts(NamedTuple):
    """What was read and found.

    Attributes:
        sources: distinct sentences of the source in which the model knows something.
        source_lines: lines of the source.
        targets: as ``sources``.
        target_lines: as ``source_lines``.
        pairs: those written.
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
) -> Mined:
    """Find the rows of two tables that translate each other.

    A candidate is a row with its neighbour of the highest margin. Cosines below 0 count as 0 in the means, and a pair
    needs one above 0: so the ratio lies between 0 and 2 k. An exact search's result does not depend on the number of
    threads.

    Args:
        source: float32 or float16 (n, dim), of length 1.
        target: float32 or float16 (m, dim), of length 1.
        k: neighbours of each row that are looked at.
        margin: one of ``MARGINS``.
        choose: which candidates become pairs: "forward", the best target of each source; "backward", the best source
            of each target; "intersection", those that are both; or "max", of all these by falling margin those with
            neither side in a pair yet.
        threshold: the lowest margin of a pair.
        effort: of an approximate search (:class:`psp.neighbours.Graph`); None: it is exact. What it misses makes
            margins higher: among 21,000 lines a side, precision was 67%, and 74% with the exact one. It takes less
            time from 300,000 lines on.
    """
    if not (len(source) and len(target)):
        return Mined(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
    forward = _neighbours("searching forward", source, target, k, effort)
    backward = _neighbours("searching backward", target, source, k, effort)
    means = [
        np.maximum(found.cosines, 0.0).sum(1) / (found.numbers >= 0).sum(1).clip(1) for found in (forward, backward)
    ]
    there = _best(forward, means[0], means[1], MARGINS[margin])
    back = _best(backward, means[1], means[0], MARGINS[margin])
    back = Mined(back.margins, back.targets, back.sources)
    if choose == "forward":
        found = _sorted(there)
    elif choose == "backward":
        found = _sorted(back)
    elif choose == "intersection":
        width = len(target)
        both = np.isin(there.sources * width + there.targets, back.sources * width + back.targets)
        found = _sorted(Mined(*(array[both] for array in there)))
    else:
        found = _each_once(_sorted(Mined(*(np.concatenate(arrays) for arrays in zip(there, back, strict=True)))))
    good = found.margins >= threshold
    return Mined(*(array[good] for array in found))


def _neighbours(what: str, queries: np.ndarray, rows: np.ndarray, k: int, effort: int | None) -> Found:
    graph = None if effort is None else linked(rows)
    with Progress(what, "sentences", len(queries)) as bar:
        if graph is None or effort is None:
            return nearest(queries, rows, k, bar)
        return graph.nearest(queries, rows, k, effort, bar)


def _best(
    found: Found, own: np.ndarray, others: np.ndarray, margin: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> Mined:
    """Each query's neighbour of the highest margin; the nearer one on a tie. Queries are the sources here."""
    means = (own[:, None] + others[found.numbers]) / 2
    possible = (found.numbers >= 0) & (found.cosines > 0)
    margins = np.full(found.cosines.shape, -np.inf)
    margins[possible] = margin(found.cosines[possible], means[possible])
    sources = np.flatnonzero(possible.any(axis=1))
    best = margins[sources].argmax(axis=1)
    return Mined(margins[sources, best], sources, found.numbers[sources, best])


def _sorted(pairs: Mined) -> Mined:
    order = np.lexsort((pairs.targets, pairs.sources, -pairs.margins))
    return Mined(*(array[order] for array in pairs))


def _each_once(pairs: Mined) -> Mined:
    """Pairs in their order, of which neither side was in a pair before."""
    sources, targets, keep = set[int](), set[int](), []
    for number, (source, target) in enumerate(zip(pairs.sources.tolist(), pairs.targets.tolist(), strict=True)):
        if source not in sources and target not in targets:
            sources.add(source)
            targets.add(target)
            keep.append(number)
    return Mined(*(array[keep] for array in pairs))


def mine_files(
    model: Model,
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
) -> Counts:
    r"""Find translations in two files of sentences, and write them as lines ``source \t target \t margin``.

    Each distinct sentence is read once, tabs and white space around it aside; those in which the model knows nothing
    are passed over. Memory: the vectors of both files' distinct sentences and 60 bytes a line; no text.

    Args:
        model: of both languages.
        source: sentences of one language, one a line.
        target: sentences of the other.
        out: a file; psp reads it as a corpus with scores.
        half: keep the vectors in float16.
        k: see :func:`mine`, as for the rest.

    Raises:
        DataError: a file cannot be read, is empty, is not UTF-8 or in no language of the model's, or ``out`` cannot be
            written.
        PspError: faiss is not installed.
    """
    library()  # before the work, as is the place for its result
    dtype = np.dtype(np.float16 if half else np.float32)
    files = LineFile(source), LineFile(target)
    with atomic_text(out) as stream:
        rows, lines = zip(*(_vectors(model, file, dtype) for file in files), strict=True)
        found = mine(*rows, k=k, margin=margin, choose=choose, threshold=threshold, effort=effort)
        pairs = zip(found.margins.tolist(), lines[0][found.sources], lines[1][found.targets], strict=True)
        for value, first, second in pairs:
            stream.write(f"{clean(files[0][first])}\t{clean(files[1][second])}\t{value:.6f}\n")
    return Counts(len(rows[0]), len(files[0]), len(rows[1]), len(files[1]), len(found.margins))


def _vectors(model: Model, file: LineFile, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    distinct = _distinct(file)
    table = np.empty((int(distinct.sum()), model.dim), dtype)  # what is not written to takes no memory
    lines = fill(table, _embedded(model, file, distinct), file)
    return table[: len(lines)], lines


def _distinct(file: LineFile) -> np.ndarray:
    """Of each line whether it is the first of its text, bool (lines,)."""
    digest = partial(hashlib.blake2b, digest_size=16)  # for a wrong match among 2^32 lines: 1 in 10^19
    digests = np.empty(len(file), "S16")
    start = 0
    for texts in file.chunks(CHUNK):
        digests[start : start + len(texts)] = [digest(clean(text).encode()).digest() for text in texts]
        start += len(texts)
    first = np.zeros(len(file), bool)
    first[np.unique(digests, return_index=True)[1]] = True
    return first


def _embedded(model: Model, file: LineFile, wanted: np.ndarray) -> Iterator[Block]:
    """The lines that are wanted, a chunk at a time."""
    start = 0
    for texts in file.chunks(CHUNK):
        numbers = np.flatnonzero(wanted[start : start + len(texts)])
        rows, kept = embed(model, [texts[number] for number in numbers.tolist()])
        yield Block(rows, numbers[kept] + start, len(texts))
        start += len(texts)
