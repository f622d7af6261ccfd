"""Pair files: blocks of any size hold a plain reader's lines, and what is no pair is named with its line."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.pairs import pair_file
from tests.pairs.conftest import pairs, write

lines = st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=20)


@given(content=lines, ended=st.booleans(), size=st.integers(1, 60))
def test_blocks_are_the_lines_of_a_file_with_their_numbers(tmp_path_factory, content, ended, size):
    path = tmp_path_factory.mktemp("blocks") / "any"
    path.write_bytes(b"\n".join(content) + b"\n" * ended)
    expected = path.read_bytes().split(b"\n")
    if expected[-1] == b"":
        expected.pop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_file, "BLOCK_BYTES", size)
        found = list(pair_file.blocks(path))
    rows = [row for _, block in found for row in pair_file.rows_of(block)]
    assert rows == expected
    assert [number for number, _ in found] == [
        1 + sum(block.count(b"\n") for _, block in found[:place]) for place in range(len(found))
    ]
    out = io.BytesIO()
    pair_file.write_rows(out, rows)
    assert out.getvalue() == b"".join(row + b"\n" for row in expected)


@given(rows=pairs.filter(bool))
def test_pairs_come_back_with_and_without_a_third_column(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("pairs")
    sides = [source for source, _ in rows], [target for _, target in rows]
    write(folder / "two.tsv", rows)
    assert pair_file.read_pairs(folder / "two.tsv") == sides
    mixed = [(source, target, str(number % 3)) for number, (source, target) in enumerate(rows)]
    (folder / "three.tsv").write_bytes("".join("\t".join(row) + "\n" for row in mixed).encode())
    assert pair_file.read_pairs(folder / "three.tsv") == sides
    assert list(pair_file.read_mixed(folder / "three.tsv")) == mixed
    assert not pair_file.layout_of(folder / "two.tsv").scores and pair_file.layout_of(folder / "three.tsv").scores


@given(rows=pairs, scores=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=40, max_size=40))
def test_the_text_of_a_block_is_its_own_and_a_score_the_last_column(rows, scores):
    plain = "".join(f"{source}\t{target}\n" for source, target in rows)
    assert pair_file.text_of(plain.encode(), Path("x"), 1) == plain
    scored = "".join(f"{a}\t{b}\t{score!r}\n" for (a, b), score in zip(rows, scores, strict=False))
    assert pair_file.text_of(scored.encode(), Path("x"), 1, pair_file.SCORED) == scored
    block = pair_file.rows_of(scored.encode())
    assert [pair_file.scores_of(row)[0] for row in block] == scores[: len(rows)]
    assert [pair_file.without_last_column(row) for row in block] == pair_file.rows_of(plain.encode())


@pytest.mark.parametrize(
    ("block", "scores", "message"),
    [
        (b"a\tb\nc\n", False, r"x\.tsv, line 8: 1 columns where a pair has 2 \(source, tab, target\)"),
        (b"a\tb\tc\nc\td\n", False, r"line 7: 3 columns where a pair has 2"),
        (b"a\tb\t1\nc\td\n", True, r"line 8: 2 columns where a pair has 3 \(source, target, score\)"),
        (b"a\tb\t1\nc\td\tx\n", True, r"line 8: the score 'x' is not a finite number"),
        (b"a\tb\tnan\n", True, r"line 7: the score 'nan' is not a finite number"),
        (b"a\tb\nc\t\xff\n", False, r"line 8: not UTF-8"),
        # As many tabs as two pairs have, in other places.
        (b"a\n\tb\t\tc\n", False, r"line 7: 1 columns where a pair has 2"),
    ],
)
def test_a_line_that_is_no_pair_is_named(block, scores, message):
    with pytest.raises(DataError, match=message):
        pair_file.text_of(block, Path("x.tsv"), 7, pair_file.SCORED if scores else pair_file.PAIR)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\tb\t0\nc\td\n", "line 2: 2 columns where a mixed pair has 3"),
        (b"a\t \t0\n", "line 1: a side without text"),
        (b"a\tb\t0\n\xff\tb\t0\n", "line 2: not UTF-8"),
    ],
)
def test_a_line_that_is_no_mixed_pair_is_named(tmp_path, content, message):
    path = tmp_path / "mixed.tsv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"mixed\.tsv, {message}"):
        list(pair_file.read_mixed(path))


def test_files_that_are_missing_or_empty_are_named(tmp_path):
    absent, empty = tmp_path / "absent.tsv", tmp_path / "empty.tsv"
    empty.touch()
    for read in (
        lambda path: list(pair_file.blocks(path)),
        lambda path: list(pair_file.read_mixed(path)),
        pair_file.layout_of,
        pair_file.read_pairs,
        lambda path: list(pair_file.read_dropped(path)),
    ):
        with pytest.raises(DataError, match=r"absent\.tsv: cannot be read: No such file"):
            read(absent)
    packed = tmp_path / "packed.tsv"
    packed.write_bytes(gzip.compress(b"a\tb\n"))
    with pytest.raises(DataError, match=r"packed\.tsv: is compressed by gzip, not plain text; run `gzip -dc "):
        pair_file.read_pairs(packed)
    with pytest.raises(DataError, match=r"empty\.tsv: no pairs"):
        pair_file.read_pairs(empty)
    assert list(pair_file.blocks(empty)) == list(pair_file.read_mixed(empty)) == []
