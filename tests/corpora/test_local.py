"""Reading one's own files: the same rows however they are packed, and no file that is cut short passes for whole."""

from __future__ import annotations

import sys
import tracemalloc
from pathlib import Path

import pytest

from psp.core.errors import DataError, PspError
from psp.core.files import opened
from psp.corpora import open_corpus
from tests.corpora.conftest import packed

PAIRS = [(f"Satz Nummer {number} {'x' * (number % 7)}", f"phrase numéro {number}") for number in range(5000)]
SCORED = [(*pair, number / 7) for number, pair in enumerate(PAIRS)]
PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
ENDINGS = (".tsv", ".TSV.GZ", *(f".txt{ending}" for ending in PACKED))


def lines(rows: list) -> bytes:
    return "".join("\t".join(map(str, row)) + "\n" for row in rows).encode()


def fails(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        list(open_corpus("local", path))
    message = str(caught.value)
    assert message.startswith(str(path)) and "\n" not in message
    return message


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("rows", [PAIRS, SCORED, PAIRS[:1]])
def test_the_same_rows_however_it_is_compressed(tmp_path, ending, rows):
    path = packed(tmp_path / f"pairs{ending}", lines(rows))
    assert list(open_corpus("local", path)) == rows
    assert list(open_corpus("local", path, "pairs", ("de", "fr"))) == rows


def test_odd_characters_a_mark_and_a_last_line_without_end(tmp_path):
    rows = [("\u2028a\u0085", "b\r"), ("\x1c", "\ufeff")]
    path = packed(tmp_path / "a.tsv", "\ufeffOne\tTwo\n".encode() + lines(rows)[:-1])
    assert list(open_corpus("local", path)) == [("One", "Two"), *rows]
    assert list(open_corpus("local", packed(tmp_path / "empty.tsv", b""))) == []


@pytest.mark.parametrize("ending", PACKED)
def test_every_truncation_is_found(tmp_path, ending):
    path = packed(tmp_path / f"a{ending}", lines(PAIRS))
    whole = path.read_bytes()
    step = len(whole) // 60
    for size in [0, 1, *range(2, len(whole), step), len(whole) - 1]:
        path.write_bytes(whole[:size])
        if ending == ".gz" and size == 0:
            continue  # an empty file is a sound .gz of nothing
        if ending == ".zst" and size == _first_frame(whole):
            continue
        message = fails(path)
        assert "truncated" in message or "not a valid" in message


def _first_frame(data: bytes) -> int:
    import zstandard

    frame = zstandard.ZstdDecompressor().decompressobj()
    frame.decompress(data)
    return len(data) - len(frame.unused_data)


@pytest.mark.parametrize("ending", PACKED)
def test_what_is_not_what_its_name_says(tmp_path, ending):
    path = tmp_path / f"a{ending}"
    path.write_bytes(lines(PAIRS))
    message = fails(path)
    assert "damaged" in message or "not a valid" in message


def test_a_missing_file_and_a_folder(tmp_path):
    assert "No such file" in fails(tmp_path / "none.tsv")
    assert "Is a directory" in fails(tmp_path)
    assert "No such file" in fails(tmp_path / "none.zst")


def test_bytes_that_are_not_utf8_name_the_line(tmp_path):
    """One is a bad row, as are the halves of a character that some programs write (CESU-8), and a NUL of two bytes."""
    broken = [b"caf\xe9\tb", b"a\t\xed\xa0\xbd\xed\xb8\x80", b"a\xc0\x80b\tc"]
    path = packed(tmp_path / "a.tsv.gz", b"a\tb\n" + b"\n".join(broken) + "\nd\té\n".encode())
    rows = list(open_corpus("local", path))
    assert [row.reason for row in rows[1:4]] == ["row: not UTF-8"] * 3 and rows[1].text == "caf\ufffd\u2409b"
    assert (rows[0], rows[4]) == (("a", "b"), ("d", "é"))
    message = fails(packed(tmp_path / "a.tsv.gz", b"a\tb\n" + b"\xe9\tb\n" * 101))
    assert "a.tsv.gz, line 2: not UTF-8 (byte 1 of the line is 0xe9); 101 of the first 102 rows are wrong" in message


def test_a_file_of_another_kind_is_an_error(tmp_path):
    assert "line 1: 1 column instead of 2, 3 or 4" in fails(packed(tmp_path / "a.csv", b"a,b\n" * 20_000))
    assert "5 of the first 5 rows" in fails(packed(tmp_path / "b.csv", b"a,b\n" * 5))


def test_without_zstandard_the_extra_is_named(tmp_path, monkeypatch):
    path = packed(tmp_path / "a.zst", lines(PAIRS))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(PspError, match=r"a\.zst: reading \.zst needs zstandard: pip install 'paraphrastic\[data\]'"):
        list(open_corpus("local", path))


def test_an_unfinished_reading_closes_the_file(tmp_path):
    for ending in ENDINGS:
        path = packed(tmp_path / f"a{ending}", lines(PAIRS))
        rows = open_corpus("local", path)
        assert next(iter(rows)) == PAIRS[0]
        rows.close()  # type: ignore[attr-defined]
        held = [entry.resolve() for entry in Path("/proc/self/fd").iterdir()] if Path("/proc/self/fd").exists() else []
        assert path not in held


def test_a_zstd_bomb_is_refused_before_it_fills_the_memory(tmp_path):
    """64 kB of blocks that each stand for 128 KiB of one byte."""
    pytest.importorskip("zstandard")
    block = ((131072 << 3) | (1 << 1)).to_bytes(3, "little") + b"a"
    path = tmp_path / "a.tsv.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00\x38" + block * 16_000)
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"a line of more than 1,048,576 bytes"):
            list(open_corpus("local", path))
        with opened(path) as (_, stream), pytest.raises(DataError, match="more than 200 times its size unpacked"):
            while stream.read(1 << 16):
                pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 100 << 20
