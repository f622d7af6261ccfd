from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.pairs.language_shares import language_pairs, quotas, shares


def test_both_orders_of_two_languages_are_one_pair() -> None:
    names, of_corpus = language_pairs([["en", "fr"], ["ar", "en"], ["fr", "en"], ["en", "en"]])
    assert names == ["ar-en", "en-en", "en-fr"] and of_corpus.tolist() == [2, 0, 2, 1]


def test_shares_are_a_power_of_the_numbers() -> None:
    assert shares(np.array([900, 100, 0]), 0.5).tolist() == [0.75, 0.25, 0]
    assert shares(np.array([900, 100]), 1).tolist() == [0.9, 0.1]
    assert shares(np.array([900, 100]), 0).tolist() == [0.5, 0.5]


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=6), st.sampled_from([0, 0.3, 0.5, 1]), st.integers(1, 4000))
def test_quotas_are_filled_where_there_are_pairs(counts: list[int], exponent: float, total: int) -> None:
    there = np.array(counts)
    asked = quotas(there, exponent, total)
    assert asked.sum() == min(total, there.sum()) and (asked <= there).all() and (asked >= 0).all()
    # Languages that have pairs left keep their shares, up to the rounding of each round of giving out what is left.
    rest = [i for i in range(len(counts)) if asked[i] < there[i]]
    for one in rest:
        for other in rest:
            ratio = shares(there, exponent)[one] / shares(there, exponent)[other]
            assert asked[one] == pytest.approx(asked[other] * ratio, abs=len(counts) * (1 + ratio) + 1)
