"""A small model to export."""

from __future__ import annotations

import numpy as np
import pytest

from psp.models.model import Model
from psp.text.sentencepiece import load_sentencepiece
from tests.conftest import train_sentencepiece

CONFIG = {"languages": ["en", "fr"], "lower_case": True, "segment": {}, "recipe": "psp"}


@pytest.fixture(scope="session")
def sp_model(tmp_path_factory):
    return train_sentencepiece(tmp_path_factory.mktemp("sp") / "sp.model")


@pytest.fixture(scope="session")
def make(sp_model):
    """Make a model with these further keys of config.json."""
    pieces = load_sentencepiece(sp_model).get_piece_size()
    table = np.random.default_rng(3).standard_normal((pieces, 12), dtype=np.float32)
    return lambda **config: Model(table, sp_model, CONFIG | config)


@pytest.fixture(scope="session")
def model(make):
    return make()
