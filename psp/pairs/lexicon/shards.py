"""Counting word pairs in bounded memory, for corpora of any size: exact, with nothing pruned that could be listed.

The rows, the first words of pairs, are divided into ranges of numbers. For each range all sentences are read twice.

First, each pair of words adds one to a counter that its hash chooses, one byte that stops at 255. Several pairs may
share a counter, so it is never lower than the count of one of them: a pair whose counter stays below ``least`` is seen
less often than that. Then the other pairs are counted, in a hash table with their words. Most pairs of words are seen
once or twice, so the table holds few. A range has as many rows as the counters can take (:data:`LOAD`).

Should the table still get half full, the upper rows that hold half of its entries are dropped and counted in a later
range. So the sizes affect only the time. Of paraphrases, a pair belongs to the row of the rarer word (words are
numbered from the most frequent on), so that no row is much longer than others. Sentences that hold both words are
counted afterwards, for the pairs that are seen often enough alone. Needs numba.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from psp.core.jit import compiled
from psp.core.progress import Progress
from psp.pairs.lexicon.pmi import Counts, JointCounts
from psp.pairs.lexicon.sentences import BLOCK_PAIRS, Sentences

#: Counters: a byte each.
COUNTERS = 1 << 28
#: What a range adds to a counter on average.
LOAD = 2
#: Slots of the table: 12 bytes each.
SLOTS = 1 << 24
#: Pairs of words whose sentences are counted at a time: about 100 bytes each.
MOST_KEPT = 1 << 21

Keys = npt.NDArray[np.uint64]

_EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)
_ODD, _OTHER = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MOST = 255


def count(
    sentences: Sentences,
    least: int,
    asked: tuple[Counts, Counts],
    *,
    symmetric: bool,
    counters: int = COUNTERS,
    slots: int = SLOTS,
    most_kept: int = MOST_KEPT,
    block_pairs: int = BLOCK_PAIRS,
) -> Iterator[JointCounts]:
    """Count the pairs of words, as :func:`psp.pairs.lexicon.products.count` does.

    Args:
        sentences, least, asked, symmetric: as there.
        counters: their number, a power of 2; fewer where there is less to count.
        slots: the size of the table, a power of 2; made as large as one row may need.
        most_kept: pairs of words whose sentences are counted at a time.
        block_pairs: pairs of sentences read at a time.
    """
    while slots < 4 * max(map(len, sentences.words)):
        slots *= 2
    work = _Ranges(sentences, least, symmetric, counters, slots, block_pairs)
    shards: list[tuple[Keys, Counts]] = []
    waiting = 0
    rows, start = len(sentences.words[0]), 0
    with Progress("lexicon: counting pairs of words", "words", rows) as bar:
        while start < rows:
            end = work.fill(start)
            keys, counts = work.entries()
            often = (counts >= least) & ((keys >> _HALF != keys & _LOW) if symmetric else True)
            shards.append((keys[often], counts[often].astype(np.int64)))
            waiting += int(often.sum())
            if waiting > most_kept:
                yield from _joined(shards, sentences, symmetric, most_kept, block_pairs)
                shards, waiting = [], 0
            bar.add(end - start)
            start = end
    del work
    yield from _joined(shards, sentences, symmetric, most_kept, block_pairs)
    wanted = _keys(*asked, symmetric=symmetric)
    across = np.zeros(len(wanted), np.int64)
    for block in sentences.blocks(block_pairs) if len(wanted) else ():
        one, other = block.matrices(sentences.words)
        for first, second in (asked, asked[::-1]) if symmetric else (asked,):
            across += np.asarray(one[:, first].multiply(other[:, second]).sum(axis=0)).ravel()
    yield JointCounts(*asked, across, _within(wanted, sentences, block_pairs) if symmetric else None)


def _keys(first: Counts, second: Counts, *, symmetric: bool) -> Keys:
    """Pairs of words as one number each, of paraphrases with the larger one first."""
    high, low = (np.maximum(first, second), np.minimum(first, second)) if symmetric else (first, second)
    return high.astype(np.uint64) << _HALF | low.astype(np.uint64)


def _joined(
    shards: list[tuple[Keys, Counts]], sentences: Sentences, symmetric: bool, most: int, block_pairs: int
) -> Iterator[JointCounts]:
    """The pairs of words with their counts within sentences, ``most`` at a time."""
    if not shards:
        return
    keys, counts = (np.concatenate([pair[place] for pair in shards]) for place in (0, 1))
    for start in range(0, len(keys), most):
        some = keys[start : start + most]
        within = _within(some, sentences, block_pairs) if symmetric else None
        first, second = (some >> _HALF).astype(np.int64), (some & _LOW).astype(np.int64)
        yield JointCounts(first, second, counts[start : start + most], within)


class _Ranges:
    """The counters and the table, for one range of rows after another."""

    def __init__(
        self, sentences: Sentences, least: int, symmetric: bool, counters: int, slots: int, block_pairs: int
    ) -> None:
        self._sentences, self._symmetric, self._block_pairs = sentences, symmetric, block_pairs
        self._least = min(least, _MOST)
        self._keys, self._counts = np.empty(slots, np.uint64), np.empty(slots, np.uint32)
        weights = np.zeros(len(sentences.words[0]), np.int64)
        for block in sentences.blocks(block_pairs):
            _weigh(*block, symmetric, weights)
        self._work = np.cumsum(weights)  # up to each row, itself included
        while counters > 1 and counters > 2 * self._work[-1]:
            counters //= 2
        self._counters = np.empty(counters, np.uint8)

    def fill(self, start: int) -> int:
        """Count the pairs of the rows from ``start`` on; returns the row before which it had to stop."""
        before = self._work[start - 1] if start else 0
        end = int(np.searchsorted(self._work, before + LOAD * len(self._counters), side="right"))
        end = max(end, start + 1)
        self._counters.fill(0)
        for block in self._sentences.blocks(self._block_pairs):
            _sketch(*block, start, end, self._symmetric, self._counters)
        self._clear()
        used = 0
        for block in self._sentences.blocks(self._block_pairs):
            state = np.zeros(3, np.int64)  # the pair, the side and the word that come next
            while True:
                used = _scan(
                    *block, start, end, self._symmetric, self._counters, self._least,
                    self._keys, self._counts, used, state,
                )  # fmt: skip
                if state[0] == len(block.first_ends) - 1:
                    break
                end, used = self._shrink(start, end)
        return end

    def _clear(self) -> None:
        self._keys.fill(_EMPTY)
        self._counts.fill(0)

    def _shrink(self, start: int, end: int) -> tuple[int, int]:
        """Drop the upper rows, so that at most half of the entries stay; returns the first of them, and what stays."""
        keys, counts = self.entries()
        rows = (keys >> _HALF).astype(np.int64) - start
        ends = np.cumsum(np.bincount(rows, minlength=end - start))
        kept = max(1, int(np.searchsorted(ends, len(keys) // 2, side="right")))
        keys, counts = keys[rows < kept], counts[rows < kept]
        self._clear()
        _place(keys, counts, self._keys, self._counts)
        return start + kept, len(keys)

    def entries(self) -> tuple[Keys, npt.NDArray[np.uint32]]:
        """All pairs, in no order, and their counts."""
        places = np.flatnonzero(self._keys != _EMPTY)
        return self._keys[places], self._counts[places]


class _Asked:
    """A table of the pairs of words that are looked for."""

    def __init__(self, keys: Keys, rows: int) -> None:
        distinct, self.places = np.unique(keys, return_inverse=True)
        self.table = np.full(1 << (2 * len(distinct) + 1).bit_length(), _EMPTY)
        self.numbers = np.zeros(len(self.table), np.uint32)
        _place(distinct, np.arange(len(distinct), dtype=np.uint32), self.table, self.numbers)
        self.rows = np.zeros(rows, np.bool_)
        self.rows[(distinct >> _HALF).astype(np.int64)] = True
        self.found = np.zeros((2, len(distinct)), np.int64)


def _within(keys: Keys, sentences: Sentences, block_pairs: int) -> Counts:
    """Count the sentences that hold both words of each pair, int64 (2, pairs): in the first sides and in the second."""
    asked = _Asked(keys, len(sentences.words[0]))
    if len(keys):
        with Progress("lexicon: counting within sentences", "pairs", sentences.pairs) as bar:
            for block in sentences.blocks(block_pairs):
                for ids, ends, counts in zip(block[::2], block[1::2], asked.found, strict=True):
                    _inside(ids, ends, asked.rows, asked.table, asked.numbers, counts)
                bar.add(len(block.first_ends) - 1)
    found: Counts = asked.found[:, asked.places]
    return found


# Code that runs for each pair of words is inlined by hand: numba (0.68) counts references to the arrays of a
# call with a loop. A side's ids ascend, and in the second order, a word that both sides hold is not counted again.


@compiled(parallel=False)
def _slot(key, table):  # type: ignore[no-untyped-def]
    """The slot of a key: its own, or else a free one."""
    slot = np.int64(((key * _ODD) >> _HALF) & np.uint64(len(table) - 1))
    while table[slot] != key and table[slot] != _EMPTY:
        slot = (slot + 1) & (len(table) - 1)
    return slot


@compiled(parallel=False)
def _place(keys, values, table, counts):  # type: ignore[no-untyped-def]
    for place in range(len(keys)):
        slot = _slot(keys[place], table)
        table[slot], counts[slot] = keys[place], values[place]


@compiled(parallel=False)
def _weigh(first, first_ends, second, second_ends, symmetric, weights):  # type: ignore[no-untyped-def]
    """Add the pairs of words of each row."""
    for pair in range(len(first_ends) - 1):
        a, b, c, d = first_ends[pair], first_ends[pair + 1], second_ends[pair], second_ends[pair + 1]
        if not symmetric:
            for place in range(a, b):
                weights[first[place]] += d - c
            continue
        at = c
        for place in range(a, b):
            while at < d and second[at] <= first[place]:
                at += 1
            weights[first[place]] += at - c
        at = a
        for place in range(c, d):
            while at < b and first[at] < second[place]:
                at += 1
            weights[second[place]] += at - a


@compiled(parallel=False)
def _sketch(first, first_ends, second, second_ends, start, end, symmetric, counters):  # type: ignore[no-untyped-def]
    """Add each pair of words of some rows to its counter."""
    for pair in range(len(first_ends) - 1):
        for order in range(1 + symmetric):
            ids, others = first, second
            a, b, c, d = first_ends[pair], first_ends[pair + 1], second_ends[pair], second_ends[pair + 1]
            if order == 1:
                ids, others = second, first
                a, b, c, d = c, d, a, b
            for place in range(a, b):
                row = ids[place]
                if row < start:
                    continue
                if row >= end:
                    break
                for at in range(c, d):
                    other = others[at]
                    if symmetric and (other > row or (other == row and order == 1)):
                        break
                    key = (np.uint64(row) << _HALF) | np.uint64(other)
                    counter = np.int64(((key * _OTHER) >> _HALF) & np.uint64(len(counters) - 1))
                    if counters[counter] < _MOST:
                        counters[counter] += np.uint8(1)


@compiled(parallel=False)
def _scan(first, first_ends, second, second_ends, start, end, symmetric, counters, least, keys, counts, used, state):  # type: ignore[no-untyped-def]
    """Count the pairs of words of some rows that may be seen ``least`` times, until the end or until the table is full.

    It is full when half of it is in use. Returns the slots in use; ``state`` is where to go on.
    """
    pairs, most = len(first_ends) - 1, len(keys) // 2
    while state[0] < pairs:
        pair = state[0]
        while state[1] < 1 + symmetric:
            order = state[1]
            ids, others = first, second
            a, b, c, d = first_ends[pair], first_ends[pair + 1], second_ends[pair], second_ends[pair + 1]
            if order == 1:
                ids, others = second, first
                a, b, c, d = c, d, a, b
            while a + state[2] < b:
                row = ids[a + state[2]]
                if row >= end:
                    break
                if row >= start:
                    if used >= most:
                        return used
                    for at in range(c, d):
                        other = others[at]
                        if symmetric and (other > row or (other == row and order == 1)):
                            break
                        key = (np.uint64(row) << _HALF) | np.uint64(other)
                        counter = np.int64(((key * _OTHER) >> _HALF) & np.uint64(len(counters) - 1))
                        if counters[counter] < least:
                            continue
                        slot = np.int64(((key * _ODD) >> _HALF) & np.uint64(len(keys) - 1))
                        while keys[slot] != key and keys[slot] != _EMPTY:
                            slot = (slot + 1) & (len(keys) - 1)
                        if keys[slot] == _EMPTY:
                            keys[slot] = key
                            used += 1
                        counts[slot] += np.uint32(1)
                state[2] += 1
            state[1], state[2] = order + 1, 0
        state[0], state[1], state[2] = pair + 1, 0, 0
    return used


@compiled(parallel=False)
def _inside(ids, ends, rows, table, numbers, counts):  # type: ignore[no-untyped-def]
    """Add the sentences that hold both words of a pair; a word is with itself wherever it is."""
    for sentence in range(len(ends) - 1):
        for place in range(ends[sentence], ends[sentence + 1]):
            row = ids[place]
            if not rows[row]:
                continue
            for other in range(ends[sentence], place + 1):
                key = (np.uint64(row) << _HALF) | np.uint64(ids[other])
                slot = np.int64(((key * _ODD) >> _HALF) & np.uint64(len(table) - 1))
                while table[slot] != key and table[slot] != _EMPTY:
                    slot = (slot + 1) & (len(table) - 1)
                if table[slot] == key:
                    counts[numbers[slot]] += 1
