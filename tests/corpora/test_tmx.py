"""Translation memories: as tools write them, in bounded memory, and nothing that a file makes of entities."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core import files
from psp.core.errors import DataError
from psp.corpora import count_pairs, open_corpus
from psp.corpora.rows import BadRow

HEAD = '<?xml version="1.0" encoding="{}"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n<tmx version="1.4"><header/><body>\n'
SIDES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn", "Co"]))
NAMES = ("en", "fr")


def unit(**segments: str) -> str:
    return (
        "<tu>"
        + "".join(f'<tuv xml:lang="{code}"><seg>{text}</seg></tuv>' for code, text in segments.items())
        + "</tu>\n"
    )


def tmx(body: str, encoding: str = "utf-8") -> bytes:
    return (HEAD.format(encoding) + body + "</body></tmx>\n").encode(encoding)


def read(path: Path, names: tuple[str, ...] = NAMES, **options: float) -> list[object]:
    return list(open_corpus("tmx", path, "", names, **options))


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@given(rows=st.lists(st.tuples(SIDES, SIDES), min_size=1, max_size=9), encoding=st.sampled_from(["utf-8", "utf-16"]))
def test_the_texts_are_those_of_the_units(tmp_path_factory, rows, encoding):
    path = tmp_path_factory.getbasetemp() / "a.tmx"
    write(path, tmx("".join(unit(fr=escape(b), en=escape(a)) for a, b in rows), encoding))
    assert [[side.split() for side in row] for row in read(path)] == [[side.split() for side in row] for row in rows]
    assert count_pairs("tmx", path, "", NAMES)[0] == (len(rows) if encoding == "utf-8" else 0)


def test_languages_as_tools_write_them_and_codes_in_a_text(tmp_path, caplog):
    codes = 'the <bpt i="1">{\\b <sub>x</sub></bpt><hi>cat</hi><ept i="1">}</ept> <ph/>sleeps<ut>u</ut> &amp; eats'
    body = (
        f'<tu tuid="1"><note>n</note><tuv xml:lang="EN-gb"><prop type="b">q</prop><seg>{codes}</seg></tuv>'
        '<tuv lang="fr_CA"><seg>le\n chat</seg></tuv></tu>' + unit(de="d", fra="un", eng="one") + unit(en="only")
    )
    path = tmp_path / "a.tmx.gz"
    path.write_bytes(gzip.compress(tmx(body)))
    assert read(path) == [("the cat sleeps & eats", "le chat"), ("one", "un")]
    assert "1 of 3 units lack en or fr" in caplog.text
    assert read(write(tmp_path / "p.tmx", tmx(unit(**{"en": "a", "en-US": "b"}))), ("en", "en")) == [("a", "b")]
    with pytest.raises(DataError, match=r"p\.tmx: no unit has a text in en and in fr; there are en, en-us"):
        read(tmp_path / "p.tmx")


def test_bytes_that_are_not_utf8_spoil_their_unit_alone(tmp_path):
    content = tmx(unit(en="a", fr="b") + unit(en="caf#", fr="c") + unit(en="d", fr="e")).replace(b"#", b"\xe9")
    path = write(tmp_path / "a.tmx", content)
    found = read(path)
    assert found[::2] == [("a", "b"), ("d", "e")]
    assert isinstance(found[1], BadRow) and found[1].reason == "row: not UTF-8"
    with pytest.raises(DataError, match=r"a\.tmx, line 5: not UTF-8; 1 of the first 2 rows"):
        read(path, max_bad_rows=0)


LAUGHS = "".join(f'<!ENTITY l{n + 1} "{f"&l{n};" * 10}">' for n in range(9))


@pytest.mark.parametrize(
    "subset",
    [
        f'<!ENTITY l0 "ha">{LAUGHS}',
        '<!ENTITY l9 SYSTEM "file:///etc/passwd">',
        '<!ENTITY % p SYSTEM "file:///etc/passwd"> %p;',
        "",
    ],
    ids=["laughs", "file", "parameter", "undeclared"],
)
def test_entities_are_refused(tmp_path, subset):
    head = HEAD.format("utf-8").replace('"tmx14.dtd"', f'"tmx14.dtd" [{subset}]')
    path = write(tmp_path / "a.tmx", f"{head}{unit(en='&l9;', fr='b')}</body></tmx>".encode())
    with pytest.raises(DataError, match=r"a\.tmx: has entities of its own, which psp does not read"):
        read(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", r"a\.tmx, line 1: not well-formed XML \(no element found\)"),
        (tmx(unit(en="a", fr="b"))[:-9], r"line 5: not well-formed XML"),
        (b"source,target\na,b\n", "line 1: not well-formed XML"),
        (b"<html/>", "no unit has a text in en and in fr; there are none"),
        (gzip.compress(b"<tmx/>", mtime=0), "is compressed by gzip, not plain text"),
    ],
)
def test_what_is_no_translation_memory(tmp_path, content, said):
    with pytest.raises(DataError, match=said):
        read(write(tmp_path / "a.tmx", content))


@pytest.mark.parametrize("big", ["<tu><tuv xml:lang='en'><seg>{}", "<tu a='{}'", "<!-- {}", "<tu><tuv/>{}"])
def test_a_unit_or_a_tag_takes_no_more_than_the_limit(tmp_path, monkeypatch, big):
    monkeypatch.setattr(files, "LINE_BYTES", 100_000)
    filler = "<tuv/>" * 2_000_000 if big.endswith("<tuv/>{}") else "x" * 12_000_000
    path = write(tmp_path / "a.tmx", tmx(unit(en="a", fr="b") + big.format(filler)))
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"a\.tmx, line 5: a unit or a tag of more than 100,000 bytes"):
            read(path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 << 20
