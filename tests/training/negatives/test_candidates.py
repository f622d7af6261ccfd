"""Candidates of a mini-batch, against a loop over sentences that compares texts letter by letter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.pairs.encoded_pairs import Pairs
from psp.training.negatives.candidates import candidates
from psp.training.negatives.mining import Negatives
from tests.conftest import rows_of
from tests.training.conftest import ListSource


def plain(pairs: Pairs, rows: list[int], negatives: Negatives | None, mask_equal: bool) -> dict[str, set[object]]:
    """For each anchor, by its number among all 2m sentences, the numbers of its candidates but its own."""
    count = len(pairs)
    texts = rows_of(pairs.source) + rows_of(pairs.target)

    def may(anchor: int, other: int) -> bool:
        one, two = anchor % count, other % count
        if one == two or pairs.paraphrase[one] != pairs.paraphrase[two]:
            return False
        shared = {tuple(texts[one]), tuple(texts[one + count])} & {tuple(texts[two]), tuple(texts[two + count])}
        return not (mask_equal and shared)

    found = {}
    for shift, side in ((0, "source"), (count, "target")):
        others = {row + count - shift for row in rows}
        if negatives is not None:
            others |= {int(number) for number in getattr(negatives, side)[rows] if number >= 0}
        for row in rows:
            found[f"{side} {row}"] = {other for other in others if may(row + shift, other)}
    return found


def ours(pairs: Pairs, rows: list[int], negatives: Negatives | None, mask_equal: bool) -> dict[str, set[object]]:
    made = candidates(pairs, np.array(rows), negatives, mask_equal)
    count, batch = len(pairs), len(rows)
    assert made.masked.shape == (batch, batch + len(made.source) + len(made.target))
    own, of_source, of_target = np.split(made.masked, [batch, batch + len(made.source)], axis=1)
    found = {}
    for side, near, far, shift, extra in (
        ("source", own, of_source, count, made.source),
        ("target", own.T, of_target, 0, made.target),
    ):
        assert len(set(extra)) == len(extra) and not set(extra) & {row + shift for row in rows}
        for i, row in enumerate(rows):
            batch_mates = [j + shift for j, no in zip(rows, near[i], strict=True) if not no and j != row]
            mined = extra[~far[i]].tolist()
            found[f"{side} {row}"] = {*batch_mates, *mined}
            assert len(found[f"{side} {row}"]) == len(batch_mates) + len(mined)  # each stands there once
    assert not own.diagonal().any()
    assert made.without_negative == sum(not others for others in found.values())
    return found


@settings(max_examples=60)
@given(st.data())
def test_they_are_those_of_a_loop(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 8))
    text = st.lists(st.integers(0, 2), min_size=1, max_size=2)  # so few that many are equal
    source, target = (data.draw(st.lists(text, min_size=count, max_size=count)) for _ in range(2))
    kinds = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    pairs = ListSource(source, target, kinds).read(0, count)
    rows = data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=count, unique=True))
    number = st.integers(-1, 2 * count - 1)  # also what mining would not choose: another's choice is refused as well
    sides = [np.array(data.draw(st.lists(number, min_size=count, max_size=count))) for _ in range(2)]
    negatives = data.draw(st.sampled_from([None, Negatives(*sides)]))
    for mask_equal in (False, True):
        assert ours(pairs, rows, negatives, mask_equal) == plain(pairs, rows, negatives, mask_equal)


@pytest.mark.parametrize("mask_equal", [False, True])
def test_a_mined_sentence_that_is_another_anchor_s_translation_is_refused_by_that_one(mask_equal: bool) -> None:
    # The negative of source 0 is target 3, which is, letter by letter, the target of source 1.
    pairs = ListSource([[1], [2], [3], [4]], [[11], [12], [13], [12]]).read(0, 4)
    made = candidates(pairs, np.array([0, 1, 2]), Negatives(np.array([7, -1, -1, -1]), np.full(4, -1)), mask_equal)
    assert made.source.tolist() == [7] and made.target.tolist() == []
    assert made.masked[:, 3].tolist() == [False, mask_equal, False]


def test_without_negatives_all_are_the_mini_batch_s() -> None:
    pairs = ListSource([[1], [2], [3]], [[11], [12], [13]], [False, True, True]).read(0, 3)
    made = candidates(pairs, np.arange(3), None, mask_equal=True)
    assert made.masked.tolist() == [[False, True, True], [True, False, False], [True, False, False]]
    assert made.without_negative == 2
