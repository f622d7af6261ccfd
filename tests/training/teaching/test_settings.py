"""The block ``teacher``."""

from __future__ import annotations

import pytest

from psp.config.blocks.teacher import LOSSES, TeacherSettings
from psp.core.errors import PspError


def test_settings_that_contradict_one_another_are_refused() -> None:
    with pytest.raises(PspError, match=r"teacher\.among is 3, but must be at least neighbours, 15"):
        TeacherSettings(encoder="x", among=3)
    assert TeacherSettings.of({"languages": ["en"]}).as_dict()["languages"] == ["en"]


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_say_whether_they_need_neighbours(loss: str) -> None:
    assert TeacherSettings(loss=loss).in_neighbourhoods == loss.startswith("neighbours-")


def test_a_key_that_is_none_is_refused() -> None:
    with pytest.raises(
        PspError, match=r"teacher\.wieght is not a key; did you mean weight\?; teacher may hold encoder"
    ):
        TeacherSettings.of({"wieght": 1})
