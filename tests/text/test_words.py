import io
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.text.keys import normalised_key
from psp.text.lines import read_lines
from psp.text.words import clean, clean_all, word_count, words

lines_of_text = st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"])), max_size=8)


@given(lines_of_text)
@example(["a\rb", "a\u2028b", "a\x85b", "a\x0bb\x0cc", "a\x1cb", ""])
def test_only_a_line_feed_ends_a_line(lines):
    data = "".join(f"{line}\n" for line in lines).encode()
    assert list(read_lines(io.BytesIO(data), "x")) == lines


def test_bytes_that_are_not_utf_8_are_named_with_their_line():
    with pytest.raises(DataError, match=r"corpus\.fr, line 2: not UTF-8 \(byte 3 of the line is 0xff\)"):
        list(read_lines(io.BytesIO(b"good\nab\xff\n"), "corpus.fr"))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_cleaned_text_fits_a_column(text):
    cleaned = clean(text)
    assert not {"\t", "\n"} & set(cleaned)
    assert cleaned == cleaned.strip()
    assert cleaned.split() == text.split()
    assert clean(cleaned) == cleaned
    assert word_count(cleaned) == word_count(text)


@given(st.text())
def test_a_key_holds_letters_digits_and_marks_alone(text):
    key = normalised_key(text)
    assert all(unicodedata.category(character)[0] in "LNM" for character in key)
    assert normalised_key(f" {text}! ") == key


def test_keys_of_what_a_reader_takes_for_the_same_sentence():
    assert normalised_key("Is it, then?") == normalised_key("is it then") == "isitthen"
    assert normalised_key("STRASSE") == normalised_key("straße")
    assert normalised_key("हिन्दी") != normalised_key("हन्द")  # vowel signs are kept
    assert normalised_key("... !?") == ""


@given(st.text(st.characters(exclude_categories=["Cs"])) | st.text(st.sampled_from("aé_'.\u0301🙂中\u3000 \x1c")))
def test_words_are_runs_of_what_is_no_space_punctuation_or_symbol(text):
    spaced = "".join(f" {c} " if unicodedata.category(c)[0] in "PS" else c for c in text)
    assert words(text) == spaced.split()
    bare = "".join(" " if unicodedata.category(c)[0] in "PS" else c for c in text)
    assert words(text, marks=False) == bare.split()


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])) | st.text(st.sampled_from("a \t\n\u3000"), max_size=4))
)
def test_many_texts_are_cleaned_as_each_is(texts):
    assert clean_all(texts) == [clean(text) for text in texts]
