"""The filter of numbers: the same runs of digits on both sides, whatever their script."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.pairs.filters.base import Batch
from psp.pairs.filters.numbers import NumbersFilter, numbers


@pytest.mark.parametrize(
    ("source", "target", "dropped"),
    [
        ("Room 12, floor 3", "floor 3, room 12", False),
        ("It is 7.", "It is seven.", True),
        ("7 and 7", "7", False),
        ("007", "7", True),
        ("٣٤ كتابا", "34 books", False),
        ("1,000", "1.000", False),
        ("1000", "1,000", True),
        ("x² and ½", "x and a half", False),
        ("no number", "none", False),
    ],
)
def test_pairs_with_other_numbers_are_dropped(source, target, dropped):
    batch = Batch([source], [target], [source], [target], None)
    assert NumbersFilter({"enabled": True}, ("en", "en"))(batch) == ["numbers" if dropped else None]


@given(st.text())
def test_numbers_are_the_runs_of_decimal_digits(text):
    found, run = set(), ""
    for letter in text + " ":
        if unicodedata.category(letter) == "Nd":
            run += str(unicodedata.decimal(letter))
        elif run:
            found.add(run)
            run = ""
    assert numbers(text) == found
