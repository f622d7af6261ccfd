"""What a model reads of a text: the same for spellings that differ in what it does not see."""

from __future__ import annotations

import numpy as np
import pytest

from psp.inference.search.vectors import readings
from psp.models.combined import CombinedModel
from psp.models.static import StaticModel
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from psp.text.trigram_tokenizer import TrigramTokenizer
from tests.conftest import train_sentencepiece

SAME = ["the cat eats", " The  CAT\xa0eats ", "the cat eats\t"]
OTHERS = ["the cat eat", "eats the cat", ""]
CONFIG = {"lower_case": True}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    path = train_sentencepiece(tmp_path_factory.mktemp("readings") / "sp.model")
    trigrams = TrigramTokenizer([(one, 1) for one in (" th", "the", "he ", " ca", "cat", "at ", " ea", "eat")], CONFIG)
    pieces = load_sentencepiece(path).get_piece_size()
    parts = [
        StaticModel(np.ones((pieces, 2), np.float32), path, CONFIG),
        StaticModel(np.ones((len(trigrams), 2), np.float32), trigrams, CONFIG),
    ]
    return parts[0], CombinedModel(parts, [1, 1], {"languages": []})


def test_spellings_have_one_reading_and_other_texts_have_others(models):
    for model in models:
        same, others = readings(model, SAME), readings(model, OTHERS)
        assert len({*same}) == 1 and len({*same, *others}) == 1 + len(OTHERS)
        assert readings(model, []) == []
