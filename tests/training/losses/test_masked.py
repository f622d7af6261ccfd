"""Which pairs of a mini-batch are no negatives, against a loop over sentences that compares texts letter by letter."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.pairs.encoded_pairs import Pairs
from psp.training.losses.infonce import masked, without_negative
from tests.conftest import rows_of
from tests.training.conftest import ListSource


def plain(pairs: Pairs, rows: list[int], mask_equal: bool) -> list[list[bool]]:
    texts = [
        {tuple(source), tuple(target)}
        for source, target in zip(rows_of(pairs.source), rows_of(pairs.target), strict=True)
    ]

    def refused(one: int, two: int) -> bool:
        other_kind = pairs.paraphrase[one] != pairs.paraphrase[two]
        return one != two and bool(other_kind or (mask_equal and texts[one] & texts[two]))

    return [[refused(one, two) for two in rows] for one in rows]


@settings(max_examples=60)
@given(st.data())
def test_they_are_those_of_a_loop(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 8))
    text = st.lists(st.integers(0, 2), min_size=1, max_size=2)  # so few that many are equal
    source, target = (data.draw(st.lists(text, min_size=count, max_size=count)) for _ in range(2))
    kinds = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    pairs = ListSource(source, target, kinds).read(0, count)
    rows = data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=count, unique=True))
    for mask_equal in (False, True):
        mask = masked(pairs, np.array(rows), mask_equal)
        assert mask.tolist() == plain(pairs, rows, mask_equal)
        lonely = [i for i in range(len(rows)) if all(mask[i, j] for j in range(len(rows)) if j != i)]
        assert without_negative(mask) == 2 * len(lonely)  # a pair's two sentences
