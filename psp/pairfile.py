r"""Pair files in bulk: whole lines by the megabyte, for stages that cannot afford a Python call a line.

A pair file has lines ``source \t target \n``; a mixed pair file has a third column, the index of the corpus.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from psp.errors import DataError
from psp.files import _alive

BLOCK_BYTES = 4 << 20  # str.lower() of a block takes another 12 bytes for each of its characters

_NOT_SEPARATORS = bytes(byte for byte in range(256) if byte not in b"\t\n")


def blocks(path: Path) -> Iterator[tuple[int, bytes]]:
    r"""Whole lines of a file, about ``BLOCK_BYTES`` at a time, and the number of the first of them, from 1.

    Each line has its ``\n``; the file's last is given one where it has none.

    Raises:
        DataError: the file cannot be opened.
    """
    number = 1
    parts: list[bytes] = []
    try:
        file = path.open("rb")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    with file:
        while chunk := file.read(BLOCK_BYTES):
            end = chunk.rfind(b"\n") + 1
            if end:
                block = b"".join([*parts, chunk[:end]])
                yield number, block
                number += block.count(b"\n")
                parts = []
            parts.append(chunk[end:])
    if last := b"".join(parts):
        yield number, last + b"\n"


def rows_of(block: bytes) -> list[bytes]:
    r"""The lines of a block without their ``\n``."""
    rows = block.split(b"\n")
    rows.pop()
    return rows


def text_of(block: bytes, path: Path, number: int) -> str:
    """The text of a block of a pair file, checked; ``number`` is that of its first line, for errors.

    Raises:
        DataError: a line does not have two columns or is not UTF-8.
    """
    if block.translate(None, _NOT_SEPARATORS) != b"\t\n" * block.count(b"\n"):
        for line_number, line in enumerate(rows_of(block), start=number):
            columns = line.count(b"\t") + 1
            if columns != 2:
                raise DataError(
                    f"{columns} columns where a pair has 2 (source, tab, target); delete the file and make it again",
                    path,
                    line_number,
                )
    try:
        return block.decode()
    except UnicodeDecodeError as error:
        line_number = number + block.count(b"\n", 0, error.start)
        raise DataError("not UTF-8; delete the file and make it again", path, line_number) from None


def write_rows(file: IO[bytes], rows: Sequence[bytes]) -> None:
    r"""Write lines, each with ``\n`` after it."""
    if rows:
        file.write(b"\n".join(rows))
        file.write(b"\n")


@contextlib.contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """A temporary folder beside ``path``, removed in the end; those that dead processes left are removed first.

    Raises:
        DataError: it cannot be made.
    """
    stem = f".{path.name}.{re.sub(r'[^A-Za-z0-9-]', '-', socket.gethostname())}."
    folder = path.with_name(f"{stem}{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for entry in list(path.parent.iterdir()):
            match = re.fullmatch(re.escape(stem) + r"(\d+)\.tmp", entry.name)
            if match and (int(match[1]) == os.getpid() or not _alive(int(match[1]))):
                shutil.rmtree(entry, ignore_errors=True)
        folder.mkdir()
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", folder) from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
