"""Reading ParaNMT's format: every row is a pair with a score or counted as bad, and every kind of damage is named."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.corpora import open_corpus
from psp.corpora.rows import BadRow, parse_rows
from tests.corpora.conftest import zipped

EXACT = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
MEMBER = "para-nmt-50m/para-nmt-50m.txt"
ROWS = [(f"reference {number} {'x' * (number % 7)}", f"translation {number}", number / 400) for number in range(400)]


def read_archive(path, **options):
    return open_corpus("paranmt", path, **options)


def lines(rows: list[tuple[str, str, float]] = ROWS) -> bytes:
    return "".join(f"{source}\t{target}\t{score!r}\n" for source, target, score in rows).encode()


def fails(path: Path, **options: float) -> str:
    with pytest.raises(DataError) as caught:
        list(read_archive(path, **options))
    message = str(caught.value)
    assert message.startswith(str(path)) and "\n" not in message
    return message


@pytest.mark.parametrize("name", [MEMBER, "english_pairs.txt", "a/b/C.TXT"])
def test_the_one_text_member_is_read_whatever_its_name(tmp_path, name):
    others = [("a/", b""), ("a/README.txt", b"x"), ("LICENSE.txt", b""), ("__MACOSX/._c.txt", b""), ("s.md", b"")]
    path = zipped(tmp_path / "a.zip", dict([*others[:3], (name, lines()), *others[3:]]))
    assert list(read_archive(path)) == ROWS
    assert list(open_corpus("paranmt", path, "ParaNMT", ("en", "en"))) == ROWS


field = st.text(st.characters(exclude_characters="\n\t", exclude_categories=["Cs"]))
number = st.floats(allow_nan=False, allow_infinity=False)


@EXACT
@given(rows=st.lists(st.tuples(field, field, number)))
def test_any_text_and_any_score_survive(rows, tmp_path):
    assert list(read_archive(zipped(tmp_path / "a.zip", {MEMBER: lines(rows)}))) == rows


@pytest.mark.parametrize(
    ("row", "bad"),
    [
        ("only", BadRow("row: columns", "only")),
        ("", BadRow("row: columns", "")),
        ("a\tb", BadRow("row: columns", "a\u2409b")),
        ("a\tb\t0.5\t", BadRow("row: columns", "a\u2409b\u24090.5\u2409")),
        ("a\tb\thigh", BadRow("row: score", "a\u2409b\u2409high")),
        ("a\tb\t", BadRow("row: score", "a\u2409b\u2409")),
        ("a\tb\tNaN", BadRow("row: score", "a\u2409b\u2409NaN")),
        ("a\tb\t-inf", BadRow("row: score", "a\u2409b\u2409-inf")),
        ("a\tb\t1_0", BadRow("row: score", "a\u2409b\u24091_0")),
        ("a\tb\t0,5", BadRow("row: score", "a\u2409b\u24090,5")),
        ("x" * 3000, BadRow("row: columns", "x" * 500)),
    ],
)
def test_a_bad_row_is_handed_on_in_its_place(tmp_path, row, bad):
    path = zipped(tmp_path / "a.zip", {MEMBER: lines(ROWS[:3]) + f"{row}\n".encode() + lines(ROWS[3:])})
    assert list(read_archive(path)) == [*ROWS[:3], bad, *ROWS[3:]]


def test_many_bad_rows_are_an_error_that_names_the_first(tmp_path):
    good, bad = b"a\tb\t0.5\n", b"a\tb\n"

    def many(count: int, before: int, after: int) -> Path:
        return zipped(tmp_path / "a.zip", {MEMBER: good * before + bad * count + good * after})

    # As many as 1% of the first 10,000, of all rows from then on.
    assert sum(isinstance(row, BadRow) for row in read_archive(many(100, 2, 10))) == 100
    assert sum(isinstance(row, BadRow) for row in read_archive(many(202, 20_000, 0))) == 202
    message = fails(many(101, 2, 9_000))
    assert re.search(r"a\.zip, line 3: 2 columns instead of 3 \(source, .*\); 101 of the first 103 rows", message)
    assert "filters.max_bad_rows" in message
    assert "line 20001: 2 columns instead of 3 (source, tab, target, tab, score); 203 of the first 20,203" in fails(
        many(300, 20_000, 0)
    )
    # The limit can be set, and a file without any pair is wrong however short it is.
    assert len(list(read_archive(many(300, 2, 0), max_bad_rows=0.03))) == 302
    assert "line 1: 2 columns instead of 3 or 4 (" in fails(many(5, 0, 0))


def test_no_bad_row_at_all_may_be_asked_for(tmp_path):
    path = zipped(tmp_path / "a.zip", {MEMBER: b"a\tb\t0.5\nc\td\tx\n"})
    assert "line 2: the score 'x' is not a number; 1 of the first 2 rows" in fails(path, max_bad_rows=0.0)


def test_an_archive_without_one_text_member(tmp_path):
    assert "no member ending in .txt" in fails(zipped(tmp_path / "a.zip", {"x.tsv": lines()}))
    message = fails(zipped(tmp_path / "b.zip", {"x.txt": lines(), "y.txt": lines()}))
    assert "2 members ending in .txt" in message and "x.txt, y.txt" in message
    assert "the zip has: nothing" in fails(zipped(tmp_path / "c.zip", {}))


def test_rows_of_two_or_three_columns_as_the_first_has(tmp_path):
    assert list(parse_rows(["x", "a\tb", "c\td\t1"], columns=(2, 3))) == [
        BadRow("row: columns", "x"),
        ("a", "b"),
        BadRow("row: columns", "c\u2409d\u24091"),
    ]
    assert list(parse_rows(["a\tb\tx", "c\td\t1"], columns=(2, 3))) == [
        BadRow("row: score", "a\u2409b\u2409x"),
        ("c", "d", 1.0),
    ]


@pytest.mark.slow
def test_real_pairs_equal_a_plain_reading(psp_data: Path) -> None:
    path = psp_data / "paraphrase/english_pairs.zip"
    with zipfile.ZipFile(path) as opened:
        rows = [line.split("\t") for line in opened.read("english_pairs.txt").decode().removesuffix("\n").split("\n")]
    assert len(rows) == 150_000
    assert list(read_archive(path)) == [(source, target, float(score)) for source, target, score in rows]


def test_a_fourth_column_is_the_translation_score():
    rows = ["a\tb\t0.5\t-1.5", "c\td\t1\tx", "e\tf\t1"]
    assert list(parse_rows(rows, columns=(3, 4))) == [
        ("a", "b", 0.5, -1.5),
        BadRow("row: translation score", "c\u2409d\u24091\u2409x"),
        BadRow("row: columns", "e\u2409f\u24091"),
    ]
    # A tab too many in the first line is no column.
    assert list(parse_rows(["a\tb\tc\t0.5", "c\td\t1"], columns=(3, 4)))[1] == ("c", "d", 1.0)
