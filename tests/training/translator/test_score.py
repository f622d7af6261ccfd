"""Scores of translations."""

import pytest

from psp.training.translator.score import bleu, faults, scores, signatures


def test_scores_are_sacrebleus_cased_and_lower_cased():
    references = ["The cat sat on the mat.", "He went home early today."]
    assert scores(references, references, "en") == {"bleu": 100, "chrf": 100, "lower_bleu": 100, "lower_chrf": 100}
    found = scores([text.upper() for text in references], references, "en")
    assert found["lower_bleu"] == 100 > found["bleu"]
    assert found["lower_chrf"] == 100 > found["chrf"]
    assert bleu(references, references, "en") == 100
    assert bleu(["猫在垫子上坐着。"], ["猫在垫子上坐着。"], "zh") == pytest.approx(100)
    assert "tok:13a" in signatures("en")["bleu"] and "tok:zh" in signatures("zh")["bleu"]
    assert signatures("en")["chrf"].startswith("nrefs:1")


def test_copies_empty_and_overlong_translations_are_counted():
    found = faults(["a", "b", "c"], ["a", " ", "x"], [False, False, True])
    assert found == {"copies": 1, "empty": 1, "overlong": 1}
