"""The scores of languages, against py3langid itself."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier, visit_counts

from psp.core.errors import PspError
from psp.text import language_scores
from psp.text.language_scores import LanguageScores
from psp.text.languages import SCORED_LABELS

SENTENCES = [
    "The old house stood at the end of a long and dusty road.",
    "La vieille maison se trouvait au bout d'une longue route.",
    "THE OLD HOUSE",
    "那座老房子矗立在一条尘土飞扬的长路尽头。",
    "Kiasi cha maji kinachohitajika hutegemea ukubwa wa shamba lako.",
    "Кућа је била стара и нико није знао ко је у њој живео.",
    "cafe\u0301",
]


@pytest.fixture(scope="module")
def reference():
    return LanguageIdentifier.from_model_file(MODEL_FILE)


@pytest.fixture(scope="module")
def scores():
    return LanguageScores()


def exact(model, text):
    """py3langid's score of each label, added up in float64."""
    visits = visit_counts(model.tk_nextmove, model._rowbase, model.tk_output, model._encode(text))
    if not visits:
        return dict.fromkeys(model.labels, 0.0)
    columns = [float(prior) for prior in model.nb_pc]
    for ngram, count in visits.items():
        columns = [
            total + math.log1p(count) * float(weight)
            for total, weight in zip(columns, model.nb_ptc[ngram], strict=True)
        ]
    found: dict[str, float] = {}
    for label, total in zip(model.nb_classes, columns, strict=True):
        found[label] = max(total, found.get(label, -math.inf))
    return found


def test_the_labels_are_those_of_the_model(reference, scores):
    assert set(scores.labels) == set(reference.labels) == SCORED_LABELS


@settings(max_examples=60, deadline=None)
@given(st.one_of(st.text(max_size=60), st.sampled_from(SENTENCES), st.text("aeiou th", max_size=300)))
def test_scores_are_py3langids(reference, scores, text):
    (found,) = scores([text])
    wanted = exact(reference, text)
    assert found == pytest.approx([wanted[label] for label in scores.labels], rel=1e-8, abs=1e-5)
    label, score = reference.classify(text)
    if any(found):
        best = found.max()
        assert score == pytest.approx(best, rel=3e-6, abs=1e-3)
        assert best - found[scores.labels.index(label)] < 1e-2


@settings(max_examples=20, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=40), st.sampled_from(SENTENCES)), max_size=12))
def test_a_batch_is_scored_as_its_texts_are_one_by_one(scores, texts):
    alone = [scores([text])[0] for text in texts]
    assert np.array_equal(scores(texts), np.array(alone).reshape(len(texts), len(scores.labels)))


def test_suspects_are_texts_that_another_language_explains_better(scores):
    english, french = SENTENCES[0], SENTENCES[1]
    (suspect,) = scores.suspects([english, french, "", "12:30"], "en", "fr", ())
    assert (suspect.row, suspect.letters) == (1, {"LATIN": sum(map(str.isalpha, french))})
    by_label = dict(zip(scores.labels, scores([french])[0], strict=True))
    assert suspect.gap == suspect.partner == by_label["fr"] - by_label["en"] > 0
    assert not list(scores.suspects([french], "en", "fr", (), suspect.gap))
    (again,) = scores.suspects([french], "en", "fr", {"fr"})
    assert again.gap < suspect.gap and again.partner == suspect.partner


def test_a_language_counts_only_in_its_scripts(scores):
    serbian = SENTENCES[5]
    (suspect,) = scores.suspects([serbian], "en", "fr", {"sr", "bs", "hr"})
    assert suspect.partner == -np.inf
    by_label = dict(zip(scores.labels, scores([serbian])[0], strict=True))
    assert suspect.gap == max(by_label[label] for label in ("mk", "ru", "bg")) - by_label["en"]


@pytest.mark.parametrize("keep", [0, 1000, 4_000_000])
def test_a_damaged_model_is_one_line(tmp_path, monkeypatch, keep):
    damaged = tmp_path / "model.npz.xz"
    damaged.write_bytes((MODEL_DIR / MODEL_FILE).read_bytes()[:keep])
    monkeypatch.setattr("py3langid.langid.MODEL_FILE", str(damaged))
    with pytest.raises(PspError, match="py3langid cannot read its model") as refused:
        language_scores._model.__wrapped__()
    assert "\n" not in str(refused.value)
