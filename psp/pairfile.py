r"""Pair files in bulk: whole lines by the megabyte, for stages that cannot afford a Python call a line.

A pair file has lines ``source \t target \n``, or, where the corpus carries scores, ``source \t target \t score \n``; a
mixed pair file always has a third column, the index of the corpus.
"""

from __future__ import annotations

import contextlib
import math
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


def has_scores(path: Path) -> bool:
    """Whether a pair file has a third column, the score; its first line tells, and all others must be like it.

    Raises:
        DataError: the file cannot be opened.
    """
    try:
        with path.open("rb") as file:
            return file.readline().count(b"\t") == 2
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error


def without_last_column(row: bytes) -> bytes:
    """A row less its last column and the tab before it."""
    return row[: row.rindex(b"\t")]


def text_of(block: bytes, path: Path, number: int, scores: bool = False) -> str:
    """The text of a block of a pair file, checked; ``number`` is that of its first line, for errors.

    Args:
        scores: there is a third column, which must hold a finite number.

    Raises:
        DataError: a line has another number of columns, no sound score, or is not UTF-8.
    """
    expected = b"\t\t\n" if scores else b"\t\n"
    if block.translate(None, _NOT_SEPARATORS) != expected * block.count(b"\n"):
        wanted, named = (3, "source, target, score") if scores else (2, "source, tab, target")
        for line_number, line in enumerate(rows_of(block), start=number):
            columns = line.count(b"\t") + 1
            if columns != wanted:
                raise DataError(
                    f"{columns} columns where a pair has {wanted} ({named}); delete the file and make it again",
                    path,
                    line_number,
                )
    if scores:
        _check_scores(block, path, number)
    try:
        return block.decode()
    except UnicodeDecodeError as error:
        line_number = number + block.count(b"\n", 0, error.start)
        raise DataError("not UTF-8; delete the file and make it again", path, line_number) from None


def score_of(row: bytes) -> float:
    """The last column of a row, as a number."""
    return float(row[row.rindex(b"\t") + 1 :])


def _check_scores(block: bytes, path: Path, number: int) -> None:
    for line_number, line in enumerate(rows_of(block), start=number):
        try:
            sound = math.isfinite(score_of(line))
        except ValueError:
            sound = False
        if not sound:
            text = line[line.rindex(b"\t") + 1 :].decode(errors="replace")
            raise DataError(f"the score {text!r} is no number; delete the file and make it again", path, line_number)


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
