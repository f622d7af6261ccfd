"""Normalised keys in bulk are those of each text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from psp.text.keys import KeyFinder, latin_print, normalised_columns, normalised_key, normalised_keys

# Letters that fold to others or to several, marks, other scripts, and what is no letter at all.
TEXTS = st.lists(st.text(st.sampled_from("aAbſsKk\ufb01fi ß中文é\u0301ا١.-!\u2028\r\0"), max_size=5), max_size=12)


def test_keys_in_bulk_are_the_keys_of_each_text_for_all_of_unicode():
    points = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000 and chr(point) not in "\t\n"]
    texts = ["".join(points[start : start + 60]) for start in range(0, len(points), 60)]
    block = "".join(f"{first}\t{second}\n" for first, second in zip(texts[::2], texts[1::2], strict=False))
    texts = texts[: len(texts) // 2 * 2]
    keys = [normalised_key(text) for text in texts]
    assert normalised_columns(block) == keys
    # The quick look must never tell two texts with equal keys apart, or neighbours would be missed.
    assert [latin_print(text.encode()) for text in texts] == [latin_print(key.encode()) for key in keys]


@given(TEXTS, TEXTS)
def test_texts_are_found_by_their_keys(wanted, texts):
    assert normalised_keys(texts) == [normalised_key(text) for text in texts]
    keys = {normalised_key(text) for text in wanted}
    expected = [
        (number, normalised_key(text))
        for number, text in enumerate(texts)
        if normalised_key(text) and normalised_key(text) in keys
    ]
    assert KeyFinder(keys).find(texts) == expected
    # Many more texts that look like none: the way for few of many.
    assert KeyFinder(keys).find(texts + ["zzz zzz"] * 100) == expected


def test_nothing_is_found_by_an_empty_key():
    assert KeyFinder({""}).find(["", "...", "a"]) == []
    assert KeyFinder([]).find(["", "a"]) == []
    assert KeyFinder(["a", ""]).find(["?", "A!"]) == [(1, "a")]
