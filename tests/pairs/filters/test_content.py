"""Equal sides, lengths, symbols and trigram overlap: what each drops, against the plainest implementation."""

from __future__ import annotations

import builtins
import pickle
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import PspError
from psp.pairs.filters import Batch, build
from psp.pairs.filters.identical import same, shared_words
from psp.pairs.filters.symbols import symbol_shares
from psp.text.keys import normalised_key
from psp.text.words import trigram_overlap
from tests.pairs.filters.conftest import batch

Rows = list[tuple[str, str]]

unicode = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
odd = st.text(st.sampled_from("aAbß İıΣςé1٣.,-'!\u0301\u200d中🙂 \u3000"), max_size=8)
texts = unicode | odd
tokens = st.lists(st.sampled_from("abc"), max_size=9)


def judge(name: str, rows: Rows, **settings: Any) -> list[str | None]:
    (filter_,) = build({name: settings}, ("en", "fr"))
    return pickle.loads(pickle.dumps(filter_))(batch(*rows))


@pytest.mark.parametrize("name", ["identical", "ratio", "symbols", "overlap"])
def test_no_pairs_no_reasons(name):
    assert judge(name, []) == []


# --- identical ----------------------------------------------------------------------------------------------------


@given(texts, texts)
def test_same_is_what_the_keys_say(source, target):
    assert same(source, target) == (normalised_key(source) == normalised_key(target))
    assert same(source, source.upper().upper()) == (normalised_key(source) == normalised_key(source.upper()))


def test_identical_finds_copies_whatever_their_case_and_punctuation():
    rows = [
        ("Noto Sans Lao – Black", "noto sans lao black;"),
        ("GRID(%d): %s", "GRID (%d) : %s"),
        ("Straße 5", "STRASSE 5"),
        ("...", "…!"),
        ("Save as", "Save us"),
        ("", "a"),
    ]
    assert judge("identical", rows) == ["identical"] * 4 + [None] * 2


def test_near_copies_share_words_in_any_order():
    assert shared_words("Audio File Format AIFF", "AIFF (audio file format)") == 1
    assert shared_words("a a b", "a b b") == pytest.approx(2 / 3)
    assert shared_words("...", "!!!") == shared_words("", "") == 0
    rows = [
        ("Noto Sans Black", "Noto Sans Noir"),
        ("A b C", "a B c!"),
        ("File format: X", "X, format file"),
        ("x", "y"),
    ]
    assert judge("identical", rows, near=0.6) == ["identical: nearly", "identical", "identical: nearly", None]
    assert judge("identical", rows, near=0.7) == [None, "identical", "identical: nearly", None]


# --- ratio --------------------------------------------------------------------------------------------------------


def test_ratio_counts_words_without_punctuation_and_characters():
    rows = [
        ("one two three four", "un"),
        ("one two three four five", "un"),
        ("un", "one two three four five"),
        ("- - - - - - - one", "un"),  # punctuation is no word
        ("one two three four five", "..."),  # no word counts as one
        ("", ""),
    ]
    more = "ratio: source has too many words"
    assert judge("ratio", rows) == [None, more, "ratio: target has too many words", None, more, None]
    characters = [("abcd", "a"), ("abcde", "a"), ("a", "abcde")]
    assert judge("ratio", characters, words=None, characters=4) == [
        None,
        "ratio: source has too many characters",
        "ratio: target has too many characters",
    ]
    assert judge("ratio", characters, words=None) == [None] * 3


def test_ratio_looks_at_segmented_text():
    (filter_,) = build({"ratio": {"words": 2}}, ("en", "zh"))
    assert filter_(Batch(["I like it a lot"], ["我很喜欢它。"], ["I like it a lot"], ["我 很 喜欢 它 。"])) == [None]
    assert filter_(Batch(["I like it a lot"], ["我很喜欢它。"], ["I like it a lot"], ["我很喜欢它。"])) != [None]


# --- symbols ------------------------------------------------------------------------------------------------------


@given(st.lists(texts, max_size=6))
def test_symbol_shares_are_counted_right(column):
    expected = []
    for text in column:
        shown = [character for character in text if not character.isspace()]
        others = [character for character in shown if unicodedata.category(character)[0] not in "LM"]
        expected.append(len(others) / max(len(shown), 1))
    assert symbol_shares(column).tolist() == pytest.approx(expected)


def test_ideographs_and_vowel_signs_are_letters():
    assert symbol_shares(["那座老房子", "हिन्दी", "1234", "a 1", "\u2028", "٣ب"]).tolist() == [0, 0, 1, 0.5, 0, 0.5]


# --- overlap ------------------------------------------------------------------------------------------------------


def plain_overlap(source: list[str], target: list[str], repeated: str) -> float:
    """The definition, by lists."""
    one = [tuple(source[i : i + 3]) for i in range(len(source) - 2)]
    other = [tuple(target[i : i + 3]) for i in range(len(target) - 2)]
    if repeated == "once":
        one, other = list(dict.fromkeys(one)), list(dict.fromkeys(other))
    if len(other) < len(one):
        one, other = other, one
    return sum(trigram in other for trigram in one) / len(one) if one else 0.0


@given(tokens, tokens, st.sampled_from(["once", "each"]))
def test_overlap_equals_its_definition(source, target, repeated):
    expected = plain_overlap(source, target, repeated)
    assert trigram_overlap(source, target, repeated) == expected
    rows = [(" ".join(source), " ".join(target))]
    for limit in (0.0, 0.5, 0.7, 0.99):
        reasons = judge("overlap", rows, max=limit, repeated=repeated)
        assert reasons == ["overlap: too high" if expected > limit else None]


def test_overlap_keeps_its_limit_and_looks_at_lower_cased_segmented_words():
    ten, seven = "a b c d e f g h i j k l", "A B C D E F G H I x y z"
    assert plain_overlap(ten.split(), seven.lower().split(), "once") == 0.7
    assert judge("overlap", [(ten, seven), (ten, ten + "!"), ("It's a trap", "it's A TRAP!")]) == [
        None,
        "overlap: too high",
        "overlap: too high",
    ]
    (filter_,) = build({"overlap": {}}, ("zh", "zh"))
    assert filter_(Batch(["我喜欢它"], ["我喜欢它。"], ["我 喜欢 它"], ["我 喜欢 它 。"])) == ["overlap: too high"]
    assert filter_(Batch(["我喜欢它"], ["我喜欢它。"], ["我喜欢它"], ["我喜欢它。"])) == [None]


def test_overlap_of_treebank_tokens_is_nltks():
    nltk = pytest.importorskip("nltk.tokenize", reason="nltk is not installed (pip install 'paraphrastic[nltk]')")
    tokenizer = nltk.NLTKWordTokenizer()
    rows = [("I don't know why (really).", "I do n't know it"), ("cannot stop now", "can not stop ever"), ("a", "b")]
    for limit in (0.2, 0.4, 0.6, 0.8):
        expected = []
        for source, target in rows:
            sides = [tokenizer.tokenize(text.lower()) for text in (source, target)]
            expected.append("overlap: too high" if plain_overlap(*sides, "each") > limit else None)
        assert judge("overlap", rows, tokens="treebank", repeated="each", max=limit) == expected
    assert judge("overlap", rows[:1], max=0.3) != judge("overlap", rows[:1], max=0.3, tokens="treebank")


def test_without_nltk_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def without(name: str, *arguments: Any, **more: Any) -> Any:
        if name.startswith("nltk"):
            raise ModuleNotFoundError("No module named 'nltk'")
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(PspError, match=r"pip install 'paraphrastic\[nltk\]'"):
        build({"overlap": {"tokens": "treebank"}}, ("en", "en"))


def test_length_counts_whatever_white_space_separates_or_words_alone():
    rows = [("a b c d", "a b c d"), ("a - b !", "a b c d"), ("a, b, c.", "a b c"), ("a b c d e", "a b c d")]
    spaces = [None, None, "length: source too short", None]
    assert judge("length", rows, min=4, max=40) == spaces
    words = [None, "length: source too short", "length: source too short", None]
    assert judge("length", rows, min=4, max=40, tokens="words") == words
    assert judge("length", rows, min=4, max=4, tokens="words")[3] == "length: source too long"
