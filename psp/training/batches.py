"""Pairs in a seeded random order, with memory that does not grow with the corpus.

The store is read block by block, in a permuted order, into a buffer of many blocks, which is shuffled. The order
depends only on the seed, the epoch and the store, so any epoch can be reproduced from any position. A thread reads and
shuffles the next buffer while the current one is used.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from threading import Event, Thread
from typing import Any

import numpy as np
import numpy.typing as npt

from psp.pairs.encoded_pairs import BLOCK_PAIRS, Pairs, PairSource, joined
from psp.text.tokenizer import Encoded, offsets_of
from psp.training.sampling import LanguageSampling

BUFFER_BLOCKS = 64  # 262,144 pairs, about 20 MB of ids; there are two such buffers


class Epoch:
    """One epoch's pairs, in portions of any requested size.

    Each pair comes exactly once, unless a sampling says how often. Besides the portion being assembled, two buffers of
    ``buffer_blocks * block_pairs`` pairs are in memory: the current one, and the next, which a thread reads meanwhile.
    A thread lives for one buffer. To end it early, for example when an exception stops training, use the epoch as a
    context manager, or :meth:`close` it.

    Attributes:
        left: the number of pairs still to come.
        then: the next epoch, if any: its first buffer is read while this epoch's last is used.
    """

    def __init__(
        self,
        source: PairSource,
        seed: int,
        epoch: int,
        block_pairs: int = BLOCK_PAIRS,
        buffer_blocks: int = BUFFER_BLOCKS,
        sampling: LanguageSampling | None = None,
    ) -> None:
        if sampling is not None:
            block_pairs = sampling.block_pairs
        self._source, self._sampling = source, sampling
        self._generator = np.random.default_rng([seed, epoch])
        self._take = None if sampling is None else partial(_sampled, sampling, (seed, epoch), block_pairs)
        self._block_pairs, self._buffer_blocks = block_pairs, buffer_blocks
        blocks = -(-len(source) // block_pairs)
        self._blocks: npt.NDArray[np.int64] = self._generator.permutation(blocks)  # not yet assigned to a buffer
        self._buffer: Pairs | None = None
        self._place = 0  # pairs of the buffer already handed out
        self._coming: _Buffer | None = None
        self.left = len(source) if sampling is None else len(sampling)
        self.then: Epoch | None = None

    def take(self, count: int) -> Pairs:
        """Return the next ``count`` pairs; fewer at the end of the epoch, none after it.

        Raises:
            PspError: or anything else that the source's ``read`` raised in the thread.
        """
        parts = []
        count = min(count, self.left)
        while count:
            buffer = self._buffer or self._next()
            stop = min(self._place + count, len(buffer))
            parts.append(_portion(buffer, self._place, stop))
            count -= stop - self._place
            self._pass_to(stop)
        return Pairs.join(parts) if parts else _NONE

    def skip(self, count: int) -> None:
        """Skip ``count`` pairs that :meth:`take` would return; buffers skipped as a whole are not read."""
        count = min(count, self.left)
        while count:
            if self._buffer is None and (coming := self._drawn()).size <= count:
                coming.stop()
                self._coming = None
                self.left -= coming.size
                count -= coming.size
                continue
            buffer = self._buffer or self._next()
            stop = min(self._place + count, len(buffer))
            count -= stop - self._place
            self._pass_to(stop)

    def prefetch(self) -> None:
        """Start reading the next buffer in a thread, unless this is under way; :meth:`take` calls this itself.

        If this epoch has no buffer left to read, the first of the next epoch is read.
        """
        if self._coming is not None or len(self._blocks):
            self._drawn().start()
        elif self.then is not None:
            self.then.prefetch()

    def close(self) -> None:
        """Stop reading ahead, and wait for the thread to end; no pairs are left.

        The next epoch is closed too, unless this one has reached its end.
        """
        if self.left and self.then is not None:
            self.then.close()
        self.left, self._buffer, self._blocks = 0, None, self._blocks[:0]
        if self._coming is not None:
            self._coming.stop()
            self._coming = None

    def _drawn(self) -> _Buffer:
        """The next buffer, whether or not it has been read."""
        if self._coming is None:
            blocks, self._blocks = np.split(self._blocks, [self._buffer_blocks])
            starts = blocks * self._block_pairs
            stops = np.minimum(starts + self._block_pairs, len(self._source))
            sizes = stops - starts if self._sampling is None else self._sampling.sizes(blocks)
            order = self._generator.permutation(int(sizes.sum()))
            ranges = list(zip(starts.tolist(), stops.tolist(), strict=True))
            self._coming = _Buffer(self._source, ranges, order, self._take)
        return self._coming

    def _next(self) -> Pairs:
        """Make the next buffer the current one, and start reading the one after it."""
        self._buffer = self._drawn().pairs()
        self._coming = None
        self.prefetch()
        return self._buffer

    def _pass_to(self, place: int) -> None:
        assert self._buffer is not None
        self.left -= place - self._place
        self._place = place
        if place == len(self._buffer):
            self._buffer, self._place = None, 0  # free it before another is read

    def __enter__(self) -> Epoch:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class _Buffer:
    """Ranges of pairs, some rows of which are drawn, for a thread to read and shuffle.

    The thread refers to this buffer but not to the epoch, so it cannot keep alive an epoch that was never closed. It is
    a daemon, so it does not keep Python from exiting either.
    """

    def __init__(
        self,
        source: PairSource,
        ranges: list[tuple[int, int]],
        order: npt.NDArray[np.int64],
        take: Callable[[int, Any], Pairs] | None = None,
    ) -> None:
        self.size = len(order)
        self._source, self._ranges, self._order, self._take = source, ranges, order, take
        self._stopped = Event()
        self._result: Future[Pairs] = Future()
        self._thread: Thread | None = None

    def start(self) -> None:
        if self._thread is None:
            self._thread = Thread(target=self._run, name="psp-prefetch", daemon=True)
            self._thread.start()

    def pairs(self) -> Pairs:
        """Wait for the pairs and return them, or raise the thread's error."""
        self.start()
        return self._result.result()

    def stop(self) -> None:
        """Stop the thread after its current range, and wait for it; the pairs are no longer needed."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            sources, targets, kinds, teacher_rows = [], [], [], []
            for start, stop in self._ranges:
                if self._stopped.is_set():
                    return
                block: Any = self._source.read(start, stop)
                if self._take is not None:
                    block = self._take(start, block)
                sources.append(block.source)
                targets.append(block.target)
                kinds.append(block.paraphrase)
                teacher_rows.append(block.teacher_rows)
            source = _shuffled(sources, self._order)
            sources.clear()  # they take half as much memory as a buffer
            target = _shuffled(targets, self._order)
            rows = joined(teacher_rows)
            if rows is not None:
                rows = rows[self._order]
            self._result.set_result(Pairs(source, target, np.concatenate(kinds)[self._order], rows))
        except BaseException as error:  # raised again in the caller's thread
            self._result.set_exception(error)


def _sampled(sampling: LanguageSampling, seeds: tuple[int, int], block_pairs: int, start: int, block: Any) -> Pairs:
    """The pairs of the block from ``start`` on that an epoch, known by its seeds, draws."""
    number = start // block_pairs
    rows = sampling.rows(number, block.corpus, np.random.default_rng([*seeds, number]))
    return Pairs(block.source, block.target, block.paraphrase, block.teacher_rows).take(rows)


def _shuffled(parts: list[Any], order: npt.NDArray[np.int64]) -> Encoded:
    """Concatenate the sentences of ``parts`` and reorder them by ``order``; ids keep their type, often half as wide.

    Done once for the whole buffer, in the thread: portions are then slices, which take a tenth of the time.
    """
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    offsets = offsets_of(lengths[order])
    starts = np.empty_like(order)
    starts[order] = offsets[:-1]  # where each sentence goes, in the original order
    ids = np.empty(offsets[-1], dtype=parts[0].ids.dtype)
    row = 0
    for part in parts:  # one by one: the places of all ids would take four times the memory of the ids
        rows = slice(row, row + len(part.offsets) - 1)
        row = rows.stop
        shifts = starts[rows] - (part.offsets[:-1] - part.offsets[0])
        ids[np.arange(len(part.ids)) + np.repeat(shifts, lengths[rows])] = part.ids
    return Encoded(ids, offsets)


def _portion(pairs: Pairs, start: int, stop: int) -> Pairs:
    """Copy consecutive pairs of a buffer, so that the buffer can be freed."""
    source, target = (
        Encoded(
            side.ids[side.offsets[start] : side.offsets[stop]].astype(np.int32),
            side.offsets[start : stop + 1] - side.offsets[start],
        )
        for side in (pairs.source, pairs.target)
    )
    teacher_rows = None if pairs.teacher_rows is None else pairs.teacher_rows[start:stop].copy()
    return Pairs(source, target, pairs.paraphrase[start:stop].copy(), teacher_rows)


_NO_SENTENCES = Encoded(np.zeros(0, dtype=np.int32), np.zeros(1, dtype=np.int64))
_NONE = Pairs(_NO_SENTENCES, _NO_SENTENCES, np.zeros(0, dtype=np.bool_))
