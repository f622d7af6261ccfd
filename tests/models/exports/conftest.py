"""A small model to export."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from psp.models.combined import CombinedModel
from psp.models.lstm import Direction, Lstm
from psp.models.static import StaticModel
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from psp.text.trigram_tokenizer import TrigramTokenizer, trigrams
from psp.text.word_tokenizer import WordTokenizer, split_words
from tests.conftest import SENTENCES

LEFT_OUT = [5, 9]
CONFIG = {"languages": ["en", "fr"], "lower_case": True, "segment": {}, "recipe": "psp"}


@pytest.fixture(scope="session")
def make(sentencepiece_model):
    """Make a model with these further keys of config.json."""
    pieces = load_sentencepiece(sentencepiece_model).get_piece_size()
    table = np.random.default_rng(3).standard_normal((pieces, 12), dtype=np.float32)
    return lambda **config: StaticModel(table, sentencepiece_model, CONFIG | config)


@pytest.fixture(scope="session")
def model(make):
    return make()


@pytest.fixture(scope="session")
def kinds(make):
    """Models of every kind of encoder, by name."""
    draw = np.random.default_rng(5)
    words = sorted({word for text in SENTENCES for word in split_words(text.lower())})
    runs = sorted({run for text in SENTENCES for run in trigrams(text.lower())})

    def table(rows, dim):
        return draw.standard_normal((rows, dim), dtype=np.float32)

    def lstm(dim, width, kind, combine, pooling):
        shapes = ((4 * width, dim), (4 * width, width), (4 * width,))
        directions = [
            Direction(*(draw.standard_normal(shape, dtype=np.float32) for shape in shapes))
            for _ in range(2 if kind == "blstm" else 1)
        ]
        return Lstm(directions, combine, pooling)

    letters, spaces = (WordTokenizer([(word, 2) for word in words], split=split) for split in ("letters", "whitespace"))
    trigram = TrigramTokenizer([(run, 2) for run in runs])
    found = {
        "subwords": make(),
        "subwords left out": make(left_out=LEFT_OUT),
        "words": StaticModel(table(len(letters), 12), letters, CONFIG),
        "words left out": StaticModel(table(len(letters), 12), letters, CONFIG | {"left_out": [3, 4]}),
        "words by spaces": StaticModel(table(len(spaces), 12), spaces, CONFIG),
        "trigrams": StaticModel(table(len(trigram), 7), trigram, CONFIG),
        "lstm": StaticModel(table(len(letters), 6), letters, CONFIG, contextual=lstm(6, 5, "lstm", "average", "mean")),
    }
    for combine, pooling in itertools.product(("average", "concat"), ("mean", "max")):
        found[f"blstm {combine} {pooling}"] = StaticModel(
            make().table, make().tokenizer, CONFIG, contextual=lstm(12, 5, "blstm", combine, pooling)
        )
    found["combination"] = CombinedModel([make(), found["trigrams"], found["lstm"]], [1, 0.5, 2])
    found["joined as they are"] = CombinedModel([make(), found["trigrams"]], scaled=False)
    found["added"] = CombinedModel([make(), found["words"]], join="add")
    return found
