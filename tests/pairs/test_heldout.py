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
from tests.conftest import write_mixed
from tests.pairs.conftest import side

Row = tuple[str, str, int]
#: Of few words, so that sides are alike but for case, punctuation and spacing, and of scripts without a Latin letter.
words = st.sampled_from(
    ["The cat", "the cat!", "THE  CAT", "dog", "le chat", "中文", "中文。", "!?", "Straße", "STRASSE", "1"]
)
rows = st.lists(st.tuples(words | side, words | side, st.integers(0, 2)), max_size=30)


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
    path = write_mixed(tmp_path_factory.mktemp("heldout") / "mixed.tsv", mixed)
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


@pytest.mark.parametrize("script", ["中文字", "Жук", "aé"])
def test_the_keys_of_every_script_are_compared(tmp_path, script):
    """Those without Latin letters all look alike to the quick first look, and are then looked at in bulk."""
    mixed = [(f"{script}{chr(0x4E00 + number)}", f"{chr(0x5E00 + number)}", 0) for number in range(200)]
    mixed += [(f"«{source}»!", "other", 1) for source, _, _ in mixed[:5]]
    path = write_mixed(tmp_path / "m.tsv", mixed)
    chosen, keys = heldout.choose(path, 3)
    assert chosen == {0, 1, 2}
    out, held, _, neighbours = parted(path, chosen, keys)
    assert (len(out), len(held), neighbours) == (199, 3, {1: 3})


def test_a_sentence_of_a_text_is_not_held_out(tmp_path: Path) -> None:
    path = write_mixed(tmp_path / "mixed", [("a b", "a b", 1), ("c d", "e f", 0), ("g h", "g h", 12), ("i", "j", 2)])
    assert heldout.choose(path, 4, text=[1, 12]) == ({1, 3}, {"cd", "ef", "i", "j"})
