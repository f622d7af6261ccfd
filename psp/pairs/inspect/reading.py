"""Read a corpus once, in bounded memory: count over all of it, and keep a random sample of pairs.

26M pairs take as much memory as 100,000: counts are histograms, and duplicates are counted among the pairs in a range
of hashes that shrinks as the corpus grows.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import xxhash

from psp.core.progress import Progress
from psp.corpora.rows import BadRow, Row, batches
from psp.pairs.draw import HashDraw
from psp.text.keys import KeyFinder, normalised_keys
from psp.text.words import clean_all

BATCH = 10_000
HASHES = 1 << 64
#: Distinct hashes kept for counting duplicates; corpora with fewer distinct pairs are counted exactly.
MOST_HASHES = 1 << 17
#: Longer sides count as this long, in characters.
LONGEST = 10_000
#: Upper limits of the histogram of lengths, in characters.
LENGTHS = (0, 10, 20, 40, 80, 160, 320, 640)
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: The lengths of shorter texts say little, in characters.
TELLING = 20
_BIN, _BINS = 0.02, 1000  # of the histogram of logarithms of length ratios, from -10 to 10
_MIDDLES = (np.arange(_BINS) - _BINS / 2 + 0.5) * _BIN

Sizes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Sampled:
    """A pair of the sample, cleaned; ``before`` and ``after`` are the targets of the pairs beside it in the file."""

    row: int
    source: str
    target: str
    before: str
    after: str
    score: float | None = None


class Duplicates:
    """Counts the share of texts that an earlier one equals, ignoring case."""

    def __init__(self, most: int = MOST_HASHES) -> None:
        self._most, self._limit = most, HASHES
        self._counts: Counter[int] = Counter()

    def add(self, texts: Iterable[str]) -> None:
        """Count some texts."""
        limit = self._limit
        hashes = (xxhash.xxh3_64_intdigest(text.lower().encode()) for text in texts)
        self._counts.update(digest for digest in hashes if digest < limit)
        while len(self._counts) > self._most:
            self._limit //= 2
            self._counts = Counter({digest: count for digest, count in self._counts.items() if digest < self._limit})

    @property
    def share(self) -> float:
        """The share, 0 to 1; an estimate if there are more than ``most`` distinct texts."""
        return 1 - len(self._counts) / self._counts.total() if self._counts else 0.0


class LengthBlocks:
    """Looks for places where the lengths of one side fit other lines of the other side better.

    In each block of :data:`SIZE` lines, the logarithms of the lengths of both sides are correlated, and again with one
    side moved by up to :data:`MOST` lines. Blocks whose lines are equally long say nothing, such as those of a file
    sorted by length.

    Attributes:
        blocks: those that are informative.
        off: those of them in which a move fits better.
        moves: for each move, in how many blocks it fits best.
        run: the longest run of such blocks: (first line, lines), lines counted from 1.
    """

    SIZE, MOST = 50, 3
    VARIED = 0.2  # least standard deviation of the logarithms in a block

    def __init__(self) -> None:
        self.blocks = self.off = 0
        self.moves: Counter[int] = Counter()
        self.run = (0, 0)
        self._run = (0, 0)
        self._source = self._target = np.zeros(0)
        self._first = 1  # line of the first that is held

    def add(self, source: Sizes, target: Sizes) -> None:
        """Take the lengths of the next lines."""
        self._source = np.concatenate([self._source, np.log1p(source)])
        self._target = np.concatenate([self._target, np.log1p(target)])
        count = (len(self._source) - 2 * self.MOST) // self.SIZE
        if count < 1:
            return
        starts = self.MOST + self.SIZE * np.arange(count)
        places = starts[:, None] + np.arange(self.SIZE)
        own, spread = _standard(self._source[places])
        fits = np.full((count, 2 * self.MOST + 1), -np.inf)
        varied = spread > self.VARIED
        for move in range(-self.MOST, self.MOST + 1):
            other, others = _standard(self._target[places + move])
            fits[:, move + self.MOST] = np.where(others > self.VARIED, (own * other).mean(axis=1), -np.inf)
        varied &= np.isfinite(fits[:, self.MOST])
        best = fits.argmax(axis=1) - self.MOST
        off = varied & (fits.max(axis=1) > fits[:, self.MOST])
        self.blocks += int(varied.sum())
        self.off += int(off.sum())
        self.moves.update(best[off].tolist())
        for start, telling, wrong in zip(starts.tolist(), varied.tolist(), off.tolist(), strict=True):
            if wrong:
                begin = self._run[0] if self._run[1] else self._first + start
                self._run = (begin, self._first + start + self.SIZE - begin)
                self.run = max(self.run, self._run, key=lambda run: run[1])
            elif telling:
                self._run = (0, 0)
        done = self.SIZE * count
        self._source, self._target, self._first = self._source[done:], self._target[done:], self._first + done


def _standard(values: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Scale each row to mean 0 and standard deviation 1; and its standard deviation."""
    values = values - values.mean(axis=1, keepdims=True)
    spread = values.std(axis=1)
    return values / np.maximum(spread, 1e-9)[:, None], spread


class TestSentences:
    """The sentences of test sets, by their keys.

    Args:
        tests: the name of the set, and the two sentences of each of its pairs (empty for none).
    """

    __test__ = False  # not a test class of pytest

    def __init__(self, tests: Sequence[tuple[str, str, str]]) -> None:
        self.sets: dict[str, set[str]] = {}
        self.names: dict[str, list[str]] = {}
        columns = [list(column) for column in zip(*tests, strict=True)] if tests else [[], [], []]
        for side in (1, 2):
            for name, key in zip(columns[0], normalised_keys(columns[side]), strict=True):
                keys = self.sets.setdefault(name, set())
                if key and key not in keys:
                    keys.add(key)
                    self.names.setdefault(key, []).append(name)
        self.finder = KeyFinder(self.names)


class TestCounter:
    """Counts these sentences among the pairs of one corpus, as the filter ``decontaminate`` finds them."""

    __test__ = False

    def __init__(self, sentences: TestSentences) -> None:
        self._tests = sentences
        self._found: set[str] = set()
        self._pairs: Counter[str] = Counter()

    def add(self, *columns: list[str]) -> None:
        """Look through the sides of some pairs."""
        keys: dict[int, set[str]] = {}
        for column in columns:
            for row, key in self._tests.finder.find(column):
                keys.setdefault(row, set()).add(key)
        for sentences in keys.values():
            self._found |= sentences
            self._pairs.update({name for key in sentences for name in self._tests.names[key]})

    def result(self) -> list[dict[str, Any]]:
        """For each set its distinct ``sentences``, those ``found``, and the corpus's ``pairs`` with one."""
        counts = Counter(name for key in self._found for name in self._tests.names[key])
        return [
            {"set": name, "sentences": len(keys), "found": counts[name], "pairs": self._pairs[name]}
            for name, keys in self._tests.sets.items()
        ]


@dataclass
class ReadCounts:
    """Statistics that need all pairs of a corpus.

    Attributes:
        rows, bad_rows, empty: rows; those that are not pairs; pairs with an empty side.
        repeated: for each side, pairs in which it is that of the pair before, while the other side is another.
        sizes: for each side, the number of texts by length in characters.
        ratios: a histogram of the logarithms of target's over source's lengths.
    """

    rows: int = 0
    bad_rows: int = 0
    empty: int = 0
    repeated: list[int] = field(default_factory=lambda: [0, 0])
    sizes: tuple[Sizes, Sizes] = field(
        default_factory=lambda: (np.zeros(LONGEST + 1, np.int64), np.zeros(LONGEST + 1, np.int64))
    )
    ratios: Sizes = field(default_factory=lambda: np.zeros(_BINS, np.int64))
    blocks: LengthBlocks = field(default_factory=LengthBlocks)
    duplicates: dict[str, Duplicates] = field(
        default_factory=lambda: {what: Duplicates() for what in ("pair", "source", "target")}
    )

    @property
    def pairs(self) -> int:
        """Rows with two columns."""
        return self.rows - self.bad_rows

    @property
    def usual(self) -> float:
        """The median logarithm of the length ratios, over pairs with informative lengths (:data:`TELLING`)."""
        below = np.cumsum(self.ratios)
        return float(_MIDDLES[int(np.searchsorted(below, max(below[-1] / 2, 1)))]) if below[-1] else 0.0

    def beyond(self, times: float) -> tuple[float, int]:
        """The share of pairs whose length ratio is this many times the median, or 1 over it; and of how many pairs."""
        count = int(self.ratios.sum())
        far = np.abs(_MIDDLES - self.usual) > math.log(times)
        return float(self.ratios[far].sum() / max(count, 1)), count

    def is_beyond(self, pair: Sampled, times: float) -> bool:
        """Whether a pair is one of them, apart from those at the edge."""
        if max(len(pair.source), len(pair.target)) < TELLING:
            return False
        return abs(math.log1p(len(pair.target)) - math.log1p(len(pair.source)) - self.usual) > math.log(times)

    def lengths(self, side: int) -> dict[str, Any]:
        """Quantiles and a histogram of a side's lengths in characters."""
        sizes = self.sizes[side]
        total = int(sizes.sum())
        below = np.cumsum(sizes)
        starts = [*LENGTHS, LONGEST + 1]
        return {
            "quantiles": [int(np.searchsorted(below, max(share * total, 1))) if total else 0 for share in QUANTILES],
            "histogram": [int(sizes[start:end].sum()) for start, end in itertools.pairwise(starts)],
        }


def read(
    rows: Iterable[Row], *, size: int, seed: int, what: str, tests: TestCounter | None = None
) -> tuple[ReadCounts, list[Sampled]]:
    """Read a corpus to its end.

    Args:
        rows: as its reader yields them.
        size: pairs of the sample.
        seed: of the sample.
        what: the corpus, for the progress bar.
        tests: takes the pairs, too.

    Returns:
        Counts over all rows, and the sample.

    Raises:
        DataError: from the reader.
    """
    counts, sample = ReadCounts(), HashDraw[Sampled](size)
    before, number, held = ("", ""), 0, list[Any]()
    with Progress(f"reading {what}", "pairs") as bar:
        for some in itertools.chain(batches(rows, BATCH), [[]]):  # the empty one is the end
            good = [*held, *(row for row in some if not isinstance(row, BadRow))]
            counts.rows += len(some)
            counts.bad_rows += len(some) - (len(good) - len(held))
            bar.add(len(some))
            end = len(good) - bool(some)  # the row after the last one is not read yet
            held = good[max(end, 0) :]
            if end < 1:
                continue
            source, target = clean_all([row[0] for row in good]), clean_all([row[1] for row in good])
            for place, row in enumerate(range(number, number + end)):
                # By the hash of its number: any row is as likely as any other, copies included.
                digits = row.to_bytes(8, "big")
                if sample.wants(key := xxhash.xxh3_64_digest(digits[::-1], seed % HASHES) + digits):
                    above = target[place - 1] if place else before[1]
                    below = target[place + 1] if place + 1 < len(target) else ""
                    score = good[place][2] if len(good[place]) > 2 else None
                    sample.add(key, Sampled(row + 1, source[place], target[place], above, below, score))
            _count(counts, source[:end], target[:end], before)
            if tests is not None:
                tests.add(source[:end], target[:end])
            before, number = (source[end - 1], target[end - 1]), number + end
    return counts, sample.items()


def _count(counts: ReadCounts, source: list[str], target: list[str], before: tuple[str, str]) -> None:
    sizes = [np.fromiter(map(len, column), np.int64, len(column)) for column in (source, target)]
    counts.empty += int(((sizes[0] == 0) | (sizes[1] == 0)).sum())
    for held, lengths in zip(counts.sizes, sizes, strict=True):
        held += np.bincount(np.minimum(lengths, LONGEST), minlength=LONGEST + 1)
    telling = (np.maximum(*sizes) >= TELLING) & (np.minimum(*sizes) > 0)
    ratios = (np.log1p(sizes[1]) - np.log1p(sizes[0]))[telling]
    counts.ratios += np.bincount(
        np.clip(np.floor(ratios / _BIN).astype(np.int64) + _BINS // 2, 0, _BINS - 1), minlength=_BINS
    )
    counts.blocks.add(*sizes)
    one, other = [before[0], *source], [before[1], *target]
    same = np.array([list(map(str.__eq__, side[1:], side)) for side in (one, other)])
    for side in (0, 1):
        counts.repeated[side] += int((same[side] & ~same[1 - side] & (sizes[side] >= TELLING)).sum())
    counts.duplicates["pair"].add(map("\t".join, zip(source, target, strict=True)))
    counts.duplicates["source"].add(source)
    counts.duplicates["target"].add(target)
