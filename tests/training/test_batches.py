from __future__ import annotations

import itertools
import threading
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.pairs.encoded_pairs import Pairs
from psp.pairs.store import Store, write_store
from psp.text.tokenizer import Encoded
from psp.training.batches import Epoch
from tests.conftest import PAIRS, rows_of, train_sentencepiece, write_mixed
from tests.training.conftest import ListSource, numbered, sentences

ROWS = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=5), min_size=1, max_size=12)


@given(ROWS, st.data())
def test_take_gathers_any_rows_in_any_order(rows: list[list[int]], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=20))
    taken = sentences(rows).take(np.array(chosen, dtype=np.int64))
    assert rows_of(taken) == [rows[i] for i in chosen]


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_join_keeps_all_sentences_in_order(parts: list[list[list[int]]]) -> None:
    joined = Encoded.join([sentences(part) for part in parts])
    assert rows_of(joined) == [row for part in parts for row in part]


@pytest.mark.slow
@given(
    count=st.integers(1, 200),
    block=st.integers(1, 40),
    buffer=st.integers(1, 5),
    portions=st.lists(st.integers(1, 70), min_size=1, max_size=8),
)
def test_an_epoch_is_a_permutation_of_whole_pairs(count: int, block: int, buffer: int, portions: list[int]) -> None:
    epoch = Epoch(numbered(count), seed=3, epoch=1, block_pairs=block, buffer_blocks=buffer)
    seen: list[int] = []
    turn = 0
    while epoch.left:
        size = portions[turn % len(portions)]
        turn += 1
        before = epoch.left
        pairs = epoch.take(size)
        assert len(pairs) == min(size, before) == before - epoch.left
        for source, target in zip(rows_of(pairs.source), rows_of(pairs.target), strict=True):
            assert target == list(range(source[0], source[0] + 1 + source[0] % 4))  # still aligned, still whole
            seen.append(source[0])
    assert sorted(seen) == list(range(count))
    assert len(epoch.take(5)) == 0


def order(seed: int, epoch: int, count: int = 5000) -> list[int]:
    return Epoch(numbered(count), seed, epoch, block_pairs=64, buffer_blocks=8).take(count).source.ids.tolist()


def test_the_order_depends_on_seed_and_epoch_alone() -> None:
    assert order(1, 0) == order(1, 0)
    assert len({tuple(order(seed, epoch)) for seed in (1, 2) for epoch in (0, 1)}) == 4


def test_the_order_mixes_the_whole_corpus() -> None:
    places = np.array(order(1, 0))
    # Ranks of a random permutation correlate with 0 +- 0.014; a buffer that never left its corner would show.
    assert abs(np.corrcoef(np.arange(len(places)), places)[0, 1]) < 0.1
    assert len(np.unique(places[:512] // 64)) >= 8  # the first buffer comes from many blocks
    assert np.abs(np.diff(places)).mean() > 500


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


@pytest.mark.slow
@given(count=st.integers(1, 200), block=st.integers(1, 40), buffer=st.integers(1, 5), portion=st.integers(1, 70))
def test_the_thread_changes_nothing(count: int, block: int, buffer: int, portion: int) -> None:
    source = numbered(count)
    source.paraphrase = np.arange(count) % 3 == 0
    epoch = Epoch(source, seed=5, epoch=2, block_pairs=block, buffer_blocks=buffer)
    parts = []
    while epoch.left:
        parts.append(epoch.take(portion))
    pairs = Pairs.join(parts)
    places = reference(source, 5, 2, block, buffer)
    assert rows_of(pairs.source) == [source.source[place] for place in places]
    assert rows_of(pairs.target) == [source.target[place] for place in places]
    assert pairs.paraphrase.tolist() == [place % 3 == 0 for place in places]
    assert pairs.source.ids.dtype == np.int32 and pairs.source.offsets.dtype == np.int64


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


def test_memory_is_bounded_by_two_buffers_whatever_the_corpus() -> None:
    source = numbered(20_000)
    epoch = Epoch(source, seed=1, epoch=0, block_pairs=32, buffer_blocks=4)
    given_out = 0
    while epoch.left:
        given_out += len(epoch.take(50))
        assert source.have_read - given_out <= 2 * 32 * 4
    assert source.have_read == 20_000  # and every block is read once


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


@pytest.mark.slow
@given(count=st.integers(1, 120), block=st.integers(1, 40), buffer=st.integers(1, 3), portion=st.integers(1, 70))
def test_epochs_that_follow_each_other_are_read_ahead(count: int, block: int, buffer: int, portion: int) -> None:
    source, given_out = Watched(count), 0
    expected = [reference(source, 5, number, block, buffer) for number in range(3)]
    epochs = [Epoch(source, 5, number, block_pairs=block, buffer_blocks=buffer) for number in range(3)]
    for epoch, following in itertools.pairwise(epochs):
        epoch.then = following
    for epoch, places in zip(epochs, expected, strict=True):
        with epoch:
            parts = []
            while epoch.left:
                parts.append(epoch.take(portion))
                given_out += len(parts[-1])
                assert source.have_read - given_out <= 2 * block * buffer
        assert Pairs.join(parts).source.ids.tolist() == places


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


def test_the_thread_ends_when_training_stops_by_an_exception() -> None:
    source = Watched(100_000)
    with pytest.raises(KeyboardInterrupt), Epoch(source, seed=1, epoch=0, block_pairs=10, buffer_blocks=400) as epoch:
        epoch.take(1)
        raise KeyboardInterrupt
    assert source.alive() == 0
    assert source.have_read < 2 * 4000 + 1  # and it did not go on
    assert len(epoch.take(10)) == 0


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


def test_a_store_that_is_damaged_is_told_from_the_thread(tmp_path: Path) -> None:
    rows: list[Any] = [(*pair, 0) for pair in PAIRS] * 20
    model = train_sentencepiece(tmp_path / "sentencepiece.model")
    write_store(write_mixed(tmp_path / "mix.tsv", rows), model, tmp_path / "store.h5", languages=["a"], corpora=["b"])
    with Store(tmp_path / "store.h5") as store, Epoch(store, 1, 1, block_pairs=100, buffer_blocks=2) as epoch:
        plain = store.read(0, len(store))
        pairs = epoch.take(len(store))
        assert sorted(rows_of(pairs.source)) == sorted(rows_of(plain.source))
    with h5py.File(tmp_path / "store.h5", "r+") as file:
        file["source/ids"][len(file["source/ids"]) // 2] = store.vocab_size
    with (
        Store(tmp_path / "store.h5") as store,
        Epoch(store, 1, 1, block_pairs=100, buffer_blocks=2) as epoch,
        pytest.raises(DataError, match=r"store\.h5: damaged"),
    ):
        epoch.take(len(store))
