"""One pass over a corpus: a sample that is fair and always the same, and counts that are those of plain code."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.corpora.rows import BadRow
from psp.pairs.filters import Batch, build
from psp.pairs.inspect import reading
from psp.pairs.inspect.reading import Duplicates, LengthBlocks, TestCounter, TestSentences
from psp.text.words import clean
from tests.pairs.inspect.conftest import looked_at, made, shifted

# What breaks naive readers: separators, case, marks, astral planes, right-to-left marks, empty sides.
side = st.text(st.sampled_from("aAbß \t\u2028\u0085\r\u202eİ中é😀\0-"), max_size=30)
rows = st.lists(st.tuples(side, side) | st.just(BadRow("row: columns", "x")), max_size=60)


@given(rows, st.integers(1, 20), st.integers(1, 12))
def test_counts_and_neighbours_are_those_of_plain_code_for_any_batch(rows, size, batch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "BATCH", batch)
        counts, sample = looked_at(rows, size=size)
    good = [(clean(row[0]), clean(row[1])) for row in rows if not isinstance(row, BadRow)]
    assert (counts.rows, counts.bad_rows, counts.pairs) == (len(rows), len(rows) - len(good), len(good))
    assert counts.empty == sum(not (a and b) for a, b in good)
    assert len(sample) == min(size, len(good)) and len({pair.row for pair in sample}) == len(sample)
    ends = [("", ""), *good, ("", "")]
    for pair in sample:
        assert (pair.source, pair.target) == good[pair.row - 1]
        assert (pair.before, pair.after) == (ends[pair.row - 1][1], ends[pair.row + 1][1])
    for place in (0, 1):
        assert sum(counts.lengths(place)["histogram"]) == len(good)
        sizes = [len(pair[place]) for pair in good]
        if sizes:
            expected = np.quantile(sizes, reading.QUANTILES, method="inverted_cdf")
            assert counts.lengths(place)["quantiles"] == expected.tolist()
        again = [
            pair for before, pair in itertools.pairwise(good)
            if pair[place] == before[place] and pair[1 - place] != before[1 - place] and len(pair[place]) >= 20
        ]  # fmt: skip
        assert counts.repeated[place] == len(again)
    keys = [f"{a}\t{b}".lower() for a, b in good]
    assert counts.duplicates["pair"].share == (1 - len(set(keys)) / len(keys) if keys else 0)


def test_the_sample_is_of_the_whole_file_and_depends_on_the_seed_alone():
    rows = made(3000)
    drawn = [pair.row for pair in looked_at(rows, size=300, seed=1)[1]]
    assert drawn == [pair.row for pair in looked_at(rows, size=300, seed=1)[1]]
    assert drawn != [pair.row for pair in looked_at(rows, size=300, seed=2)[1]]
    assert drawn != sorted(drawn)  # so that the first ones are a sample, too
    thirds = Counter((row - 1) // 1000 for row in drawn)
    assert all(70 < thirds[third] < 130 for third in range(3))  # 100, standard deviation 8


def test_a_translation_score_is_not_taken_for_the_score():
    pairs = looked_at([(*row[:2], 0.5, -2.0) for row in made(20)])[1]
    assert {pair.score for pair in pairs} == {0.5}


def test_duplicates_are_estimated_in_little_memory_when_there_are_many():
    texts = [f"text {number % 30_000}" for number in range(40_000)]
    exact, few = Duplicates(), Duplicates(most=2000)
    for start in range(0, len(texts), 1000):
        exact.add(texts[start : start + 1000])
        few.add(texts[start : start + 1000])
    assert exact.share == 0.25
    assert len(few._counts) <= 2000
    assert abs(few.share - 0.25) < 0.04  # 1,000 or more distinct texts, standard deviation 0.011


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400)), min_size=20, max_size=40))
def test_length_ratios_are_those_of_plain_code(sizes):
    counts, sample = looked_at([("a" * one, "b" * other) for one, other in sizes], size=100)
    ratios = [math.log1p(b) - math.log1p(a) for a, b in sizes if max(a, b) >= reading.TELLING and a and b]
    if not ratios:
        assert counts.beyond(3) == (0.0, 0)
        return
    share, count = counts.beyond(3)
    assert count == len(ratios)
    middle = sorted(ratios)[(len(ratios) - 1) // 2]
    # A histogram with bins of 0.02 may put those at the edge on either side.
    clear = [abs(ratio - middle) - math.log(3) for ratio in ratios]
    assert sum(far > 0.05 for far in clear) <= round(share * count) <= sum(far > -0.05 for far in clear)
    whole = [pair for pair in sample if pair.source and pair.target]
    edge = sum(abs(far) <= 0.05 for far in clear)
    assert abs(sum(counts.is_beyond(pair, 3) for pair in whole) - round(share * count)) <= edge


def plain_blocks(source, target):
    """For each block that tells something, the move that fits best."""
    one, other = np.log1p(source), np.log1p(target)
    found = []
    for start in range(3, len(one) - 52, 50):
        rows = slice(start, start + 50)
        if one[rows].std() <= LengthBlocks.VARIED or other[rows].std() <= LengthBlocks.VARIED:
            continue
        fits = {
            move: np.corrcoef(one[rows], other[start + move : start + move + 50])[0, 1] for move in range(-3, 4)
            if other[start + move : start + move + 50].std() > LengthBlocks.VARIED
        }  # fmt: skip
        found.append(max(fits, key=lambda move: (round(fits[move], 9), move == 0)))
    return found


@pytest.mark.parametrize("step", [1, 7, 56, 1000])
def test_blocks_are_those_of_plain_code_however_the_lengths_come(step):
    rows = shifted(made(700), 300)
    sizes = np.array([[len(a), len(b)] for a, b in rows])
    blocks = LengthBlocks()
    for start in range(0, len(sizes), step):
        blocks.add(sizes[start : start + step, 0], sizes[start : start + step, 1])
    expected = plain_blocks(sizes[:, 0], sizes[:, 1])
    assert blocks.blocks == len(expected) == 13
    assert blocks.off == sum(move != 0 for move in expected)
    assert dict(blocks.moves) == dict(Counter(move for move in expected if move))


def test_a_shift_is_found_where_it_begins():
    counts, _ = looked_at(shifted(made(3000), 1800))
    assert counts.blocks.moves.most_common(1)[0] == (-1, counts.blocks.off)
    assert abs(counts.blocks.run[0] - 1800) <= 50 and abs(counts.blocks.run[1] - 1200) <= 100
    sound, _ = looked_at(made(3000))
    assert sound.blocks.off == 0 and sound.blocks.run == (0, 0) and sound.blocks.blocks == 59


def test_lines_of_one_length_tell_nothing_of_their_order():
    counts, _ = looked_at([("a" * 30, "b" * 28)] * 500)
    assert counts.blocks.blocks == counts.blocks.off == 0


def test_test_sentences_are_those_that_decontaminate_finds():
    tests = [("A", "One, two!", "un deux"), ("A", "three", ""), ("B", "ONE TWO", "vier"), ("C", "...", "")]
    rows = [("one two", "x"), ("y", "Vier."), ("Three", "un deux"), ("four", "cinq"), ("one two", "x"), ("...", "!")]
    counter = TestCounter(TestSentences(tests))
    counter.add([a for a, _ in rows], [b for _, b in rows])
    assert counter.result() == [
        {"set": "A", "sentences": 3, "found": 3, "pairs": 3},
        {"set": "B", "sentences": 2, "found": 2, "pairs": 3},
        {"set": "C", "sentences": 0, "found": 0, "pairs": 0},
    ]
    (judge,) = build({"decontaminate": {"enabled": True}}, ("en", "fr"), {"tests": tests})
    columns = [list(column) for column in zip(*rows, strict=True)]
    taken = [reason is not None for reason in judge(Batch(*columns, *columns))]
    assert taken == [True, True, True, False, True, False]
