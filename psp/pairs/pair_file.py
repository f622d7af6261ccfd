r"""The parser of pair files: reads blocks of whole lines, for stages that cannot afford a Python call per line.

A pair file has lines ``source \t target \n`` or, if the corpus has scores, ``source \t target \t score \n``; if the
corpus has translation scores, the filters write them as a fourth column. A mixed pair file always has a third column:
the index of the corpus. All lines are checked here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt

from psp.core.errors import DataError
from psp.core.files import check_plain
from psp.text.lines import read_lines

BLOCK_BYTES = 4 << 20  # str.lower() of a block takes another 12 bytes for each of its characters

SPLIT_BYTES = 1 << 16  # of a block whose cells become strings: they stay in the processor's cache

_NOT_SEPARATORS = bytes(byte for byte in range(256) if byte not in b"\t\n")


def blocks(path: Path, size: int | None = None) -> Iterator[tuple[int, bytes]]:
    r"""Yield whole lines of a file, about ``size`` bytes (``BLOCK_BYTES``) at a time, and the first line's number.

    Each line keeps its ``\n``; the last one gets one if it has none.

    Raises:
        DataError: the file cannot be opened.
    """
    number = 1
    parts: list[bytes] = []
    with _opened(path) as file:
        while chunk := file.read(size or BLOCK_BYTES):
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
    r"""Split a block into lines, without their ``\n``."""
    rows = block.split(b"\n")
    rows.pop()
    return rows


class Layout(NamedTuple):
    """The required form of each line of a file.

    Attributes:
        columns: 2 to 4.
        named: which they are, for errors.
        scores: the columns after the second must hold finite numbers.
        own: the file may be written by hand, so errors say what to do with a line; files of the workflow must be made
            again.
    """

    columns: int
    named: str
    scores: bool = False
    own: bool = False


PAIR = Layout(2, "a pair has 2 (source, tab, target)")
SCORED = Layout(3, "a pair has 3 (source, target, score)", scores=True)
TRANSLATED = Layout(4, "a pair has 4 (source, target, score, translation score)", scores=True)
MIXED = Layout(3, "a mixed pair has 3 (source, target, corpus)")
_OWN = {number: Layout(number, f"the first line has {number}", own=True) for number in (2, 3)}
_AGAIN = "delete the file and make it again"


def layout_of(path: Path) -> Layout:
    """The layout of a pair file of the workflow (not a mixed one), from its first line, which all others must match.

    Raises:
        DataError: the file cannot be opened.
    """
    with _opened(path) as file:
        return {2: SCORED, 3: TRANSLATED}.get(file.readline().count(b"\t"), PAIR)


def own_layout(path: Path) -> Layout:
    """Detect the layout of a file that may be written by hand, a pair file or a mixed one, by its first line.

    Raises:
        DataError: the file cannot be opened, is no plain text, or its first line has neither two nor three columns.
    """
    with _opened(path) as file:
        first = file.readline()
    check_plain(first, path)
    if (columns := first.count(b"\t") + 1) not in _OWN and first:
        raise DataError(
            f"{columns} columns; write a source, a tab and a target, optionally followed by another tab and the index "
            "of the corpus",
            path,
            1,
        )
    return _OWN.get(columns, _OWN[2])


def text_of(block: bytes, path: Path, number: int, layout: Layout = PAIR) -> str:
    """Decode and check a block of a file; ``number`` is that of its first line, for errors.

    Raises:
        DataError: a line has the wrong number of columns, no valid score, or is not UTF-8.
    """
    line_ends = (b"\t" * (layout.columns - 1) + b"\n") * block.count(b"\n")
    if block.translate(None, _NOT_SEPARATORS) != line_ends:
        for line_number, line in enumerate(rows_of(block), start=number):
            columns = line.count(b"\t") + 1
            if columns != layout.columns:
                advice = "use tabs only between columns" if layout.own else _AGAIN
                raise DataError(f"{columns} columns where {layout.named}; {advice}", path, line_number)
    if layout.scores:
        _check_scores(block, path, number, layout.columns - 2)
    try:
        return block.decode()
    except UnicodeDecodeError as error:
        line_number = number + block.count(b"\n", 0, error.start)
        advice = "convert the file" if layout.own else _AGAIN
        raise DataError(f"not UTF-8 (a byte {block[error.start]:#04x}); {advice}", path, line_number) from None


def columns_of(block: bytes, path: Path, number: int, layout: Layout) -> list[list[str]]:
    """Split a block of a file into columns, one element per line, and check them; no side is without text.

    Raises:
        DataError: as :func:`text_of`; or a side without text.
    """
    # All lines at once: a fifth of the time.
    cells = text_of(block, path, number, layout).replace("\n", "\t").split("\t")[:-1]
    columns = [cells[column :: layout.columns] for column in range(layout.columns)]
    for side in columns[:2]:
        if not all(map(str.strip, side)):
            line = number + next(place for place, text in enumerate(side) if not text.strip())
            advice = "leave the line out" if layout.own else _AGAIN
            raise DataError(f"a side without text; {advice}", path, line)
    return columns


def corpus_indices(
    names: Sequence[str] | Sequence[bytes], corpora: int | None, path: Path, number: int, layout: Layout = MIXED
) -> npt.NDArray[np.int64]:
    """Parse third columns as indices of corpora, int64; ``number`` is that of the first line, for errors.

    Args:
        corpora: how many there are; None accepts any number.

    Raises:
        DataError: a column is not an index of a corpus.
    """
    if corpora is None:
        indices = [int(name) if name.isascii() and name.isdigit() and len(name) < 10 else -1 for name in names]
    else:
        known: dict[str | bytes, int] = {form: at for at in range(corpora) for form in (f"{at}", b"%d" % at)}
        indices = [known.get(name, -1) for name in names]
    if -1 in indices:
        name = names[place := indices.index(-1)]
        text = name if isinstance(name, str) else name.decode(errors="replace")
        which = "not the index of a corpus" if corpora is None else f"not the index of one of the {corpora} corpora"
        advice = "leave it out" if layout.own else _AGAIN
        raise DataError(f"the third column is {text!r}, {which}; {advice}", path, number + place)
    return np.array(indices, dtype=np.int64)


def last_column(row: bytes) -> bytes:
    """The last column of a row: a score, or the index of a corpus."""
    return row[row.rindex(b"\t") + 1 :]


def without_last_column(row: bytes) -> bytes:
    """Remove the last column of a row, and the tab before it."""
    return row[: row.rindex(b"\t")]


def sides_of(row: bytes) -> tuple[str, str]:
    """The source and the target of a checked row."""
    source, target = row.decode().split("\t")[:2]
    return source, target


def scores_of(row: bytes, columns: int = 1) -> list[float]:
    """Parse the last columns of a row as numbers."""
    return [float(text) for text in row.rsplit(b"\t", columns)[1:]]


def _check_scores(block: bytes, path: Path, number: int, columns: int) -> None:
    for line_number, line in enumerate(rows_of(block), start=number):
        try:
            sound = all(map(math.isfinite, scores_of(line, columns)))
        except ValueError:
            sound = False
        if not sound:
            text = line.split(b"\t", 2)[2].replace(b"\t", b" ").decode(errors="replace")
            raise DataError(f"the score {text!r} is not a finite number; {_AGAIN}", path, line_number)


def write_rows(file: IO[bytes], rows: Sequence[bytes]) -> None:
    r"""Write lines, each with ``\n`` after it."""
    if rows:
        file.write(b"\n".join(rows))
        file.write(b"\n")


def read_pairs(path: Path | str) -> tuple[list[str], list[str]]:
    """Read both sides of a pair file or mixed pair file.

    Raises:
        DataError: no such file, no pairs, a line with another number of columns than the first, or one not UTF-8.
    """
    path = Path(path)
    layout = own_layout(path)
    source: list[str] = []
    target: list[str] = []
    for number, block in blocks(path):
        cells = text_of(block, path, number, layout).replace("\n", "\t").split("\t")[:-1]
        source += cells[0 :: layout.columns]
        target += cells[1 :: layout.columns]
    if not source:
        raise DataError("no pairs", path)
    return source, target


def read_mixed(path: Path) -> Iterator[tuple[str, str, str]]:
    r"""Read a mixed pair file: ``source \t target \t index \n``, with the index as written.

    Raises:
        DataError: no such file, not UTF-8, a line without three columns, or a side without text.
    """
    for number, block in blocks(path, SPLIT_BYTES):
        yield from zip(*columns_of(block, path, number, MIXED), strict=True)


def read_sides(path: Path) -> Iterator[tuple[str, str]]:
    """Read the sides of a file that may be written by hand, a pair file or a mixed one, a pair at a time.

    Raises:
        DataError: no such file, not UTF-8, a line with another number of columns than the first, or a side without
            text.
    """
    layout = own_layout(path)
    for number, block in blocks(path, SPLIT_BYTES):
        yield from zip(*columns_of(block, path, number, layout)[:2], strict=True)


def read_dropped(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The lines of a sample of dropped pairs (.dropped.tsv): the reason, and the columns after it.

    Raises:
        DataError: no such file, or not UTF-8.
    """
    with _opened(path) as file:
        for line in read_lines(file, path):
            reason, *columns = line.split("\t")
            yield reason, columns


def _opened(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
