"""Texts split into sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.text.sentences import split_sentences
from tests.conftest import odd_text


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ('One. "Two?" Three… Four', ["One.", '"Two?"', "Three…", "Four"]),
        ("It has 3.5 psp.Model a.b", ["It has 3.5 psp.Model a.b"]),
        ("第一句。第二句！「第三句？」第四句", ["第一句。", "第二句！", "「第三句？」第四句"]),
        ("كيف حالك؟ بخير.", ["كيف حالك؟", "بخير."]),
        ("a heading\nits text\n", ["a heading", "its text"]),
        (" \n ", []),
    ],
)
def test_sentences_end_at_marks(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


@given(odd_text | st.lists(st.sampled_from('ab.!。」" \n')).map("".join))
def test_nothing_but_space_is_lost(text: str) -> None:
    found = split_sentences(text)
    assert all(part and part == part.strip() for part in found)
    assert "".join("".join(found).split()) == "".join(text.split())
