"""The compiled loops find what a plain walk finds, and settle no text that another language explains better."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.text import language_walk
from psp.text.language_scores import _ERROR, LanguageScores, _model
from tests.text.test_language_scores import SENTENCES


@pytest.fixture(scope="module")
def scores():
    return LanguageScores()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.binary(max_size=30), st.sampled_from(SENTENCES).map(str.encode)), max_size=30))
def test_several_stretches_in_turn_find_what_one_walk_finds(texts):
    model, _ = _model()
    offsets = np.cumsum([0, *map(len, texts)])
    starts = np.zeros(offsets[-1] + 1, bool)
    starts[offsets[:-1]] = True
    found = np.full(offsets[-1], -2, np.int32)
    letters = np.frombuffer(b"".join(texts), np.uint8)
    language_walk.find(letters, starts, model.moves, model.rows, model.ngrams, found)
    wanted = []
    for text in texts:
        state = 0
        for letter in text:
            state = model.moves[model.rows[state] + letter]
            wanted.append(model.ngrams[state])
    assert found.tolist() == wanted


def unsettled(scores, *arguments):
    """The suspects where every text is scored."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language_walk, "settle", lambda *given: given[-1].fill(False))
        return list(scores.suspects(*arguments))


WORDS = [word for sentence in SENTENCES for word in sentence.split()]
MIXED = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(MIXED, MIXED.map(lambda text: f"{text} " * 40), st.text(max_size=40)), max_size=12),
    st.sampled_from([0.0, 2.0, 30.0]),
)
def test_what_rounded_weights_settle_is_no_suspect(scores, texts, least):
    arguments = texts, "fr", "en", {"oc"}, least
    assert list(scores.suspects(*arguments)) == unsettled(scores, *arguments)


def test_real_lines_have_the_suspects_of_their_scores(scores, psp_data):
    for language in ("fr", "zh"):
        archive = psp_data / f"opus/XNLI/v1/moses/en-{language}.txt.zip"
        with zipfile.ZipFile(archive) as file:
            (name,) = (name for name in file.namelist() if name.endswith(f".{language}"))
            texts = file.read(name).decode().split("\n")[:5000]
        english = [*texts[::50], "We looked at it."]
        for own, some in ((language, texts), ("en", english)):
            arguments = some, own, "de", (), 1.0
            assert list(scores.suspects(*arguments)) == unsettled(scores, *arguments)
        assert len(list(scores.suspects(texts, language, "en", ()))) < len(texts) / 4


def test_a_rounded_weight_is_wrong_by_half_a_step_at_most():
    model, columns = _model()
    for start in range(0, len(model.weights), 5000):
        rows = slice(start, start + 5000)
        wrong = model.weights[rows].astype(float) - model.step * model.rounded[rows]
        assert (wrong.max(axis=1) - wrong.min(axis=1)).max() <= _ERROR * model.step
    assert len(columns) == model.weights.shape[1]
