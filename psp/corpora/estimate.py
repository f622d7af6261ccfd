"""Estimate the number of pairs in a corpus file from a sample: exact for small files, fast for large ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO

from psp.core.errors import DataError
from psp.core.files import BUFFER_BYTES, opened
from psp.corpora.archive import only_text_member, open_member, open_zip

#: Bytes of text sampled: from PLACES positions of a plain file, from the beginning of others.
SAMPLE = 4 << 20
PLACES = 16


def count_lines(
    path: Path | str, member: str | None = None, *, end: bytes = b"\n", suffixes: tuple[str, ...] = (".txt", ".tsv")
) -> tuple[int, bool]:
    """Estimate the number of lines of a text file, which may be compressed, or of a member of a .zip.

    Args:
        path: the file.
        member: name of the zip member; None for the only one with one of the suffixes.
        end: what ends a line, or another part that is counted.

    Returns:
        The number of lines, and whether it is exact.

    Raises:
        DataError: the file is missing, damaged in the part read, or has no such member.
        PspError: the package for .zst is not installed.
    """
    path = Path(path)
    if path.suffix.lower() == ".zip":
        with open_zip(path) as archive:
            name = member or only_text_member(archive, path, suffixes)
            if name not in archive.namelist():
                raise DataError(f"no member {name}; check the corpus's name", path)
            with open_member(archive, name, path) as stream:
                return _scaled(stream.read(SAMPLE), archive.getinfo(name).file_size, end)
    with opened(path) as (file, stream):
        size = os.fstat(file.fileno()).st_size
        if stream is file:
            return _of_plain(file, size, end)
        return _of_packed(file, stream, size, end)


def _of_plain(file: IO[bytes], size: int, end: bytes) -> tuple[int, bool]:
    if size <= SAMPLE:
        return _scaled(file.read(), size, end)
    text = b""
    for place in range(PLACES):
        file.seek(place * (size - SAMPLE // PLACES) // (PLACES - 1))
        text += file.read(SAMPLE // PLACES)
    return _scaled(text, size, end)


def _of_packed(file: IO[bytes], stream: IO[bytes], size: int, end: bytes) -> tuple[int, bool]:
    """Estimate from the position in the packed file, which is read in blocks, ahead of the unpacked text."""
    lines = unpacked = read = 0
    rate, last = 0.0, end  # unpacked bytes per packed byte
    while chunk := stream.read(BUFFER_BYTES):
        if (now := file.tell()) != read:  # what was read before gave what was unpacked before
            rate = unpacked / read if read else 0.0
            read = now
        lines, unpacked, last = lines + chunk.count(end), unpacked + len(chunk), chunk
        if unpacked >= SAMPLE and rate:
            return round(lines / unpacked * rate * size), False
    return lines + _unended(last, end), True


def _scaled(text: bytes, size: int, end: bytes) -> tuple[int, bool]:
    """Scale the line count of a sample (or the whole) to a text of ``size`` bytes."""
    lines = text.count(end)
    if len(text) >= size:
        return lines + _unended(text, end), True
    return round(lines * size / len(text)), False


def _unended(text: bytes, end: bytes) -> bool:
    """Whether a text's last line lacks its end."""
    return end == b"\n" and bool(text) and not text.endswith(end)
