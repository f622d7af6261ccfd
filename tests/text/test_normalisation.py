"""A text in any Unicode form is normalised as sentencepiece does it, alone or within many; invisible characters go."""

from __future__ import annotations

import random
import re

import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.text import normalisation_name
from psp.text.characters import CHARACTERS
from psp.text.normalisation import FOLDED, INVISIBLE, Normaliser, as_tsv, rules, with_same_letters

NAMES = [normalisation_name(visible=visible, arabic=arabic) for visible in (False, True) for arabic in (False, True)]
HIDDEN = "".join(chr(first) for first, _ in INVISIBLE) + "\u200c\u200d\u200b\u00ad"
#: Letters composed, in parts and of other widths; Arabic's; scripts that need joiners; spaces.
ODD = "aé\u0301\u0327Ａﬁ½™ｶﾞ각ᄀ\u1161\u11a8\u0622\u0627\u0653\ufefbكـ\u064e٣ک\u0915\u094d\u09bf\u1780 \u00a0\u3000▁…"
TEXT = st.text(st.one_of(st.sampled_from(ODD + HIDDEN + "   "), st.characters(exclude_categories=["Cs"])), max_size=20)


JOINS = re.compile("[\u0300-\u036f\u0653-\u0655\u09bf\u1161\u11a8]").match


@pytest.fixture(scope="module")
def readers(tmp_path_factory):
    """sentencepiece with the rules of each normalisation, by name."""
    folder, found = tmp_path_factory.mktemp("rules"), {}
    for name in NAMES:
        (folder / name).write_text(as_tsv(rules(name)), "ascii")
        found[name] = sentencepiece.SentencePieceNormalizer(rule_tsv=str(folder / name))
    return found


def read(reader, text):
    """What a model reads, without its marks for spaces."""
    return " ".join(filter(None, reader.normalize(text).replace("▁", " ").split(" ")))


@pytest.mark.parametrize("name", NAMES)
@given(texts=st.lists(TEXT, max_size=6))
def test_texts_are_normalised_as_a_model_with_these_rules_reads_them(readers, name, texts):
    texts = [text.replace("\t", " ").replace("\n", " ") for text in texts]
    # A letter and its mark are joined across an invisible character here alone.
    apart = [one for one in texts if not any(map(JOINS, one)) or not set(one) & set(HIDDEN)]
    assert Normaliser(name)(apart) == [read(readers[name], one) for one in apart]


def test_all_of_unicode_is_normalised_as_sentencepiece_does_it(readers):
    letters = [chr(point) for part in CHARACTERS for point in part if not 0xD800 <= point < 0xE000]
    texts = [f"a{letter}b" for letter in letters if letter not in "\t\n"]
    random.Random(1).shuffle(texts)
    for name in NAMES:
        assert Normaliser(name)(texts) == [read(readers[name], text) for text in texts]


@given(st.lists(TEXT, max_size=6))
def test_a_column_gets_the_letters_that_it_has_alone(texts):
    texts = [text.replace("\t", " ").replace("\n", " ") for text in texts]
    alone = [with_same_letters(text) for text in texts]
    assert with_same_letters("\n".join(texts)).split("\n") == (alone or [""])
    assert with_same_letters("\t".join(texts)).split("\t") == (alone or [""])


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("gar\u00adc\u0327on", "garçon"),
        ("a\u200bb\u2060c\ufeff", "abc"),
        ("\u202babc\u202c\u200e", "abc"),
        ("\u2764\ufe0f \U0001f469\u200d\U0001f4bb", "\u2764 \U0001f469\U0001f4bb"),
        ("auf\u200clage", "auflage"),
        ("می\u200cخواهم", "می خواهم"),  # as nmt_nfkc reads it
        ("\u0915\u094d\u200d\u0937", "\u0915\u094d\u200d\u0937"),  # Devanagari's half letter
        ("a  b\u00a0\u00a0c ", "a b c"),
    ],
)
def test_what_a_reader_does_not_see_is_left_out_and_joiners_stay_where_scripts_need_them(readers, text, written):
    name = normalisation_name(visible=True, arabic=False)
    assert Normaliser(name)(["", text, "x"]) == ["", written, "x"]
    assert read(readers[name], text) == written


ARABIC_TEXT = st.text(st.sampled_from([*FOLDED, *"ابتثكلم هو\u0621\u0654\u0655\ufefb\ufef7\ufe8e"]), max_size=20)


@given(ARABIC_TEXT)
def test_arabic_is_folded_after_all_other_rules(readers, text):
    folded = "".join(FOLDED.get(character, character) for character in read(readers["nmt_nfkc"], text))
    # What is left of a word of marks alone is no word: no space stands for it.
    assert read(readers["nmt_nfkc+arabic"], text) == " ".join(filter(None, folded.split(" ")))


@given(st.text(st.characters(exclude_categories=["Cs"], max_codepoint=0x5FF), max_size=30))
def test_other_scripts_are_as_they_were(readers, text):
    assert readers["nmt_nfkc+arabic"].normalize(text) == readers["nmt_nfkc"].normalize(text)


def test_with_and_without_vowel_marks_are_one(readers):
    arabic = readers["nmt_nfkc+arabic"]
    assert arabic.normalize("أُحِبُّ القِطَّةَ إلى ١٢ ۳") == arabic.normalize("احب القطة الى 12 3") == "▁احب▁القطه▁الي▁12▁3"


def test_an_unknown_normalisation_is_named():
    for name in ("", "nfd", "nmt_nfkc+bold", 5, ["nmt_nfkc"]):
        with pytest.raises(DataError, match="which this psp does not know"):
            Normaliser(name)


def test_tatoeba_is_read_as_it_was_but_for_arabics_letters(readers, psp_data):
    named = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc")
    for path in sorted((psp_data / "eval/tatoeba/v1").glob("tatoeba.*-eng.*"))[::6]:
        lines = path.read_text("utf-8").split("\n")
        for line, plain in zip(lines, Normaliser("nmt_nfkc")(lines), strict=True):
            whole = named.normalize(line)
            assert plain == read(named, line)
            if not FOLDED.keys() & set(whole):
                assert readers["nmt_nfkc+arabic"].normalize(line) == whole
