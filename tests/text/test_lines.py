"""Lines by their numbers, against the plain way."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.cli import lines_of
from psp.core.errors import DataError
from psp.inference.streaming import chunks, opened
from psp.text import lines as lines_module
from psp.text.lines import LineFile, read_lines

line = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), max_size=6)


@given(
    lines=st.lists(line, min_size=1, max_size=40), ended=st.booleans(), size=st.integers(1, 5), block=st.integers(1, 9)
)
def test_lines_are_those_of_a_plain_reader(tmp_path_factory, lines, ended, size, block):
    data = "\n".join(lines).encode() + b"\n" * ended
    if not data:
        return
    path = tmp_path_factory.getbasetemp() / "lines.txt"
    path.write_bytes(data)
    expected = data.decode().removesuffix("\n").split("\n")
    before, lines_module.BLOCK_BYTES = lines_module.BLOCK_BYTES, block
    try:
        file = LineFile(path)
    finally:
        lines_module.BLOCK_BYTES = before
    assert len(file) == len(expected)
    assert [file[number] for number in range(len(file))] == expected
    chunks = list(file.chunks(size))
    assert [text for chunk in chunks for text in chunk] == expected
    assert {len(chunk) for chunk in chunks[:-1]} <= {size}
    assert list(file.chunks(100)) == [expected]
    for first in range(len(expected)):
        assert list(file.chunks(100, first)) == [expected[first:]]
    assert file.sha256 == hashlib.sha256(data).hexdigest()


def test_what_cannot_be_read_is_one_clear_line(tmp_path):
    with pytest.raises(DataError, match=r"missing.txt: cannot be read: No such file"):
        LineFile(tmp_path / "missing.txt")
    with pytest.raises(DataError, match=r"cannot be read: Is a directory"):
        LineFile(tmp_path)
    (tmp_path / "empty.txt").touch()
    with pytest.raises(DataError, match=r"empty.txt: is empty; write one sentence per line"):
        LineFile(tmp_path / "empty.txt")
    (tmp_path / "latin.txt").write_bytes(b"good\ncaf\xe9\n")
    with pytest.raises(DataError, match=r"latin.txt, line 2: not UTF-8"):
        list(LineFile(tmp_path / "latin.txt").chunks(10))
    (tmp_path / "later.txt").write_bytes(b"good\n" * 50 + b"caf\xe9\n")
    with pytest.raises(DataError, match=r"later.txt, line 51: not UTF-8"):
        list(LineFile(tmp_path / "later.txt").chunks(10, 37))


def test_a_pipe_is_refused(tmp_path):
    reading, writing = os.pipe()
    os.write(writing, b"line\n")
    os.close(writing)
    try:
        with pytest.raises(DataError, match=r"is a pipe or a device, where a regular file is needed"):
            LineFile(f"/dev/fd/{reading}")
    finally:
        os.close(reading)


@pytest.mark.parametrize(
    ("content", "called", "command"),
    [
        (
            gzip.compress(b"a\n", mtime=0),
            "compressed by gzip",
            "gzip -dc x.txt > x.txt.txt`, or let its name end in `.gz`",
        ),
        (bz2.compress(b"a\n"), "compressed by bzip2", "bzip2 -dc"),
        (lzma.compress(b"a\n"), "compressed by xz", "xz -dc"),
        (b"\x28\xb5\x2f\xfd\0", "compressed by zstd", "zstd -dc"),
        (b"PK\x03\x04abc", "a zip archive", "unzip -p x.txt"),
        (b"%PDF-1.7\n", "a PDF", "pdftotext x.txt"),
        (b"PAR1abc", "a Parquet table", "pandas"),
        ("h\u00e9llo\n".encode("utf-16"), "UTF-16", "iconv -f UTF-16 -t UTF-8 x.txt"),
        ("hello\n".encode("utf-16-le"), "UTF-16", "iconv -f UTF-16LE"),
        ("hello\n".encode("utf-16-be"), "UTF-16", "iconv -f UTF-16BE"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_what_is_no_plain_text_is_named(tmp_path, monkeypatch, content, called, command):
    monkeypatch.chdir(tmp_path)
    path = Path("x.txt")
    path.write_bytes(content)
    with opened(path) as source, path.open("rb") as file:
        for read in (lambda: LineFile(path), lambda: list(read_lines(file, path)), lambda: list(chunks(source, 9))):
            with pytest.raises(DataError) as caught:
                read()
            assert str(caught.value).startswith(f"x.txt: is {called}, not plain text; run `") and command in str(
                caught.value
            )


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["x.gz", "x.bz2", "x.xz"])
def test_compressed_lines_are_lines(tmp_path, request, pack):
    path = tmp_path / request.node.callspec.id
    path.write_bytes(pack(b"un\ndeux\ntrois\n"))
    file = LineFile(path)
    assert [file[2], file[0], *file.chunks(9)] == ["trois", "un", ["un", "deux", "trois"]]
    assert file.sha256 == hashlib.sha256(b"un\ndeux\ntrois\n").hexdigest()
    with opened(path) as source:
        assert [chunk.text for chunk in chunks(source, 9)] == [b"un\ndeux\ntrois"]
    assert list(lines_of(path)) == ["un", "deux", "trois"]
    path.write_bytes(path.read_bytes()[:-4])
    with opened(path) as source:
        for read in (lambda: LineFile(path), lambda: list(chunks(source, 9)), lambda: list(lines_of(path))):
            with pytest.raises(DataError, match="truncated or damaged"):
                read()
