"""Systems without training, beside a real sentencepiece model, store and model folder."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.evaluation.baselines import (
    WordOverlap,
    piece_counts,
    random_table,
    sif_weights,
    untrained,
    words,
)
from psp.models.folder import load_model

TEXTS = st.lists(st.text(alphabet="ab ,.É\u2028क्ष", max_size=8), min_size=1, max_size=6)


@given(TEXTS, TEXTS)
def test_word_overlap_is_the_cosine_of_sets_of_words(a, b):
    cross = WordOverlap().cross(a, b)
    assert cross.shape == (len(a), len(b))
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            x, y = set(words(one)), set(words(other))
            expected = len(x & y) / (len(x) * len(y)) ** 0.5 if x and y else 0.0
            assert cross[i, j] == pytest.approx(expected)
            assert WordOverlap().pairwise([one], [other])[0] == pytest.approx(expected)


def test_words_are_lower_cased_and_punctuation_is_split_off():
    assert words("It's 5 O'Clock,\u00a0d'ÉTÉ.") == ["it", "'", "s", "5", "o", "'", "clock", ",", "d", "'", "été", "."]
    assert words("हिन्दी।") == ["हिन्दी", "।"]  # a word keeps its combining vowels


def test_pieces_are_counted_over_both_sides(made, monkeypatch):
    monkeypatch.setattr("psp.pairs.encoded_pairs.COUNTED", 7)
    model = load_model(made.model)
    counts = piece_counts(made.store, made.folder / "sentencepiece.model")
    expected = np.zeros(model.vocab_size, dtype=np.int64)
    for line in made.lines:
        for piece in model.sentencepiece.encode(line):
            expected[piece] += 1
    np.testing.assert_array_equal(counts, expected)


def test_a_store_of_other_subwords_is_refused(made, tmp_path):
    other = tmp_path / "other.model"
    other.write_bytes((made.folder / "sentencepiece.model").read_bytes() + b"\0")
    with pytest.raises(DataError, match=r"store\.h5: a store from another vocabulary"):
        piece_counts(made.store, other)


def test_sif_weights_follow_the_formula():
    weights = sif_weights(np.array([0, 1, 999]), a=1e-3)
    assert weights.dtype == np.float32
    np.testing.assert_allclose(weights, [1.0, 0.5, 1e-3 / (1e-3 + 0.999)], rtol=1e-6)


def test_a_random_table_is_seeded_and_standard_normal():
    one = random_table(500, 64, 3)
    np.testing.assert_array_equal(one, random_table(500, 64, 3))
    assert (one != random_table(500, 64, 4)).mean() > 0.99
    assert abs(one.mean()) < 0.03
    assert abs(one.std() - 1) < 0.03


def test_an_untrained_table_reads_text_as_the_model_does(made):
    model = load_model(made.model)
    scorer = untrained(model, random_table(model.vocab_size, 16, 0))
    text = made.lines[0]
    np.testing.assert_allclose(scorer.pairwise([text.upper()], [text]), [1.0])  # the model lower-cases
