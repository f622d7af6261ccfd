"""Read a corpus once: count its pairs by score, and draw pairs by a seed, in bounded memory.

A draw keeps the distinct pairs with the smallest seeded hashes. So every distinct pair is equally likely, a pair that
occurs a million times counts once, and neither the order of the lines nor their division into files matters.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from psp.core.errors import DataError
from psp.core.logs import Progress
from psp.corpora.local import lines_of
from psp.corpora.rows import BadRow, Row, batches
from psp.pairs.draw import HashDraw
from psp.pairs.pair_file import SPLIT_BYTES, blocks, columns_of, layout_of
from psp.pairs.stats.parses import check_tree, top
from psp.text.words import clean_all

BATCH = 10_000
_HASH_BYTES = 16
_ID_BYTES = 8


class Pair(NamedTuple):
    """A pair that was drawn; ``tree`` is the top of its reference's parse tree, if trees are given."""

    source: str
    target: str
    score: float | None = None
    tree: str | None = None


def pair_id(source: str, target: str) -> str:
    """The id of a pair: a hash of its two texts. It starts with a letter, so that no program takes it for a number."""
    return "p" + hashlib.blake2b(f"{source}\t{target}".encode(), digest_size=_ID_BYTES).hexdigest()


def _joined(one: Pair, other: Pair) -> Pair:
    """Of copies with different scores the highest, as in ``dedupe``; of their trees the first by code points."""
    score, tree = one.score, one.tree
    if score is not None and other.score is not None:
        score = max(score, other.score)
    if tree is not None and other.tree is not None:
        tree = min(tree, other.tree)
    return Pair(one.source, one.target, score, tree)


@dataclass
class Reading:
    """The result of reading a corpus once.

    Attributes:
        rows, bad_rows, empty: lines; those that are not pairs; pairs with a side without text.
        scored: whether the pairs have scores.
        sample: distinct pairs.
        counts: pairs by range of scores, copies included; before them those below the first, after them those above
            the last.
        drawn: distinct pairs of each range; without scores, of one range that holds all.
        found: by id, the pairs that were sought; of copies with different scores the one with the highest.
    """

    scored: bool
    sample: list[Pair]
    drawn: list[list[Pair]]
    counts: list[int]
    rows: int = 0
    bad_rows: int = 0
    empty: int = 0
    found: dict[str, Pair] = field(default_factory=dict)


def written(path: Path) -> Iterator[Row]:
    """Yield the rows of a pair file of the workflow.

    Raises:
        DataError: it cannot be read, or its rows are not pairs.
    """
    layout = layout_of(path)
    for number, block in blocks(path, SPLIT_BYTES):
        source, target, *scores = columns_of(block, path, number, layout)
        if scores:
            yield from zip(source, target, map(float, scores[0]), strict=True)
        else:
            yield from zip(source, target, strict=True)


def range_of(ends: Sequence[float], scores: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The number of the range of each score: from 1; 0 is below the first, ``len(ends)`` above the last."""
    return np.searchsorted(np.asarray(ends, np.float64), np.asarray(scores, np.float64), side="left")


def read(
    rows: Iterable[Row],
    path: Path,
    *,
    size: int,
    ends: Sequence[float],
    of_range: int,
    seed: int,
    parses: Path | None = None,
    sought: Container[str] | None = None,
) -> Reading:
    """Read a corpus to its end.

    Args:
        rows: of the corpus; all have scores or none has.
        path: the file, for errors.
        size: pairs of the sample.
        ends: of the ranges of scores.
        of_range: pairs to draw of each range.
        seed: seed of the draws.
        parses: a file with a tree for each line of the corpus, of its first side.
        sought: ids of pairs to look for.

    Raises:
        DataError: a file cannot be read; the corpus has no pairs; trees are invalid, or not as many as lines.
    """
    reading = Reading(scored=False, sample=[], drawn=[], counts=[])
    sample, key = HashDraw(size, _joined), str(seed).encode()
    draws = [HashDraw(of_range, _joined) for _ in range(len(ends) + 1)]
    counts = np.zeros(len(ends) + 1, np.int64)
    trees = None if parses is None else _Trees(parses)
    with Progress(f"reading {path.name}", "pairs") as bar:
        for some in batches(rows, BATCH):
            bar.add(len(some))
            own = trees.take(some, path, reading.rows) if trees else [""] * len(some)
            reading.rows += len(some)
            batch = _good(reading, some, own)
            if not batch.source:
                continue
            keys = [
                hashlib.blake2b(f"{one}\t{other}".encode(), digest_size=_HASH_BYTES, key=key).digest()
                for one, other in zip(batch.source, batch.target, strict=True)
            ]
            heads = np.frombuffer(b"".join(keys), ">u8").astype(np.uint64)[::2]
            ranges = range_of(ends, batch.scores) if batch.scores else np.ones(len(keys), np.int64)
            counts += np.bincount(ranges, minlength=len(counts))
            for place in np.flatnonzero(heads <= sample.limit).tolist():
                sample.add(keys[place], batch.pair(place, with_tree=trees is not None))
            limits = np.array([draw.limit for draw in draws])
            for place in np.flatnonzero(heads <= limits[ranges]).tolist():
                draws[ranges[place]].add(keys[place], batch.pair(place))
            if sought:
                _seek(reading, sought, batch)
    if trees:
        trees.end(path, reading.rows)
    if not counts.sum():
        raise DataError("no pairs; write lines `source, tab, target`, or name another file", path)
    reading.sample = [pair if pair.tree is None else pair._replace(tree=top(pair.tree)) for pair in sample.items()]
    reading.counts = counts.tolist()
    # Below the first range and above the last nothing is drawn: these pairs are counted only.
    reading.drawn = [draw.items() for draw in (draws[1:-1] if reading.scored else draws[1:2])]
    return reading


class _Batch(NamedTuple):
    """Columns of pairs with text on both sides; without scores, ``scores`` is empty."""

    source: list[str]
    target: list[str]
    scores: list[float]
    trees: list[str]

    def pair(self, place: int, with_tree: bool = False) -> Pair:
        score = self.scores[place] if self.scores else None
        return Pair(self.source[place], self.target[place], score, self.trees[place] if with_tree else None)


def _good(reading: Reading, some: Sequence[Row], trees: Sequence[str]) -> _Batch:
    """The pairs with text on both sides; the others are counted."""
    good = [(row, tree) for row, tree in zip(some, trees, strict=True) if not isinstance(row, BadRow)]
    reading.bad_rows += len(some) - len(good)
    source, target = clean_all([row[0] for row, _ in good]), clean_all([row[1] for row, _ in good])
    scores = [row[2] for row, _ in good if len(row) > 2]
    reading.scored = reading.scored or bool(scores)
    tops = [tree for _, tree in good]
    if all(source) and all(target):
        return _Batch(source, target, scores, tops)
    kept = [place for place in range(len(good)) if source[place] and target[place]]
    reading.empty += len(good) - len(kept)
    return _Batch(
        [source[place] for place in kept],
        [target[place] for place in kept],
        [scores[place] for place in kept] if scores else [],
        [tops[place] for place in kept],
    )


def _seek(reading: Reading, sought: Container[str], batch: _Batch) -> None:
    for place, (one, other) in enumerate(zip(batch.source, batch.target, strict=True)):
        if (number := pair_id(one, other)) in sought:
            pair, held = batch.pair(place), reading.found.get(number)
            reading.found[number] = pair if held is None else _joined(held, pair)


class _Trees:
    """The trees of a file, in step with the rows of a corpus."""

    def __init__(self, path: Path) -> None:
        self._path, self._trees = path, map(str.strip, lines_of(path))

    def take(self, rows: Sequence[Row], corpus: Path, read: int) -> list[str]:
        """The trees of the next rows; rows that are not pairs need no valid tree."""
        trees = list(itertools.islice(self._trees, len(rows)))
        for number, (row, tree) in enumerate(zip(rows, trees, strict=False), start=read + 1):
            if not isinstance(row, BadRow) and row[0].strip() and row[1].strip():
                check_tree(tree, self._path, number)
        if len(trees) < len(rows):
            raise DataError(
                f"ends after this line, but {corpus} goes on; write one tree for each of its lines",
                self._path,
                read + len(trees),
            )
        return trees

    def end(self, corpus: Path, rows: int) -> None:
        """Check that no trees are left over."""
        if next(self._trees, None) is not None:
            raise DataError(
                f"one tree or more too many: {corpus} has {rows:,} lines; write one tree for each of them",
                self._path,
                rows + 1,
            )
