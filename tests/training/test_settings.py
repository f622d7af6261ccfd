from __future__ import annotations

from typing import Any

import pytest

from psp.config.blocks.training import PAPER, PARANMT, TrainSettings
from psp.core.errors import ConfigError


def test_the_papers_are_those_of_its_recipe() -> None:
    settings = TrainSettings(**PAPER)
    assert (settings.epochs, settings.batch_size, settings.megabatch, settings.anneal) == (25, 128, 60, 150)
    assert (settings.margin, settings.learning_rate, settings.dim, settings.clip) == (0.4, 1e-3, 1024, None)
    assert (settings.objective, settings.directions, settings.select) == ("margin", "source", "best")


def test_those_of_paranmt_are_those_of_its_recipe() -> None:
    settings = TrainSettings(**PARANMT)
    assert (settings.epochs, settings.batch_size, settings.megabatch, settings.anneal) == (5, 100, 40, 0)
    assert (settings.objective, settings.margin, settings.directions) == ("margin", 0.4, "source")
    assert (settings.negatives, settings.mask_equal) == ("same", False)
    assert (settings.learning_rate, settings.schedule, settings.clip) == (1e-3, "constant", None)
    assert (settings.dim, settings.dropout, settings.token_dropout) == (300, 0, 0)
    assert (settings.init, settings.init_scale, settings.init_spelling) == ("normal", 0.01, 0)
    assert settings.select == "best"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("epochs", 0), ("epochs", 1.5), ("epochs", True), ("batch_size", 1), ("megabatch", "60"), ("anneal", -1),
        ("margin", -0.1), ("margin", 3), ("margin", float("nan")), ("dropout", 1), ("learning_rate", 0), ("clip", 0),
        ("directions", "target"), ("negatives", "own"), ("mask_equal", 1), ("device", "tpu"), ("device", 0),
        ("init", "zeros"), ("scale", 0), ("schedule", "cosine"),
        ("warmup", 1), ("token_dropout", 1), ("init_smoothing", 0), ("init_scale", 0), ("init_spelling", 1.1),
        ("select", "first"),
        ("seed", -1), ("seed", None), ("matryoshka", [1024]), ("matryoshka", [0]), ("matryoshka", 4),
        ("matryoshka", ["8"]),
    ],
)  # fmt: skip
def test_a_wrong_value_is_named_with_what_is_allowed(key: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"^train\.{key}(\.0)? is .*, but (must|needs|has)"):
        TrainSettings.of({key: value})


def test_an_unknown_key_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"train\.marginn is not a key; did you mean margin"):
        TrainSettings.of({"marginn": 0.4})


def test_whole_numbers_serve_as_numbers() -> None:
    assert TrainSettings.of({"clip": 5, "device": "cuda:1"}).as_dict()["clip"] == 5.0
