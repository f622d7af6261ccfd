from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from small_pairs import numbered, rows_of, sentences

from psp.training.batches import Epoch, Sentences

ROWS = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=5), min_size=1, max_size=12)


@given(ROWS, st.data())
def test_take_gathers_any_rows_in_any_order(rows: list[list[int]], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=20))
    taken = sentences(rows).take(np.array(chosen, dtype=np.int64))
    assert rows_of(taken) == [rows[i] for i in chosen]


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_join_keeps_all_sentences_in_order(parts: list[list[list[int]]]) -> None:
    joined = Sentences.join([sentences(part) for part in parts])
    assert rows_of(joined) == [row for part in parts for row in part]


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


def test_memory_is_bounded_by_the_buffer_whatever_the_corpus() -> None:
    source = numbered(20_000)
    epoch = Epoch(source, seed=1, epoch=0, block_pairs=32, buffer_blocks=4)
    given_out = 0
    while epoch.left:
        given_out += len(epoch.take(50))
        assert source.have_read - given_out <= 32 * 4
    assert source.have_read == 20_000  # and every block is read once
