"""Limits: what they refuse."""

import gzip
import io
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from psp.core import files
from psp.core.errors import DataError
from psp.core.files import HARMLESS_BYTES, check_plain
from psp.corpora import open_corpus
from psp.evaluation.testsets import StsSource
from psp.inference.streaming import chunks, opened
from psp.models.table import read_table
from psp.models.word_vectors import read_vectors
from psp.text.lines import LineFile, raw_lines, read_lines


def test_a_line_too_long_is_named_wherever_it_stands(monkeypatch):
    monkeypatch.setattr(files, "LINE_BYTES", 2000)
    for reader in (read_lines, raw_lines):
        for text, number in (
            (b"a\n" + b"b" * 2001 + b"\nc\n", 2),
            (b"b" * 2001, 1),
            (b"a\n" * 100_000 + b"b" * 200_000, 100_001),
        ):
            with pytest.raises(DataError, match=rf"x, line {number}: a line of more than 2,000 bytes"):
                list(reader(io.BufferedReader(io.BytesIO(text)), "x"))
        assert len(list(reader(io.BytesIO(b"b" * 2000 + b"\n" + b"c" * 2000), "x"))) == 2


def test_a_line_without_an_end_does_not_fill_the_memory():
    class Endless(io.RawIOBase):
        given = 0

        def readable(self) -> bool:
            return True

        def readinto(self, buffer) -> int:
            self.given += len(buffer)
            assert self.given < 4 << 20
            buffer[:] = b"x" * len(buffer)
            return len(buffer)

    with pytest.raises(DataError, match=r"line 1: a line of more than 1,048,576 bytes"):
        list(read_lines(io.BufferedReader(Endless(), 1 << 16), "x"))


def test_of_files_to_embed_and_to_search_too(tmp_path, monkeypatch):
    path = tmp_path / "t.txt"
    path.write_bytes(b"a\n" + b"b" * 900_000 + b"\nc\n")
    with opened(path) as source:
        assert sum(chunk.rows for chunk in chunks(source, 10)) == 3
    assert len(LineFile(path)) == 3
    monkeypatch.setattr(files, "LINE_BYTES", 500_000)
    said = r"t\.txt, line 2: a line of more than 500,000 bytes;"
    with opened(path) as source, pytest.raises(DataError, match=said):
        list(chunks(source, 10))
    with pytest.raises(DataError, match=said):
        LineFile(path)


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(1, 50))
@example([b"\xfe\xff"], 2)
def test_lines_are_those_of_a_stream(rows, size):
    data = b"\n".join(rows)

    class Small(io.BytesIO):
        def read1(self, count=-1):
            return super().read1(min(count, size))

    plain = list(io.BytesIO(data))
    try:
        check_plain(data, "x")
    except DataError:
        assume(False)  # it begins as an archive or UTF-16 does
    assert list(raw_lines(Small(data), "x")) == plain
    try:
        wanted = [line.removesuffix(b"\n").decode() for line in plain]
    except UnicodeDecodeError:
        found = []
        with pytest.raises(DataError, match="not UTF-8"):
            found.extend(read_lines(Small(data), "x"))
    else:
        assert list(read_lines(Small(data), "x")) == wanted


def bomb(path: Path, name: str = "a.txt", size: int = HARMLESS_BYTES + 1) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b"a b\n" * (size // 4 + 1))
    return path


@pytest.mark.slow
def test_archives_and_compressed_files_that_grow_too_much(tmp_path, monkeypatch):
    packed = bomb(tmp_path / "p.zip")
    said = r"p\.zip: the member a\.txt has more than 200 times its size unpacked"
    for kind in ("paranmt", "local"):
        with pytest.raises(DataError, match=said):
            list(open_corpus(kind, packed, "", ("", "")))
    squeezed = tmp_path / "g.tsv.gz"
    squeezed.write_bytes(gzip.compress(b"a\tb\n" * (HARMLESS_BYTES // 4 + 1)))
    with pytest.raises(DataError, match=r"g\.tsv\.gz: has more than 200 times its size unpacked"):
        list(open_corpus("local", squeezed, "", ("", "")))
    vectors = tmp_path / "v.txt.gz"
    vectors.write_bytes(gzip.compress(b"a 1.0 2.0\n" * (HARMLESS_BYTES // 10 + 1)))
    with pytest.raises(DataError, match=r"v\.txt\.gz: has more than 200 times its size unpacked"):
        read_vectors(vectors)
    sets = bomb(tmp_path / "s.zip", "STS15-en-test/STS.input.images.txt")
    with StsSource(sets) as source, pytest.raises(DataError, match=r"STS\.input\.images\.txt has more than 200 times"):
        source.lines("STS15-en-test", "STS.input.images.txt")
    monkeypatch.setattr(files, "RATIO", 5000)
    monkeypatch.setattr(files, "UNPACKED_BYTES", 10_000_000)
    with pytest.raises(DataError, match=r"more than 10,000,000 bytes unpacked"):
        list(open_corpus("local", squeezed, "", ("", "")))
    monkeypatch.setattr(files, "UNPACKED_BYTES", 200_000_000_000)
    assert sum(1 for _ in open_corpus("local", squeezed, "", ("", ""))) == HARMLESS_BYTES // 4 + 1


def test_a_header_of_gigabytes_is_not_read(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", 3 << 30) + b"{")
    with pytest.raises(DataError, match=r"a header of 3,221,225,472 bytes, where 16,777,216 are allowed"):
        read_table(path)
