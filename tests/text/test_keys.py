"""Normalised keys in bulk are those of each text."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from psp.text.keys import (
    KeyFinder,
    differ_at_the_start,
    latin_print,
    normalised_columns,
    normalised_key,
    normalised_keys,
)
from psp.text.normalisation import with_same_letters

# Letters that fold to others or to several, marks, other scripts, and what is no letter at all.
TEXTS = st.lists(
    st.text(st.sampled_from("aAbſsKkＡﬁfi ß中文é\u0301ا١1أᄀ\u1161가.-!\u2028\r\0"), max_size=5), max_size=12
)


def test_keys_in_bulk_are_the_keys_of_each_text_for_all_of_unicode():
    points = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000 and chr(point) not in "\t\n"]
    texts = ["".join(points[start : start + 60]) for start in range(0, len(points), 60)]
    block = "".join(f"{first}\t{second}\n" for first, second in zip(texts[::2], texts[1::2], strict=False))
    texts = texts[: len(texts) // 2 * 2]
    keys = [normalised_key(text) for text in texts]
    assert normalised_columns(block) == keys
    # The quick look must never tell two texts with equal keys apart, or neighbours would be missed.
    read = [with_same_letters(text) for text in texts]
    assert [latin_print(text.encode()) for text in read] == [latin_print(key.encode()) for key in keys]


def test_what_a_model_reads_as_the_same_has_the_same_key():
    # All that Unicode assigns, but for private use: the rest is read as it is.
    points = [chr(point) for point in range(0x110000) if unicodedata.category(chr(point)) not in ("Cn", "Co", "Cs")]
    points = [point for point in points if point not in "\t\n"]
    points.remove("\u0344")  # deprecated, and taken apart by nmt_nfkc, which does not join it to the letter before
    texts = [f"a{point}b" for point in points]
    keys = normalised_keys(texts)
    nfkc = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc")
    assert normalised_keys(nfkc.normalize(texts)) == keys
    assert normalised_keys(nfkc.normalize([text.lower() for text in texts])) == keys


@pytest.mark.parametrize(
    "others",
    [
        ["Garc\u0327on!", "gar\u00adçon", "ＧＡＲÇＯＮ"],
        ["각하", "각하", unicodedata.normalize("NFKD", "각하")],
        ["ｶﾞｲﾄﾞ", "ガイド", unicodedata.normalize("NFD", "ガイド")],
        ["مُحَمَّد ٣", "محمد 3", "محمـد ۳"],
        ["إلى", "\u0627\u0655لى", "الي"],
        ["½", "1⁄2"],
    ],
)
def test_one_sentence_in_several_forms_has_one_key(others):
    (key,) = {normalised_key(text) for text in others}
    assert KeyFinder([key]).find(["x", *others]) == [(number, key) for number in range(1, len(others) + 1)]


@given(TEXTS)
def test_a_look_at_the_first_letters_tells_only_different_keys_apart(texts):
    for text, other in itertools.pairwise(texts):
        assert not differ_at_the_start(text, other) or normalised_key(text) != normalised_key(other)


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
