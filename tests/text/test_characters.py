"""Counts of many texts at once equal those of one text at a time."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from psp.text.characters import LETTER, MARK, OTHER, SPACE, Characters
from psp.text.words import words

odd = st.text(st.sampled_from("aé1_'.\u0301🙂中\u3000\n\t\x1c\u200d\u0bbe𝟙"), max_size=10)
texts = odd | st.text(max_size=10)


def kind(character: str) -> int:
    if character.isspace():
        return SPACE
    return {"L": LETTER, "M": LETTER, "P": MARK, "S": MARK}.get(unicodedata.category(character)[0], OTHER)


@given(st.lists(texts, max_size=8))
def test_counts_of_many_texts_equal_those_of_each(column):
    found = Characters(column)
    assert found.words().tolist() == [len(words(text, marks=False)) for text in column]
    for wanted in (LETTER, MARK, OTHER, SPACE):
        assert found.count(wanted).tolist() == [sum(kind(c) == wanted for c in text) for text in column]
    assert found.sizes.tolist() == list(map(len, column))


def test_every_code_point_is_of_its_kind():
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    assert Characters(["".join(every)]).kinds[:-1].tolist() == list(map(kind, every))
