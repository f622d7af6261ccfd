"""What is said about the machine."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from psp.config.blocks.fields import RECIPES
from psp.config.blocks.teacher import TeacherSettings
from psp.config.blocks.training import LstmSettings
from psp.config.blocks.transformer import TransformerSettings
from psp.config.blocks.translator import TranslatorSettings
from psp.core import machine


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("processor\t: 0\nflags\t\t: fpu avx512f avx512_bf16 la57\n", True),
        ("processor\t: 0\nflags\t\t: fpu amx_bf16 amx_tile\n", True),
        ("processor\t: 0\nFeatures\t: fp asimd i8mm bf16 dgh\n", True),
        ("model name\t: of bf16\nflags\t\t: fpu avx512f f16c\n", False),
        ("processor\t: 0\n", None),
        (None, None),
    ],
)
def test_whether_the_processor_multiplies_bfloat16(content, said, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "cpuinfo"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    monkeypatch.setattr(machine, "Path", lambda name: path if name == "/proc/cpuinfo" else Path(name))
    assert machine.multiplies_bfloat16() is said


@pytest.mark.parametrize(
    ("precision", "able", "low", "warns"),
    [
        ("auto", True, True, False),
        ("auto", False, False, False),
        ("auto", None, False, False),
        ("bfloat16", True, True, False),
        ("bfloat16", False, True, True),  # a named precision is kept, and what it costs is said
        ("bfloat16", None, True, False),
        ("float32", True, False, False),
    ],
)
def test_auto_is_bfloat16_where_the_processor_multiplies_it(precision, able, low, warns, monkeypatch, caplog) -> None:
    monkeypatch.setattr(machine, "multiplies_bfloat16", lambda: able)
    assert machine.in_bfloat16(precision, "cpu", "translator.precision") is low
    told = "translator.precision is bfloat16, but this processor has no bfloat16 multiplication"
    assert [told in message for message in caplog.messages] == [True] * warns


@pytest.mark.parametrize("settings", [LstmSettings, TeacherSettings, TransformerSettings, TranslatorSettings])
def test_no_default_is_a_precision_that_is_slow_on_some_processors(settings) -> None:
    allowed = get_args(settings.declared()["precision"].annotation)
    assert {"auto", "bfloat16"} <= set(allowed)
    assert {settings.default("precision", recipe) for recipe in RECIPES} <= {"auto", "float32"}
