"""Lengths, IDF, entropy and overlap, against plain definitions."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.pairs.stats.measures import (
    Frequencies,
    MeasuredSentences,
    entropy,
    frequencies_of,
    moments,
    overlaps,
    side,
    tokens_of,
)
from psp.text.words import trigram_overlap

TOKENS = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=6), min_size=1, max_size=12)


def plain_idf(tokens, total, frequency):
    return [sum(math.log(total / frequency[word]) for word in one) / len(one) for one in tokens if one]


@given(TOKENS)
def test_figures_are_as_defined(tokens):
    sentences = MeasuredSentences(tokens)
    held = Counter(word for one in tokens for word in one)
    total = sum(held.values())
    wanted = -sum(count / total * math.log(count / total) for count in held.values())
    assert sentences.entropy() == pytest.approx(wanted, abs=1e-12)
    assert sentences.tokens == total and len(sentences.types) == len(held)
    assert sentences.lengths.tolist() == list(map(len, tokens))
    frequency = Counter(word for one in tokens for word in set(one))
    assert dict(zip(sentences.types, sentences.frequencies().tolist(), strict=True)) == frequency
    assert sentences.idf() == pytest.approx(plain_idf(tokens, len(tokens), frequency), abs=1e-9)


@given(TOKENS)
def test_idf_of_another_text_takes_unseen_words_as_seen_once(tokens):
    known = {"a": 50, "b": 2}
    wanted = plain_idf(tokens, 100, Counter(dict.fromkeys("cdefg", 1) | known))
    assert MeasuredSentences(tokens).idf(Frequencies(100, known)) == pytest.approx(wanted, abs=1e-9)


def test_frequencies_count_sentences_with_a_word_and_wanted_words_only(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes("\ufeffThe cat, the dog.\r\n\r\nA CAT\n".encode())
    found = frequencies_of(path, frozenset({"the", "cat", ",", "fish"}))
    assert found.sentences == 2 and found.counts == {"the": 1, "cat": 2, ",": 1}
    path.write_text("\n \n")
    with pytest.raises(DataError, match="no sentences; write one a line"):
        frequencies_of(path, frozenset())


def test_words_are_in_lower_case_and_marks_are_words():
    assert tokens_of(["Don't go, Ann!"]) == [["don", "'", "t", "go", ",", "ann", "!"]]


def test_words_of_segmented_text():
    class Spaces:
        def segment(self, text):
            return " ".join(text)

    assert tokens_of(["我去"], Spaces()) == [["我", "去"]]


def test_entropy_of_equal_counts_is_the_logarithm_of_their_number():
    assert entropy([3, 3, 3, 3]) == pytest.approx(math.log(4))
    assert entropy([5]) == 0 and entropy([]) == 0 and math.copysign(1, entropy([5])) == 1


def test_moments():
    assert moments([1, 2, 3, 6]) == {"mean": 3.0, "std": pytest.approx(np.std([1, 2, 3, 6]))}
    assert moments([]) is None


@given(TOKENS, TOKENS)
def test_overlap_is_the_filters(source, target):
    size = min(len(source), len(target))
    found = overlaps(source[:size], target[:size])
    assert found.tolist() == list(map(trigram_overlap, source[:size], target[:size]))


def test_a_side():
    found = side(["été là", "a"], MeasuredSentences([["été", "là"], ["a"]]))
    assert found["characters"]["mean"] == 3.5 and found["bytes"]["mean"] == 5 and found["words"]["mean"] == 1.5
    assert found["types"] == found["tokens"] == 3 and found["entropy"] == pytest.approx(math.log(3))
