"""Lines by their numbers, against the plain way."""

from __future__ import annotations

import hashlib
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.text import lines as lines_module
from psp.text.lines import LineFile

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
