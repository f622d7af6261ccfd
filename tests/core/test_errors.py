"""Errors are one line, whatever a file or a name has put into them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import ConfigError, DataError, PspError, from_extra


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_text_stays_on_the_line_and_can_be_printed(message, path):
    for error in (PspError(message), ConfigError(message), DataError(message, path, 3)):
        text = str(error)
        assert len(text.splitlines()) <= 1
        text.encode()
        assert "\x1b" not in text and "\u202e" not in text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the column `é 日 \u00a0` is wrong", "the column `é 日 \u00a0` is wrong"),
        ("a\nb\tc\x1b[2J", "a\\nb\\tc\\x1b[2J"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_would_move_or_hide_text_is_shown_by_its_code(text, shown):
    assert str(PspError(text)) == shown


def test_a_long_message_keeps_its_beginning_and_its_end():
    said = str(DataError("x" * 70_000 + "; mend it", "a.tsv", 3))
    assert said.startswith("a.tsv, line 3: xxx") and said.endswith("xxx; mend it")
    assert len(said) < 4100 and " characters ...] " in said


def test_a_package_that_is_not_installed_is_told_with_the_extra_that_has_it():
    line = r"^charts need a pen: pip install 'paraphrastic\[workflow\]'$"
    with pytest.raises(PspError, match=line), from_extra("workflow", "charts need a pen"):
        import a_pen_that_nobody_has  # noqa: F401


def test_an_error_within_a_package_is_not_taken_for_a_missing_one():
    with pytest.raises(ImportError, match="cannot import name") as error, from_extra("workflow", "charts need a pen"):
        from json import a_pen  # noqa: F401
    assert not isinstance(error.value, PspError)
