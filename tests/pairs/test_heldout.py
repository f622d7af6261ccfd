"""Pairs held out, and those too much like them, against a plain reference over whole lists."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from psp.core.logs import Progress
from psp.pairs import heldout, pair_file
from psp.text.keys import normalised_key
from tests.pairs.conftest import side

Row = tuple[str, str, int]
#: Of few words, so that sides are alike but for case, punctuation and spacing, and of scripts without a Latin letter.
words = st.sampled_from(
    ["The cat", "the cat!", "THE  CAT", "dog", "le chat", "中文", "中文。", "!?", "Straße", "STRASSE", "1"]
)
rows = st.lists(st.tuples(words | side, words | side, st.integers(0, 2)), max_size=30)


def write(path: Path, mixed: list[Row]) -> Path:
    path.write_bytes("".join(f"{source}\t{target}\t{index}\n" for source, target, index in mixed).encode())
    return path


def chosen_plainly(mixed: list[Row], wanted: int) -> tuple[set[int], set[str]]:
    chosen: set[int] = set()
    keys: set[str] = set()
    for number, (source, target, _) in enumerate(mixed):
        both = {normalised_key(source), normalised_key(target)}
        if len(chosen) < wanted and "" not in both and not both & keys:
            chosen.add(number)
            keys |= both
    return chosen, keys


def parted(path: Path, chosen: set[int], keys: set[str]) -> tuple[list[bytes], list[bytes], Counter, Counter]:
    out, held = io.BytesIO(), io.BytesIO()
    with Progress("test", "pairs") as bar:
        counts = heldout.part(path, chosen, keys, out, held, bar)
    return pair_file.rows_of(out.getvalue()), pair_file.rows_of(held.getvalue()), *counts


@given(mixed=rows, wanted=st.integers(0, 6), block=st.integers(1, 200))
@example(mixed=[("The cat", "The cat", 0), ("\ufb01\u0301", "\ufb01\u0301", 0)], wanted=2, block=1)
def test_any_rows_are_chosen_and_parted_as_by_the_reference(tmp_path_factory, mixed, wanted, block):
    path = write(tmp_path_factory.mktemp("heldout") / "mixed.tsv", mixed)
    expected = chosen_plainly(mixed, wanted)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_file, "BLOCK_BYTES", block)
        assert heldout.choose(path, wanted) == expected
        out, held, by_corpus, neighbours = parted(path, *expected)
    chosen, keys = expected
    near = {n for n, row in enumerate(mixed) if {*map(normalised_key, row[:2])} & keys}
    lines = path.read_bytes().split(b"\n")
    assert held == [lines[number] for number in sorted(chosen)]
    assert out == [lines[number] for number in range(len(mixed)) if number not in near]
    assert by_corpus == Counter(mixed[number][2] for number in chosen)
    assert neighbours == Counter(mixed[number][2] for number in near - chosen)


def test_a_row_without_letters_or_with_a_side_seen_before_is_not_held_out(tmp_path):
    mixed = [("!?", "a", 0), ("b", "c", 0), ("B.", "d", 0), ("e", " c ", 0), ("f", "g", 1)]
    assert heldout.choose(write(tmp_path / "m.tsv", mixed), 2) == ({1, 4}, {"b", "c", "f", "g"})


def test_a_row_is_dropped_where_either_side_is_one_held_out_in_either_language(tmp_path):
    mixed = [
        ("The cat.", "le chat", 0),
        ("the cat", "un chat", 0),
        ("a cat", "LE CHAT!", 1),
        ("le chat", "x", 1),
        ("y", "z", 1),
    ]
    out, held, by_corpus, neighbours = parted(write(tmp_path / "m.tsv", mixed), {0}, {"thecat", "lechat"})
    assert (held, out) == ([b"The cat.\tle chat\t0"], [b"y\tz\t1"])
    assert by_corpus == {0: 1} and neighbours == {0: 1, 1: 2}


@pytest.mark.parametrize("script", ["中文字", "Жук", "aé"])
def test_the_keys_of_every_script_are_compared(tmp_path, script):
    """Those without Latin letters all look alike to the quick first look, and are then looked at in bulk."""
    mixed = [(f"{script}{chr(0x4E00 + number)}", f"{chr(0x5E00 + number)}", 0) for number in range(200)]
    mixed += [(f"«{source}»!", "other", 1) for source, _, _ in mixed[:5]]
    path = write(tmp_path / "m.tsv", mixed)
    chosen, keys = heldout.choose(path, 3)
    assert chosen == {0, 1, 2}
    out, held, _, neighbours = parted(path, chosen, keys)
    assert (len(out), len(held), neighbours) == (199, 3, {1: 3})


def test_nothing_is_held_out_where_none_is_wanted(tmp_path):
    path = write(tmp_path / "m.tsv", [("a", "b", 0)])
    assert heldout.choose(path, 0) == (set(), set())
    assert parted(path, set(), set())[:2] == ([b"a\tb\t0"], [])


def test_a_sentence_of_a_text_is_not_held_out(tmp_path: Path) -> None:
    path = write(tmp_path / "mixed", [("a b", "a b", 1), ("c d", "e f", 0), ("g h", "g h", 12), ("i", "j", 2)])
    assert heldout.choose(path, 4, text=[1, 12]) == ({1, 3}, {"cd", "ef", "i", "j"})
