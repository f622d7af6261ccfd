"""Which scripts texts and languages are written in."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.text.languages import LID_LABELS, TATOEBA, lid_label
from psp.text.scripts import foreign, letters_by_script, may_be, scripts_of


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("Ça va? 12", {"LATIN": 4}),
        ("テスト設定", {"KATAKANA": 3, "CJK": 2}),
        ("ＡＢｱ", {"LATIN": 2, "KATAKANA": 1}),
        ("mysql 例子", {"LATIN": 5, "CJK": 2}),
        ("µ 12 — €", {}),
        ("Привет, κόσμε", {"CYRILLIC": 6, "GREEK": 5}),
        ("نص", {"ARABIC": 2}),
    ],
)
def test_letters_by_script(text, letters):
    assert letters_by_script(text) == letters


@given(st.text())
def test_only_letters_are_counted_and_each_once(text):
    assert sum(letters_by_script(text).values()) <= sum(unicodedata.category(character)[0] == "L" for character in text)


def test_scripts_of_languages():
    assert scripts_of("fr") == {"LATIN"}
    assert scripts_of("sr") == {"CYRILLIC", "LATIN"}
    assert scripts_of("ja") == {"CJK", "HIRAGANA", "KATAKANA"}
    assert scripts_of("ar") == {"ARABIC"}


def test_what_a_text_may_be():
    ideographs, kana, latin = map(letters_by_script, ("设置轨道名", "設定する", "set the track"))
    assert may_be("zh", ideographs) and not may_be("ja", ideographs) and not may_be("pl", ideographs)
    assert may_be("ja", kana) and not foreign("ja", kana)
    assert foreign("fr", ideographs) and not foreign("fr", latin)
    assert not foreign("zh", latin)  # names and units are written in Latin letters everywhere
    assert not foreign("zh", letters_by_script("")) and may_be("zh", {})


def test_tatoebas_lines_are_of_their_languages_scripts(psp_data):
    """The table against real text: of 94 languages' test sets, no line in fifty is of a script said to be foreign."""
    for language, code in TATOEBA.items():
        if (label := lid_label(language)) in LID_LABELS:
            file = psp_data / f"eval/tatoeba/v1/tatoeba.{code}-eng.{code}"
            lines = file.read_text(encoding="utf-8").split("\n")[:-1]
            strange = [line for line in lines if foreign(label, letters_by_script(line))]
            assert len(strange) <= len(lines) / 50, (language, strange[:5])
