"""Pairs in a seeded order, with memory that does not grow with the corpus.

The store is read block by block in a permuted order into a buffer of many blocks, which is shuffled. The order depends
on the seed, the epoch and the store alone, so that any epoch's can be had again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

BLOCK_PAIRS = 4096
BUFFER_BLOCKS = 64  # 262,144 pairs, about 20 MB of ids


@dataclass(frozen=True)
class Sentences:
    """Encoded sentences, flat.

    Attributes:
        ids: subword ids of all sentences, one after another, shape (tokens,).
        offsets: sentence i is ``ids[offsets[i]:offsets[i + 1]]``; int64, shape (sentences + 1,), starting at 0.
    """

    ids: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: npt.NDArray[np.int64]) -> Sentences:
        """The sentences ``rows`` in that order; a row may come more than once."""
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        offsets = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        places = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        return Sentences(self.ids[places], offsets)

    @staticmethod
    def join(parts: list[Sentences]) -> Sentences:
        """All sentences of ``parts``, one part after another."""
        if len(parts) == 1:
            return parts[0]
        shifts = np.cumsum([0, *(part.offsets[-1] for part in parts)])
        offsets = [part.offsets[:-1] + shift for part, shift in zip(parts, shifts, strict=False)]
        return Sentences(np.concatenate([part.ids for part in parts]), np.concatenate([*offsets, shifts[-1:]]))


@dataclass(frozen=True)
class Pairs:
    """Aligned sentences: source i and target i are a pair.

    ``paraphrase`` tells of each pair whether both sides are in one language; bool, shape (pairs,).
    """

    source: Sentences
    target: Sentences
    paraphrase: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.source)

    def take(self, rows: npt.NDArray[np.int64]) -> Pairs:
        """The pairs ``rows`` in that order."""
        return Pairs(self.source.take(rows), self.target.take(rows), self.paraphrase[rows])

    @staticmethod
    def join(parts: list[Pairs]) -> Pairs:
        """All pairs of ``parts``, one part after another."""
        return Pairs(
            Sentences.join([part.source for part in parts]),
            Sentences.join([part.target for part in parts]),
            np.concatenate([part.paraphrase for part in parts]),
        )


class Source(Protocol):
    """Where pairs come from: :class:`psp.store.Store`, or anything alike."""

    def __len__(self) -> int: ...

    def read(self, start: int, stop: int) -> Any:
        """Pairs start..stop: ``source`` and ``target``, each with ``ids`` and ``offsets``; ``paraphrase``."""
        ...


class Epoch:
    """One epoch's pairs, handed out in as large portions as are asked for.

    Each pair comes exactly once. At most one buffer of ``buffer_blocks * block_pairs`` pairs is held, beside the
    portion that is being put together.
    """

    def __init__(
        self, source: Source, seed: int, epoch: int, block_pairs: int = BLOCK_PAIRS, buffer_blocks: int = BUFFER_BLOCKS
    ) -> None:
        self._source = source
        self._generator = np.random.default_rng([seed, epoch])
        self._block_pairs, self._buffer_blocks = block_pairs, buffer_blocks
        blocks = -(-len(source) // block_pairs)
        self._blocks: npt.NDArray[np.int64] = self._generator.permutation(blocks)
        self._next_block = 0
        self._buffer: Pairs | None = None
        self._order = np.zeros(0, dtype=np.int64)  # rows of the buffer that are still to be handed out
        self.left = len(source)

    def take(self, count: int) -> Pairs:
        """The next ``count`` pairs, fewer where the epoch ends (none are left when it has ended)."""
        count = min(count, self.left)
        if count == 0:
            empty = Sentences(np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64))
            return Pairs(empty, empty, np.zeros(0, dtype=np.bool_))
        parts = []
        self.left -= count
        while count:
            if not len(self._order):
                self._fill()
            assert self._buffer is not None
            parts.append(self._buffer.take(self._order[:count]))
            self._order = self._order[count:]
            count -= len(parts[-1])
        return Pairs.join(parts)

    def _fill(self) -> None:
        self._buffer = None  # let go of the old one before the new one is read
        chosen = self._blocks[self._next_block : self._next_block + self._buffer_blocks]
        self._next_block += len(chosen)
        self._buffer = Pairs.join([self._read(int(block)) for block in chosen])
        self._order = self._generator.permutation(len(self._buffer))

    def _read(self, block: int) -> Pairs:
        start = block * self._block_pairs
        data = self._source.read(start, min(start + self._block_pairs, len(self._source)))
        source, target = (_rebased(side.ids, side.offsets) for side in (data.source, data.target))
        return Pairs(source, target, data.paraphrase)


def _rebased(ids: npt.NDArray[Any], offsets: npt.NDArray[Any]) -> Sentences:
    return Sentences(ids.astype(np.int32, copy=False), offsets.astype(np.int64, copy=False) - int(offsets[0]))
