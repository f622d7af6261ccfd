"""Codes of languages."""

from psp.text.languages import _TWO_LETTERS, ISO3, closest_code


def test_every_two_letter_code_has_one_of_three_letters():
    assert set(_TWO_LETTERS.split()) <= ISO3.keys()
    assert all(len(code) == 3 and code.isalpha() for code in ISO3.values())
    assert [ISO3[code] for code in ("yo", "ha", "zu", "sw", "zh")] == ["yor", "hau", "zul", "swh", "cmn"]


def test_what_was_meant():
    assert closest_code("yor") == "; did you mean yo?" and closest_code("fra") == "; did you mean fr (French)?"
    assert closest_code("eng") == "; did you mean en (English)?" and closest_code("pcm") == ""
