"""Words cut into the pieces of a unigram model, against sentencepiece itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from psp.text.unigram import LONGEST, SegmentedWords, Unigram, read, segment, unsupported_reason
from tests.conftest import SENTENCES, odd_text, sentencepiece_of

#: Scripts, marks, ligatures and signs that the normalisation changes, and what the model does not know.
LETTERS = st.text(
    st.sampled_from("abcdeghilnorstuABÉé\u0301ßﬁ½™ａΣς好日🙂\u200b\u3000\u00a0\u2581"), min_size=1, max_size=24
)
word = st.one_of(
    st.sampled_from(sorted({part for text in SENTENCES for part in text.split()})), LETTERS, st.text(min_size=1)
)


def trained(**settings: object) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece_of(SENTENCES, **({"vocab_size": 150} | settings))


@pytest.fixture(scope="module", params=["nmt_nfkc", "identity"])
def processor(request: pytest.FixtureRequest) -> sentencepiece.SentencePieceProcessor:
    return trained(normalization_rule_name=request.param)


@pytest.fixture(scope="module")
def unigram(processor: sentencepiece.SentencePieceProcessor) -> Unigram:
    return read(processor)


def cut(unigram: Unigram, words: list[str], unknown: int = 0) -> SegmentedWords:
    encoded = [text.encode() for text in words]
    bounds = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    return segment(unigram, np.frombuffer(b"".join(encoded), np.uint8), bounds, unknown)


def pieces(found: SegmentedWords) -> list[list[int]]:
    return [found.ids[a:b].tolist() for a, b in itertools.pairwise(found.firsts)]


def test_the_scores_are_the_models(processor, unigram):
    scores = [processor.get_score(piece) for piece in range(processor.get_piece_size())]
    assert unigram.scores.tolist() == scores
    known = [
        score
        for number, score in enumerate(scores)
        if not (processor.is_control(number) or processor.is_unknown(number))
    ]
    assert unigram.unknown_score == pytest.approx(min(known) - 10)


@given(words=st.lists(word.map(lambda text: text.replace(" ", "")).filter(bool), min_size=1, max_size=6))
def test_every_word_is_cut_as_by_sentencepiece(processor, unigram, words):
    """Where a word is said to be certain: else its reader asks sentencepiece."""
    words = [text for text in words if not any("\ud800" <= letter <= "\udfff" for letter in text)]
    found = cut(unigram, words)
    for text, ids, cost, reach in zip(words, pieces(found), found.costs, found.reaches, strict=True):
        if reach < 0:
            continue
        whole = processor.encode(text, out_type=int)
        assert ids == whole
        assert (cost > 0) == bool(whole)


@given(texts=st.lists(odd_text, max_size=4))
def test_a_sentence_within_its_reach_is_its_words_one_after_the_other(processor, unigram, texts):
    for text in texts:
        words = [part for part in text.split(" ") if part]
        if not words:
            continue
        found = cut(unigram, words)
        if (np.cumsum(found.costs) <= found.reaches).all():
            assert found.ids.tolist() == processor.encode(text, out_type=int)


def test_known_words_are_certain_and_a_word_of_nothing_costs_nothing(processor, unigram):
    words = SENTENCES[0].split()
    found = cut(unigram, words)
    assert (found.reaches > 100).all()
    nothing = cut(unigram, ["\u200b"])
    if not processor.encode("\u200b"):
        assert (len(nothing.ids), nothing.costs[0], nothing.reaches[0]) == (0, 0, np.inf)


def test_a_mark_in_the_text_and_a_word_too_long_are_left_to_sentencepiece():
    processor = trained(normalization_rule_name="identity")  # the usual normalisation makes a mark a space
    found = cut(read(processor), ["a\u2581b", "x" * (LONGEST + 1), "x" * LONGEST])
    assert (found.reaches < 0).tolist() == [True, True, False]
    assert pieces(found)[1] == []


def test_no_words_are_no_pieces(unigram):
    found = cut(unigram, [])
    assert (len(found.ids), found.firsts.tolist(), len(found.costs)) == (0, [0], 0)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"model_type": "bpe"}, "it is not a unigram model"),
        ({"byte_fallback": True, "vocab_size": 450}, "it has user-defined or byte pieces"),
        ({"user_defined_symbols": ["<x>"]}, "it has user-defined or byte pieces"),
        ({"treat_whitespace_as_suffix": True}, "end of words"),
        ({"remove_extra_whitespaces": False}, "remove_extra_whitespaces"),
        ({"split_by_whitespace": False}, r"pieces may cross spaces \(split_by_whitespace is false\)"),
        ({"add_dummy_prefix": False}, "add_dummy_prefix is false"),
    ],
    ids=str,
)
def test_a_model_that_words_do_not_make_up_is_refused_with_the_reason(settings, why):
    processor = trained(**settings)
    with pytest.raises(ValueError, match=why):
        read(processor)
    assert unsupported_reason(processor) is not None


def test_rules_for_a_space_are_refused_and_other_rules_are_not(tmp_path):
    rules = tmp_path / "rules.tsv"
    rules.write_text("20 61\t62\n41\t61\n")  # " a" becomes "b"
    assert "rules for a space" in (unsupported_reason(trained(normalization_rule_tsv=str(rules))) or "")
    rules.write_text("41 42\t61\n")
    assert unsupported_reason(trained(normalization_rule_tsv=str(rules))) is None
