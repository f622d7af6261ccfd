"""Errors that are put into sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.training.translator.errors import KINDS, with_errors

SENTENCE = "The small cat sleeps behind the yellow chair, and nobody at home knows about that."
TEXTS = st.text(st.characters(categories=["L", "N", "P", "Zs"], include_characters=" "), max_size=60)


@given(TEXTS, st.integers(0, 5))
def test_the_same_errors_for_a_seed_and_nothing_else_than_they_say(text: str, seed: int) -> None:
    for kind in (None, *KINDS):
        assert with_errors(text, seed, kind) == with_errors(text, seed, kind)
    assert with_errors(text, seed, "spacing").replace(" ", "") == text.replace(" ", "")
    assert with_errors(text, seed, "case").casefold().upper() == text.casefold().upper() or not text.isascii()
    assert len(with_errors(text, seed, "spelling").split()) == len(text.split())
    assert abs(len(with_errors(text, seed, "spelling")) - len(text)) <= len(text) / 4


@pytest.mark.parametrize("kind", [None, *KINDS])
def test_most_sentences_get_some_and_not_always_the_same(kind: str | None) -> None:
    found = {with_errors(SENTENCE, seed, kind) for seed in range(40)}
    assert len(found) > (4 if kind == "case" else 20)
    assert sum(with_errors(SENTENCE, seed, kind) == SENTENCE for seed in range(40)) < 10


def test_what_has_no_letters_stays() -> None:
    assert {with_errors("12, 13", seed) for seed in range(20)} <= {"12, 13", "12 , 13", "12 , 13 "}
    assert with_errors("", 1) == ""
