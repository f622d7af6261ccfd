"""A shell command as a translator."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import ConfigError
from psp.inference.translation import Hypothesis, load_translator
from psp.inference.translation.base import TranslatorError

LINES = st.lists(st.text(st.characters(blacklist_categories=["Cs", "Cc", "Zl", "Zp"])), max_size=5)


@given(LINES)
def test_a_line_in_is_a_line_out(texts: list[str]) -> None:
    wanted = [[Hypothesis(" ".join(text.split()), None)] for text in texts]
    assert load_translator({"command": "cat"}).translate(texts) == wanted


def test_it_may_write_scores() -> None:
    translator = load_translator({"command": r"sed 's/.*/[&]\t-0.5/'", "scores": "column"})
    assert translator.translate(["Le chat."]) == [[Hypothesis("[Le chat.]", -0.5)]]
    for wrong in ("cat", "sed 's/$/\tnan/'"):
        with pytest.raises(TranslatorError, match="wrote no `translation, tab, score`"):
            load_translator({"command": wrong, "scores": "column"}).translate(["Le chat."])


@pytest.mark.parametrize(
    ("command", "said", "place"),
    [
        ("head -n 2", "wrote 2 lines for 4", 2),
        ("sed p", "wrote 8 lines for 4", 3),
        ("sed 's/^c$//'", "wrote an empty line", 2),
        ("head -n 1; echo out of memory >&2; exit 3", "ended with status 3: out of memory", 1),
        ("yes", "writes more than ", 0),
        ("yes | head -c 50000000 >&2; exit 3", "ended with status 3: y", 0),
        ("kill -9 $$", "ended with status -9", 0),
        (r"printf 'a\nb\n\377\nd\n'", "not UTF-8", 2),
    ],
)
def test_what_goes_wrong_is_told_with_the_text(command: str, said: str, place: int) -> None:
    with pytest.raises(TranslatorError, match=said) as error:
        load_translator({"command": command}).translate(["a", "b", "c", "d"])
    assert error.value.place == place


@pytest.mark.parametrize("command", ["cat; sleep 100", "sleep 100; cat", "cat; exec >&-; sleep 100"])
def test_a_command_that_says_nothing_is_ended_with_its_children(command: str) -> None:
    started = time.monotonic()
    with pytest.raises(TranslatorError, match=r"wrote nothing for 1 s \(`timeout`\)") as error:
        load_translator({"command": f"{command} & wait", "timeout": 1}).translate(["a", "b"])
    assert error.value.place == (0 if command.startswith("sleep") else 1)
    assert time.monotonic() - started < 20


def test_a_child_that_is_left_with_the_output_open_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("psp.inference.translation.command.GRACE", 1)
    command = f"cat; sleep 100 & echo $! > {tmp_path}/child"
    assert load_translator({"command": command}).translate(["a"]) == [[Hypothesis("a", None)]]
    state = Path(f"/proc/{(tmp_path / 'child').read_text().strip()}/stat")
    for _ in range(100):
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the child lives")


def test_one_translation_a_line_of_one_line() -> None:
    with pytest.raises(ConfigError, match="one translation per line, not 2"):
        load_translator({"command": "cat"}).translate(["a"], n=2)
    with pytest.raises(TranslatorError, match="a line feed"):
        load_translator({"command": "cat"}).translate(["a\nb"])
