from __future__ import annotations

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.pairs.encoded_pairs import Pairs
from psp.training.batches import Epoch
from tests.conftest import rows_of
from tests.training.conftest import ListSource, numbered


def reference(source: ListSource, seed: int, epoch: int, block: int, buffer: int) -> list[int]:
    """The order of the pairs, the plain way: everything at once, without a thread."""
    generator = np.random.default_rng([seed, epoch])
    blocks = generator.permutation(-(-len(source) // block))
    places: list[int] = []
    for first in range(0, len(blocks), buffer):
        chosen = blocks[first : first + buffer]
        rows = [row for number in chosen for row in range(number * block, min((number + 1) * block, len(source)))]
        places += [rows[place] for place in generator.permutation(len(rows))]
    return places


def taken(epoch: Epoch, count: int) -> list[list[int]]:
    return rows_of(epoch.take(count).target)


@pytest.mark.slow
@given(
    count=st.integers(1, 200),
    block=st.integers(1, 40),
    buffer=st.integers(1, 5),
    moves=st.lists(st.tuples(st.booleans(), st.integers(0, 90)), max_size=8),
)
def test_skipping_is_taking_without_looking(count: int, block: int, buffer: int, moves: list[tuple[bool, int]]) -> None:
    epoch, plain = (Epoch(numbered(count), 3, 1, block_pairs=block, buffer_blocks=buffer) for _ in range(2))
    for skip, size in moves:
        expected = taken(plain, size)
        if skip:
            epoch.skip(size)
        else:
            assert taken(epoch, size) == expected
        assert epoch.left == plain.left
    assert taken(epoch, count) == taken(plain, count)


def test_what_is_skipped_is_not_read() -> None:
    source = numbered(20_000)
    epoch = Epoch(source, seed=1, epoch=0, block_pairs=32, buffer_blocks=4)
    epoch.skip(128 * 100)
    assert source.have_read == 0
    epoch.skip(128 * 50 + 1)
    assert len(epoch.take(20_000)) == 20_000 - 128 * 150 - 1
    assert source.have_read == 20_000 - 128 * 150
    epoch = Epoch(source, seed=1, epoch=0, block_pairs=32, buffer_blocks=4)
    epoch.take(1)
    source.have_read = 0
    epoch.skip(15_000)
    epoch.take(1)
    epoch.close()
    assert source.have_read <= 4 * 128  # what was in flight, where it stopped, and the next


class Watched(ListSource):
    """Knows which threads read it; waits after ``hold_after`` pairs until it may go on; fails at a pair."""

    def __init__(self, count: int, hold_after: int | None = None, fails_at: int | None = None) -> None:
        pairs = numbered(count)
        super().__init__(pairs.source, pairs.target)
        self.hold_after, self.fails_at = hold_after, fails_at
        self.error = DataError("this block is damaged", "made.h5")
        self.threads: set[threading.Thread] = set()
        self.held, self.go_on = threading.Event(), threading.Event()
        self.one_reads = threading.Lock()

    def read(self, start: int, stop: int) -> Pairs:
        self.threads.add(threading.current_thread())
        if self.hold_after is not None and self.have_read >= self.hold_after:
            self.held.set()
            assert self.go_on.wait(30)
        if self.fails_at is not None and start <= self.fails_at < stop:
            raise self.error
        assert self.one_reads.acquire(blocking=False), "two threads read at once"
        try:
            return super().read(start, stop)
        finally:
            self.one_reads.release()

    def alive(self) -> int:
        return sum(thread.is_alive() for thread in self.threads)


def test_the_next_buffer_is_read_while_the_present_one_is_used() -> None:
    source = Watched(1000, hold_after=60)
    with Epoch(source, seed=1, epoch=0, block_pairs=10, buffer_blocks=4) as epoch:
        first = epoch.take(1)
        assert source.held.wait(30)  # nobody has asked for the second buffer
        assert len(first) + len(epoch.take(39)) == 40  # and nobody waits for it
        assert source.have_read == 60
        source.go_on.set()
        assert len(epoch.take(960)) == 960
    assert threading.current_thread() not in source.threads


@given(
    count=st.integers(1, 120),
    block=st.integers(1, 40),
    buffer=st.integers(1, 3),
    portions=st.lists(st.integers(1, 70), min_size=1, max_size=8),
    seed=st.integers(0, 3),
)
def test_epochs_are_those_of_the_plain_way_in_memory_for_two_buffers(
    count: int, block: int, buffer: int, portions: list[int], seed: int
) -> None:
    source, given_out, sizes = Watched(count), 0, itertools.cycle(portions)
    source.paraphrase = np.arange(count) % 3 == 0
    epochs = [Epoch(source, seed, number, block_pairs=block, buffer_blocks=buffer) for number in range(3)]
    for epoch, following in itertools.pairwise(epochs):
        epoch.then = following
    for number, epoch in enumerate(epochs):
        with epoch:
            parts = []
            while before := epoch.left:
                size = next(sizes)
                parts.append(epoch.take(size))
                assert len(parts[-1]) == min(size, before) == before - epoch.left
                given_out += len(parts[-1])
                assert source.have_read - given_out <= 2 * block * buffer
            assert len(epoch.take(5)) == 0
        pairs, places = Pairs.join(parts), reference(source, seed, number, block, buffer)
        assert rows_of(pairs.source) == [source.source[place] for place in places]
        assert rows_of(pairs.target) == [source.target[place] for place in places]
        assert pairs.paraphrase.tolist() == [place % 3 == 0 for place in places]
        assert pairs.source.ids.dtype == np.int32 and pairs.source.offsets.dtype == np.int64
    assert source.have_read == 3 * count  # every block is read once an epoch


def test_the_next_epoch_is_begun_before_this_one_ends() -> None:
    source = Watched(100, hold_after=100)
    with Epoch(source, seed=1, epoch=0, block_pairs=10, buffer_blocks=40) as epoch:
        epoch.then = Epoch(source, seed=1, epoch=1, block_pairs=10, buffer_blocks=40)
        epoch.take(99)
        assert source.held.wait(30)
        source.go_on.set()
    assert source.alive() == 0  # closed before its end, it closed the other
    assert len(epoch.then.take(1)) == 0


def test_an_error_in_the_thread_is_the_callers() -> None:
    source = Watched(1000, fails_at=700)
    epoch = Epoch(source, seed=1, epoch=0, block_pairs=10, buffer_blocks=4)
    with pytest.raises(DataError) as caught:
        while epoch.left:
            epoch.take(7)
    assert caught.value is source.error
    with pytest.raises(DataError):  # and so again: nobody waits for a thread that has ended
        epoch.take(1000)
    epoch.close()
    assert source.alive() == 0


def test_the_threads_end_with_the_epoch() -> None:
    source = Watched(1000)
    epoch = Epoch(source, seed=1, epoch=0, block_pairs=10, buffer_blocks=4)
    epoch.take(1000)
    for thread in source.threads:
        thread.join(30)
    assert source.alive() == 0 and len(source.threads) == 25


def test_a_closed_epoch_does_not_read_on() -> None:
    source = Watched(100_000, hold_after=0)
    epoch = Epoch(source, seed=1, epoch=0, block_pairs=10, buffer_blocks=10_000)
    epoch.prefetch()
    assert source.held.wait(30)
    closing = threading.Thread(target=epoch.close)
    closing.start()
    while epoch.left:
        pass
    source.go_on.set()
    closing.join(30)
    assert not closing.is_alive() and source.alive() == 0
    assert source.have_read < 100_000
