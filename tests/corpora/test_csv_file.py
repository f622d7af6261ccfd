"""CSV: any text in quotes, any usual delimiter, and no open quote that swallows the file."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core import files
from psp.core.errors import DataError
from psp.corpora import count_pairs, open_corpus
from psp.corpora.rows import BadRow

NAMES = ("", "source", "target")
SIDES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"))


def read(path: Path, names: tuple[str, ...] = NAMES, **options: float) -> list[object]:
    return list(open_corpus("csv", path, "", names, **options))


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@given(rows=st.lists(st.tuples(SIDES, SIDES), max_size=9), delimiter=st.sampled_from(",;\t|"))
def test_the_texts_are_those_that_pythons_module_wrote(tmp_path_factory, rows, delimiter):
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter).writerows([("id", "target", "source"), *((1, b, a) for a, b in rows)])
    path = write(tmp_path_factory.getbasetemp() / "a.csv", file.getvalue())
    found = read(path)
    assert found == read(path, (delimiter, *NAMES[1:]))
    assert [[side.split() for side in row] for row in found] == [[side.split() for side in row] for row in rows]


def test_a_score_a_mark_and_compression(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress('\ufeffen;fr;s\r\n"a; ""b""";c;0.5\r\n\r\nd;e;1\r\n'.encode()))
    assert read(path, ("", "en", "fr", "s")) == [('a; "b"', "c", 0.5), ("d", "e", 1.0)]
    assert count_pairs("csv", path, "", NAMES) == (3, False)


def test_bad_rows_are_named_by_the_line_where_they_begin(tmp_path):
    text = b'source,target,s\n"two\nlines",b,1\nalone\na,b,high\n' + b"caf\xe9,b,1\nc,d,2\n"
    found = read(write(tmp_path / "a.csv", text), ("", "source", "target", "s"))
    bad = [row for row in found if isinstance(row, BadRow)]
    assert found[0] == ("two lines", "b", 1.0) and found[-1] == ("c", "d", 2.0)
    assert [row.reason for row in bad] == ["row: columns", "row: score", "row: not UTF-8"]
    with pytest.raises(DataError, match=r"a\.csv, line 4: 1 columns, but the header has 3; 1 of the first 2 rows"):
        read(tmp_path / "a.csv", max_bad_rows=0)


def test_headers_that_do_not_fit(tmp_path):
    path = write(tmp_path / "a.csv", "en;fr\na;b\n")
    with pytest.raises(DataError, match=r"a\.csv, line 1: its header has no column source; it has en, fr: name others"):
        read(path)
    with pytest.raises(DataError, match="no column source; it has en;fr: name"):
        read(path, (",", *NAMES[1:]))
    with pytest.raises(DataError, match="two columns source; it has source, source, target"):
        read(write(path, "source,source,target\n"))
    with pytest.raises(DataError, match="no column source; it has nothing"):
        read(write(path, ""))


def test_an_open_quote_is_found_within_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LINE_BYTES", 2000)
    path = write(tmp_path / "a.csv", 'source,target\na,b\n"open,c\n' + "d,e\n" * 3000)
    with pytest.raises(DataError, match=r"line \d+: a row of more than 2,000 bytes; close the quote that is open"):
        read(path)
