"""Shingles against the plain definition, and what signatures and bands promise."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.pairs import minhash
from psp.text.keys import normalised_key
from tests.pairs.conftest import numbers, similarity

# Letters that fold to others or to several, marks, other scripts and planes, and what is no letter at all.
TEXTS = st.text(st.sampled_from("aAbcſßKé\u0301中文𐐀𝔘ا9.-! \u2028\r\0"), max_size=9)


def lines(pairs):
    return "".join(f"{source}\t{target}\t{row % 12}\n" for row, (source, target) in enumerate(pairs))


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=8))
def test_shingles_are_those_of_the_plain_definition(pairs):
    found = minhash.shingles(lines(pairs))
    assert found.offsets[0] == 0 and found.offsets[-1] == len(found.values)
    ends = found.offsets.tolist()
    sets = [set(found.values[start:end].tolist()) for start, end in itertools.pairwise(ends)]
    assert sets == [numbers(pair) for pair in pairs]
    keys = [tuple(map(normalised_key, pair)) for pair in pairs]
    assert [tuple(key.decode("utf-32-le").split("\t")) for key in found.keys] == keys
    assert found.full.tolist() == [all(pair) for pair in keys]


def test_estimates_are_near_the_true_similarity():
    choose = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    pairs, edited = [], []
    for _ in range(2000):
        pair = ["".join(choose.choices(letters, k=choose.randrange(15, 60))) for _ in range(2)]
        other = [list(text) for text in pair]
        for _ in range(choose.randrange(12)):
            side = choose.choice(other)
            side[choose.randrange(len(side))] = choose.choice(letters)
        pairs.append(tuple(pair))
        edited.append(tuple("".join(side) for side in other))
    a, b = (minhash.signatures(minhash.shingles(lines(rows)), 1) for rows in (pairs, edited))
    true = np.array([similarity(*both) for both in zip(pairs, edited, strict=True)])
    errors = minhash.equal_slots(a, b) / minhash.SLOTS - true
    assert abs(errors.mean()) < 0.004
    # A mean of 128 independent slots would have this deviation at most.
    assert errors.std() < np.sqrt((true * (1 - true)).mean() / minhash.SLOTS)
    unrelated = minhash.equal_slots(a[1:], a[:-1]) / minhash.SLOTS
    assert unrelated.max() < 0.2


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.7, 0.8, 0.9, 1.0])
def test_bands_are_as_wide_as_they_can_be(threshold):
    count, width = minhash.divide(threshold)

    def shared(count, width):
        return 1 - (1 - threshold**width) ** count

    assert count * width <= minhash.SLOTS
    assert shared(count, width) >= 0.98
    assert width == 8 or shared(minhash.SLOTS // (width + 1), width + 1) < 0.98
