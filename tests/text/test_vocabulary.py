"""Words and trigrams: compiled code against the tokenizers' own definitions, their files, and what they refuse."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.text.tokenizer import kinds
from psp.text.tokenizer_kinds import as_tokenizer
from psp.text.trigram_tokenizer import TrigramTokenizer, trigrams
from psp.text.vocabulary import FILE, VocabularyTokenizer
from psp.text.word_tokenizer import SPLITS, WordTokenizer, split_words
from tests.conftest import SENTENCES

SCRIPTS = [
    "It's the cat's tail -- isn’t it? 'quoted' rock'n'roll o''clock ' '",
    "Élève, e\u0301le\u0300ve: l’été d'été; ΣΟΦΟΣ Σ ὈΔΥΣΣΕΎΣ",
    "हिन्दी में क्‍षेत्र और नमस्ते।",
    "العَرَبِيَّة لُغَة؟ می‌خواهم",
    "汉字和标点。繁體字、ひらがなカタカナ한국어",
    "👍🏽 🏳️‍🌈 👩‍👩‍👧 ☺️ 𝒳𝓎 𠀀𠀁",
    "a\u00a0b\u3000c\u2028d\x1fe\x85f\tg\r\nh\u200bi\ufeff",
    "1,000.50 £20 C3PO x_y 50% <unk> a+b=c",
]
TEXTS = [*SCRIPTS, *SENTENCES[:40], "", " ", "\u3000", "a", "ab", "'", "a'", "'a", "'a'b'", "\u0301", "x" * 300]
#: Text of many scripts, dense in what decides: apostrophes, marks, spaces.
texts = st.lists(
    st.text(
        st.one_of(
            st.sampled_from([*"ab cé'’-. \t", "\u0301", "\u200d", "\u3000", "👍", "𝒳"]),
            st.characters(exclude_categories=["Cs"]),
        ),
        max_size=30,
    ),
    max_size=6,
)
Split = Callable[[str], list[str]]


def vocabulary(split: Split, sentences: Sequence[str] = TEXTS) -> list[tuple[str, int]]:
    counts = Counter(token for text in sentences for token in split(text.lower()))
    found = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return found[::2]  # what is left out is unknown


def made(name: str, config: Any = None) -> VocabularyTokenizer:
    if name == "trigram":
        return TrigramTokenizer(vocabulary(trigrams), config)
    return WordTokenizer(vocabulary(lambda text: split_words(text, name)), config, split=name)


NAMES = ("trigram", *SPLITS)
MADE = {(name, lower): made(name, {"lower_case": lower}) for name in NAMES for lower in (False, True)}
each = pytest.mark.parametrize("name", NAMES)


def same(one: Any, other: Any) -> None:
    assert one.ids.dtype == other.ids.dtype == np.int32 and one.offsets.dtype == other.offsets.dtype == np.int64
    assert one.ids.tolist() == other.ids.tolist() and one.offsets.tolist() == other.offsets.tolist()


@each
@given(texts)
@example(TEXTS)
@example([])
def test_compiled_code_finds_the_same_ids(name: str, given: list[str]) -> None:
    for lower in (False, True):
        tokenizer = MADE[name, lower]
        same(tokenizer.encode(given, fast=tokenizer.fast()), tokenizer.encode(given))
        same(tokenizer.encode_whole(given), tokenizer._encode(given, 1))


@each
@pytest.mark.parametrize("lower", [False, True])
def test_a_normalised_text_is_read_the_same_in_any_unicode_form(name: str, lower: bool) -> None:
    plain = ["garçon, Été", "汉字ガイド 한국어", "a b"]
    odd = ["\ufeffgar\u00adc\u0327on,\u200b E\u0301te\u0301", unicodedata.normalize("NFD", plain[1]), " a\u00a0\tb\n"]
    entries = vocabulary(lambda text: made(name).tokens(text), plain + [text.lower() for text in plain])
    config = {"lower_case": lower, "normalisation": "nmt_nfkc+visible"}
    normal = TrigramTokenizer(entries, config) if name == "trigram" else WordTokenizer(entries, config, split=name)
    same(normal.encode(odd), normal.encode(plain))
    same(normal.encode(odd, fast=normal.fast()), normal.encode(plain))
    as_written = normal.with_preprocessing({"normalisation": None})
    assert as_written.encode(odd).ids.tolist() != as_written.encode(plain).ids.tolist()
    assert normal.to_config({})["normalisation"] == "nmt_nfkc+visible" and "normalisation" not in as_written.to_config(
        {}
    )


@each
def test_a_large_vocabulary_is_found_whole(name: str) -> None:
    words = [f"w{number:05}" for number in range(70_000)]
    if name == "trigram":
        tokenizer: VocabularyTokenizer = TrigramTokenizer(
            [(chr(0x4E00 + number % 1000) + chr(0x4E00 + number // 1000) + "x", 1) for number in range(70_000)]
        )
        found = tokenizer.encode(list(tokenizer.pieces()[1:]), fast=tokenizer.fast())
        assert found.ids.tolist() == list(range(1, 70_001))  # those with the spaces around are unknown
        return
    tokenizer = WordTokenizer([(word, 1) for word in words], split=name)
    assert tokenizer.encode_whole([" ".join(words), "w70000 w00000"]).ids.tolist() == [*range(1, 70_001), 0, 1]


#: Letters of one to four bytes, NUL among them, and what may be within a word.
letters = st.sampled_from([*"ab\x00", "\xff", "\u0301", "ñ", "क", "汉", "’", "'", "𝒳", "\U0010ffff"])


@given(st.lists(st.text(letters, max_size=24), min_size=1, max_size=30), st.data())
def test_words_of_all_lengths_are_told_apart(found: list[str], data: st.DataObject) -> None:
    words = sorted({word for text in found for word in split_words(text)})
    known = data.draw(st.lists(st.sampled_from(words), unique=True)) if words else []
    tokenizer = WordTokenizer([(word, 1) for word in [*known, "#"]])
    # Also each word with less or more at its end, or NUL, which must not be mistaken for the word itself.
    near = [text for word in words for text in (word, word[:-1], word + "a", word + "\x00", "\x00" + word)]
    same(tokenizer.fast().encode([*near, *found, " ".join(near)]), tokenizer.raw_ids([*near, *found, " ".join(near)]))


@pytest.mark.parametrize("letter", ["a", "\x00", "é", "汉", "𝒳"])
def test_a_long_word_is_found_by_its_text(letter: str) -> None:
    words = [letter * length for length in (*range(1, 40), 1000)] + [letter * 20 + "b", letter * 20 + "c"]
    tokenizer = WordTokenizer([(word, 1) for word in words])
    texts = [*words, " ".join(words), letter * 41, letter * 20 + "d", f"{letter * 3}'{letter * 20}"]
    ids = tokenizer.encode_whole(texts)
    assert ids.ids.tolist() == [*range(1, 43), *range(1, 43), 0, 0, 0]
    same(ids, tokenizer._encode(texts, 1))


def test_words_are_split_as_documented() -> None:
    assert split_words("Don't say 'C3PO'! l’été o''clock x_y") == [
        "Don't", "say", "'", "C3PO", "'", "!", "l’été", "o", "'", "'", "clock", "x", "_", "y"
    ]  # fmt: skip
    assert split_words("e\u0301te\u0301 क्षेत्र 3,5") == ["e\u0301te\u0301", "क्षेत्र", "3", ",", "5"]
    assert split_words("don't,  stop\u00a0now", "whitespace") == ["don't,", "stop", "now"]
    assert trigrams("to  be ") == [" to", "to ", "o b", " be", "be "]
    assert trigrams("I") == [" I "] and trigrams(" \t") == trigrams("") == []


@each
@given(texts)
def test_tokens_hold_what_is_not_space_in_order(name: str, given: list[str]) -> None:
    for text in given:
        tokens = MADE[name, False].tokens(text)
        if name == "trigram":
            words = " ".join(text.split())
            assert tokens[0][:2] + "".join(token[2] for token in tokens) == f" {words} " if words else not tokens
        else:
            assert "".join(tokens) == "".join(text.split())
        assert all(MADE[name, False].possible(token) for token in tokens)


@each
def test_unknown_tokens_are_left_out_as_unknown_pieces_are(name: str) -> None:
    tokenizer = made(name)
    token = next(piece for piece in tokenizer.pieces()[1:] if " " not in piece)
    text = f"{token} ☃☃☃☃"
    encoded = tokenizer.encode([text, "☃☃☃", "", " "])
    assert tokenizer.unknown_id == 0 and tokenizer.piece(0) == "<unk>" and tokenizer.silent_ids == [0]
    assert 0 not in encoded.take(np.array([0])).ids and encoded.ids[encoded.offsets[1] :].tolist() == [0]
    assert np.diff(encoded.offsets).tolist()[1:] == [1, 0, 0]
    number = tokenizer.pieces().index(token)
    without = tokenizer.with_preprocessing({"left_out": [number]})
    assert number in encoded.ids and number not in without.encode([text]).ids
    same(without.encode(TEXTS), without.encode(TEXTS, fast=without.fast()))


@each
def test_half_a_surrogate_pair_is_refused(name: str) -> None:
    tokenizer = MADE[name, True]
    for fast in (None, tokenizer.fast()):
        with pytest.raises(DataError, match=r"texts\[7\] is not valid Unicode: half a surrogate pair at character 1"):
            tokenizer.encode(["the", "a\ud800", "\udc00"], first=6, fast=fast)


@each
def test_a_file_is_read_as_it_was_written(name: str, tmp_path: Path) -> None:
    tokenizer = made(name, {"lower_case": True})
    path = tmp_path / FILE
    path.write_bytes(tokenizer.contents()[FILE])
    for again in (as_tokenizer(path, {"lower_case": True}), type(tokenizer).load(tmp_path, {"lower_case": True})):
        assert type(again) is type(tokenizer) and again.path == path and str(again) == str(path)
        assert again.contents() == tokenizer.contents() and again.sha256() == tokenizer.sha256()
        assert again.pieces() == tokenizer.pieces() and again.lower_case
        same(again.encode(TEXTS), tokenizer.encode(TEXTS))
    copied = pickle.loads(pickle.dumps(copy.copy(tokenizer)))
    same(copied.fast().encode(TEXTS), tokenizer.raw_ids(TEXTS))
    assert tokenizer.unsupported_reason() is None


def test_the_way_of_splitting_is_part_of_the_vocabulary() -> None:
    entries = [("the", 2), ("cat", 1)]
    letters, space = (WordTokenizer(entries, split=split) for split in SPLITS)
    assert letters.sha256() != space.sha256()
    assert letters.contents()[FILE] == b"psp vocabulary 1\tword\tletters\nthe\t2\ncat\t1\n"
    assert TrigramTokenizer([(" th", 2)]).contents()[FILE] == b"psp vocabulary 1\ttrigram\n th\t2\n"
    assert {"word", "trigram", "subword"} <= set(kinds())
    with pytest.raises(ValueError, match="split is 'spaces'; there are letters, whitespace"):
        WordTokenizer(entries, split="spaces")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("psp vocabulary 1\tword\tletters\nthe\t2\ncat", "the last line has no line break"),
        ("psp vocabulary 1\tword\tletters\nthe\t2\ncat\n", "line 3: 'cat' is not an entry, a tab and its count"),
        ("psp vocabulary 1\tword\tletters\nthe\t02\n", "line 2: 'the\\\\t02' is not an entry"),
        ("psp vocabulary 1\tword\tletters\nthe\t0\n", "the entry 'the', with count 0, cannot be a word"),
        ("psp vocabulary 1\tword\tletters\nthe cat\t2\n", "the entry 'the cat', with count 2, cannot be a word"),
        ("psp vocabulary 1\tword\tletters\nthe\t2\nthe\t1\n", "lists 1 entries twice"),
        ("psp vocabulary 1\tword\tletters\n", "no words; a vocabulary needs"),
        ("psp vocabulary 1\tword\tsyllables\nthe\t2\n", "split by syllables, which this psp does not know"),
        ("psp vocabulary 1\ttrigram\nthe\t2\nfour\t1\n", "the entry 'four', with count 1, cannot be a trigram"),
        ("psp vocabulary 1\ttrigram\na  \t2\n", "the entry 'a  ', with count 2, cannot be a trigram"),
        ("psp vocabulary 1\ttrigram\ta\nthe\t2\n", "trigrams with a, which this psp does not know"),
    ],
)
def test_a_damaged_file_is_refused(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=said) as error:
        as_tokenizer(path)
    assert str(error.value).startswith(str(path)) and "\n" not in str(error.value)


def test_a_file_of_another_kind_or_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / FILE
    with pytest.raises(DataError, match="cannot be read: No such file"):
        WordTokenizer.read(path)
    path.write_bytes(b"psp vocabulary 1\ttrigram\nthe\t2\n")
    with pytest.raises(DataError, match="line 1: a vocabulary of the kind 'trigram', not 'word'"):
        WordTokenizer.read(path)
    path.write_bytes(b"psp vocabulary 1\tword\tletters\n\xff\t2\n")
    with pytest.raises(DataError, match="not UTF-8"):
        as_tokenizer(path)
    path.write_bytes(b"the\t2\n")
    with pytest.raises(DataError, match="line 1: not a psp vocabulary"):
        TrigramTokenizer.read(path)


def test_ids_are_turned_back_into_text() -> None:
    sentences = ["the cat sat on the mat .", "isn't it"]
    words = WordTokenizer(vocabulary(split_words, sentences * 2) + [(w, 1) for w in ("zebra",)])
    assert all(
        set(text.split()) <= {*split_words(" ".join(sentences))} for text in words.decode(words.encode(sentences))
    )
    entries = [(token, 1) for token in sorted({token for text in sentences for token in trigrams(text)})]
    tokenizer = TrigramTokenizer(entries)
    assert tokenizer.decode(tokenizer.encode([*sentences, "the mat sat", "I", ""])) == [
        *sentences, "the mat sat", "<unk>", ""
    ]  # fmt: skip
    assert tokenizer.decode(tokenizer.encode(["the dog sat"])) == ["the  sat"]
    assert tokenizer.spelled("the x")[-2:] == [("e x", 0), (" x ", 0)]


@pytest.mark.parametrize("numba", [True, False])
def test_without_numba_the_ids_are_the_same(numba: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not numba:
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        monkeypatch.setattr(WordTokenizer, "_make_lookup", None)
    tokenizer = made("letters")
    assert tokenizer.encode_whole(TEXTS).ids.tolist() == [n for text in TEXTS for _, n in tokenizer.spelled(text)]
