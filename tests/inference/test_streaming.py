r"""Lines by the chunk, against reading them one by one."""

from __future__ import annotations

import io
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.inference.streaming import TEXT_BYTES, Chunker, ChunkSource, chunks, opened, texts_of
from psp.text.lines import read_lines

# Everything that other readers take for a line's end, and bytes that are no UTF-8.
_bytes = st.lists(
    st.sampled_from(
        [b"\n", b"\n\n", b"\r", b"\r\n", b"\x0b\x0c", "\x85\u2028".encode(), b"a", "日本".encode(), b" b\tc "]
    )
).map(b"".join)
_broken = st.lists(st.sampled_from([b"\n", b"a", "é".encode(), b"\xff", "日".encode()[:2]])).map(b"".join)


def cut(data: bytes, reads: list[int], rows: int, size: int) -> list:
    """All chunks, however the reads end."""
    chunker = Chunker(rows, size)
    made, start = [], 0
    for length in reads:
        made += chunker.feed(data[start : start + length])
        start += length
    return [*made, *chunker.feed(data[start:]), *chunker.end()]


@given(data=_bytes, reads=st.lists(st.integers(1, 9), max_size=30), rows=st.integers(1, 5), size=st.integers(1, 12))
@example(data=b"aaaa\n", reads=[4], rows=1, size=4)
@example(data=b"a\n" * 9, reads=[], rows=4, size=100)
def test_chunks_are_the_lines_in_their_order(data, reads, rows, size):
    made = cut(data, reads, rows, size)
    assert made == cut(data, [], rows, size)  # the same chunks, so that a pipe's pace changes nothing
    texts, number = [], 1
    for chunk in made:
        assert chunk.first == number and 1 <= chunk.rows <= rows
        assert len(chunk.text) <= size or chunk.rows == 1
        lines, error = texts_of(chunk, "x")
        assert error is None and len(lines) == chunk.rows
        texts += lines
        number += chunk.rows
    assert texts == list(read_lines(io.BytesIO(data), "x"))


@given(data=_broken, rows=st.integers(1, 4), size=st.integers(1, 9))
@example(data=b"a\n\xff", rows=4, size=9)
@example(data=b"\xff\na", rows=4, size=9)
def test_a_line_that_is_not_utf8_is_named_and_those_before_it_are_there(data, rows, size):
    read, message = [], None
    try:
        for line in read_lines(io.BytesIO(data), "x"):
            read.append(line)
    except DataError as error:
        message = str(error)
    texts = []
    for chunk in cut(data, [], rows, size):
        lines, error = texts_of(chunk, "x")
        texts += lines
        if error is not None:
            assert str(error) == message
            break
    else:
        assert message is None
    assert texts == read


def test_parts_of_a_block_of_short_lines_are_of_one_size():
    assert [chunk.rows for chunk in cut(b"\n" * 2050, [], 2048, 10_000)] == [1025, 1025]


def test_a_long_line_is_read_in_linear_time_and_few_copies(monkeypatch):
    monkeypatch.setattr("psp.core.files.LINE_BYTES", 16 << 20)
    line = b"x" * (8 << 20)
    tracemalloc.start()
    made = list(chunks(ChunkSource(io.BytesIO(line + b"\nend"), "x"), 10))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [chunk.rows for chunk in made] == [1, 1] and made[0].text == line
    assert most < 4 * len(line)


def test_memory_is_that_of_a_chunk(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"some words on a line\n" * 1_000_000)
    tracemalloc.start()
    with opened(path) as source:
        rows = sum(chunk.rows for chunk in chunks(source, 2048))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert rows == 1_000_000 and source.read_so_far() == {"read": "100%"}
    assert most < 12 * TEXT_BYTES


def test_what_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="none: cannot be read: No such file"), opened(tmp_path / "none"):
        pass
    with pytest.raises(DataError, match="cannot be read: Is a directory"), opened(tmp_path):
        pass
    if Path("/proc/self/mem").exists():  # opens, and cannot be read from its start
        with (
            pytest.raises(DataError, match="mem: cannot be read: Input/output error"),
            opened("/proc/self/mem") as source,
        ):
            source.read()
    ours, _its = os.pipe()
    os.set_blocking(ours, False)
    with os.fdopen(ours, "rb", buffering=0) as stream, pytest.raises(DataError, match="temporarily unavailable"):
        ChunkSource(stream, "x").read()
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(DataError, match="standard input: is closed; name a file"), opened("-"):
        pass
