"""The settings of a translator's training."""

import pytest

from psp.config.blocks.translator import TranslatorSettings
from psp.core.errors import ConfigError


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": None, "steps": None}, "neither steps nor minutes limits training"),
        ({"epochs": None, "minutes": 5, "schedule": "linear"}, "its end is not known"),
    ],
)
def test_settings_that_contradict_one_another_are_errors(settings, message):
    with pytest.raises(ConfigError, match=message):
        TranslatorSettings.of(settings)


def test_what_changes_nothing_that_is_learned_is_no_part_of_it():
    learned = TranslatorSettings().learned()
    assert TranslatorSettings(log_every=1, checkpoint_steps=5, minutes=3, beam=1, device="cpu").learned() == learned
    assert all(
        TranslatorSettings.of({key: value}).learned() != learned
        for key, value in {"dim": 128, "dropout": 0, "patience": 3, "accumulate": 2, "epochs": 3}.items()
    )
