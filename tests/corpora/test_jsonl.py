"""JSON lines: objects as other tools write them, and every other line a bad row."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.corpora import count_pairs, open_corpus
from psp.corpora.rows import BadRow

NAMES = ("source", "target")
SIDES = st.text(st.characters(exclude_categories=["Cs"]))


def read(path: Path, names: tuple[str, ...] = NAMES) -> list[object]:
    return list(open_corpus("jsonl", path, "", names))


@given(rows=st.lists(st.tuples(SIDES, SIDES), max_size=9), ascii_only=st.booleans())
def test_the_texts_are_those_of_the_objects(tmp_path_factory, rows, ascii_only):
    path = tmp_path_factory.getbasetemp() / "a.jsonl"
    objects = [json.dumps({"target": b, "source": a}, ensure_ascii=ascii_only) for a, b in rows]
    path.write_text("".join(f"{one}\n" for one in objects), encoding="utf-8", newline="\n")
    found = read(path)
    assert [[side.split() for side in row] for row in found] == [[side.split() for side in row] for row in rows]
    assert count_pairs("jsonl", path, "", NAMES) == (len(rows), True)


def test_fields_within_fields_and_scores(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text(
        '{"translation": {"en": "a", "fr": "b"}, "s": 1}\n'
        '{"translation.en": "c", "translation": {"fr": "d"}, "s": 0.5}\n'
    )
    assert read(path, ("translation.en", "translation.fr", "s")) == [("a", "b", 1.0), ("c", "d", 0.5)]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "columns"), ("[1]", "columns"), ('"source"', "columns"), ("{}", "columns"), ("[" * 100_000, "columns"),
        ('{"source": 1, "target": "a"}', "columns"), ('{"source": null, "target": "a"}', "columns"),
        (f'{{"source": {"9" * 5000}, "target": "a"}}', "columns"),
        ('{"source": "\\ud800", "target": "a"}', "not UTF-8"),
        (b'{"source": "\xe9", "target": "a"}', "not UTF-8"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)  # fmt: skip
def test_what_is_no_pair_is_a_bad_row(tmp_path, line, reason):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"source": "a", "target": "b"}\n' + (line if isinstance(line, bytes) else line.encode()) + b"\n")
    good, bad = read(path)
    assert good == ("a", "b") and isinstance(bad, BadRow) and bad.reason == f"row: {reason}"
    bad.text.encode()


def test_other_fields_are_one_error(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"en": "a", "fr": "b"}\n' * 5)
    with pytest.raises(DataError, match=r"a\.jsonl, line 1: no text in source and target: name other `columns`; 5 of"):
        read(path)
