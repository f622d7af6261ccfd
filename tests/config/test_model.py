"""What follows from a model's settings: how its text is normalised."""

from __future__ import annotations

import pytest

from tests.config.test_config import config


@pytest.mark.parametrize(
    ("entry", "normalisation"),
    [
        ({}, "nmt_nfkc+visible"),
        ({"recipe": "distilled"}, "nmt_nfkc+visible"),
        ({"subword": {"arabic": "folded"}}, "nmt_nfkc+visible+arabic"),
        ({"encoder": "word"}, "nmt_nfkc+visible"),
        ({"filters": {"normalise": False}}, None),
        ({"filters": {"normalise": False}, "subword": {"arabic": "folded"}}, None),
        *(({"recipe": recipe}, None) for recipe in ("paper", "code", "paranmt")),
    ],
    ids=str,
)
def test_recipe_psp_and_its_heirs_normalise_text_and_the_papers_do_not(entry, normalisation):
    models = {"m": {"languages": ["en", "fr"], "corpora": ["Europarl"], **entry}}
    made = config(models).model("m")
    assert made.normalisation == normalisation
    assert made["filters"]["clean"] == (entry.get("recipe") not in ("paper", "code", "paranmt"))
