"""Files of sentences, one a line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.corpora import open_corpus
from psp.corpora.rows import BadRow

LINES = st.lists(st.text(st.characters(exclude_characters="\t\n\r", exclude_categories=("Cs",)), max_size=20))


@given(lines=LINES)
def test_each_line_is_a_pair_with_itself(lines: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("text") / "my.txt.gz"
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    found = list(open_corpus("text", path, "my", ("en", "en")))
    if lines and lines[0].startswith("\ufeff"):
        lines[0] = lines[0][1:]
    assert found == [(line, line) for line in lines]


def test_a_few_lines_with_tabs_are_left_out_and_a_file_of_pairs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "my.txt"
    path.write_text("one line\na\tb\nanother")
    assert list(open_corpus("text", path)) == [
        ("one line", "one line"),
        BadRow("row: columns", "a\u2409b"),
        ("another",) * 2,
    ]
    path.write_text("fine\n" + "a\tb\n" * 101)
    with pytest.raises(DataError, match=r"my\.txt, line 2: a tab in a line, .*name pairs as `path:`.*; 101 of "):
        list(open_corpus("text", path))
    with pytest.raises(DataError, match="cannot be read"):
        list(open_corpus("text", tmp_path / "missing.txt"))
