"""How many pairs a corpus's file holds, from a sample of it: exact for small files, and in no time for large ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from psp.corpora.archive import BUFFER_BYTES, only_text_member, open_member, open_zip
from psp.corpora.local import opened
from psp.errors import DataError

#: Bytes of text that are read; of a plain file in that many places, of others at their beginning.
SAMPLE = 4 << 20
PLACES = 16


def count_lines(path: Path | str, member: str | None = None) -> tuple[int, bool]:
    """About how many lines a file of text has: plain, .gz, .zst, or a member of a .zip.

    Args:
        path: the file.
        member: of a zip, the member's name; None for its only one with text.

    Returns:
        The number of lines, and whether it was counted to the end rather than estimated.

    Raises:
        DataError: the file is missing or damaged, as far as it was read, or has no such member.
        PspError: the package for .zst is not installed.
    """
    path = Path(path)
    if path.suffix.lower() == ".zip":
        with open_zip(path) as archive:
            name = member or only_text_member(archive, path, (".txt", ".tsv"))
            if name not in archive.namelist():
                raise DataError(f"no member {name}", path)
            with open_member(archive, name, path) as stream:
                return _scaled(stream.read(SAMPLE), archive.getinfo(name).file_size)
    with opened(path) as (file, stream):
        size = os.fstat(file.fileno()).st_size
        if stream is file:
            return _of_plain(file, size)
        return _of_packed(file, stream, size)


def _of_plain(file: IO[bytes], size: int) -> tuple[int, bool]:
    if size <= SAMPLE:
        return _scaled(file.read(), size)
    text = b""
    for place in range(PLACES):
        file.seek(place * (size - SAMPLE // PLACES) // (PLACES - 1))
        text += file.read(SAMPLE // PLACES)
    return _scaled(text, size)


def _of_packed(file: IO[bytes], stream: IO[bytes], size: int) -> tuple[int, bool]:
    """How far a file was read tells how much of it a sample is; it is read in blocks, ahead of what is unpacked."""
    lines = unpacked = read = 0
    rate, last = 0.0, b"\n"  # unpacked bytes of a packed one
    while chunk := stream.read(BUFFER_BYTES):
        if (now := file.tell()) != read:  # the blocks before are in what was unpacked before, and in part of this chunk
            rate = (unpacked + len(chunk) / 2) / read if read else 0.0
            read = now
        lines, unpacked, last = lines + chunk.count(b"\n"), unpacked + len(chunk), chunk[-1:]
        if unpacked >= SAMPLE and rate:
            return round(lines / unpacked * rate * size), False
    return lines + (last != b"\n"), True


def _scaled(text: bytes, size: int) -> tuple[int, bool]:
    """Lines of a text of that many bytes, of which ``text`` is a sample or the whole."""
    lines = text.count(b"\n")
    if len(text) >= size:
        return lines + (bool(text) and not text.endswith(b"\n")), True
    return round(lines * size / len(text)), False
