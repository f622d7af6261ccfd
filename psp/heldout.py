"""Pairs set aside for development, and the training pairs that are too much like them."""

from __future__ import annotations

import functools
import unicodedata
from collections import Counter
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from psp.pairfile import blocks, rows_of, write_rows
from psp.progress import Progress
from psp.text import normalised_key


def choose(path: Path, wanted: int) -> tuple[set[int], set[str]]:
    """The first ``wanted`` rows of a mixed pair file that can be held out, or as many as there are.

    A row can be held out when neither side's key (:func:`psp.text.normalised_key`) is empty or that of a side of a
    row before it that is held out.

    Returns:
        The numbers of the rows, from 0, and the keys of all their sides.
    """
    chosen: set[int] = set()
    keys: set[str] = set()
    row = -1
    if wanted < 1:
        return chosen, keys
    for _, block in blocks(path):
        columns = normalised_columns(block.decode())
        for source, target in zip(columns[0::3], columns[1::3], strict=True):
            row += 1
            if source and target and source not in keys and target not in keys:
                chosen.add(row)
                keys.update((source, target))
                if len(chosen) == wanted:
                    return chosen, keys
    return chosen, keys


def part(
    path: Path, chosen: set[int], keys: set[str], out: IO[bytes], heldout: IO[bytes], bar: Progress
) -> tuple[Counter[int], Counter[int]]:
    """Write the rows ``chosen`` of a mixed pair file to ``heldout``, and those with no side in ``keys`` to ``out``.

    Returns:
        By index of the corpus: the rows held out, and the rows dropped as their neighbours.
    """
    held: Counter[int] = Counter()
    neighbours: Counter[int] = Counter()
    prints = {_print(key.encode()) for key in keys}
    first = 0
    for _, block in blocks(path):
        rows = rows_of(block)
        count = len(rows)
        near = _near(block, rows, keys, prints) if keys else []
        for number in near:
            row = rows[number]
            index = int(row[row.rindex(b"\t") + 1 :])
            if first + number in chosen:
                held[index] += 1
                write_rows(heldout, [row])
            else:
                neighbours[index] += 1
        for number in reversed(near):
            del rows[number]
        write_rows(out, rows)
        first += count
        bar.add(count)
    return held, neighbours


def _near(block: bytes, rows: list[bytes], keys: set[str], prints: set[bytes]) -> list[int]:
    """Numbers of the rows of a block with a side whose key is in ``keys``, ascending."""
    columns = _print(block).replace(b"\n", b"\t").split(b"\t")
    sides = zip(columns[0:-1:3], columns[1:-1:3], strict=True)
    maybe = [number for number, (source, target) in enumerate(sides) if source in prints or target in prints]
    # A key in another script has an empty print, and then nearly all rows may be near: compute the keys in bulk.
    if len(maybe) > len(rows) // 8:
        texts = normalised_columns(block.decode())
        return [number for number in maybe if texts[3 * number] in keys or texts[3 * number + 1] in keys]
    return [
        number
        for number in maybe
        if any(normalised_key(side) in keys for side in rows[number].decode().split("\t")[:2])
    ]


def _print(block: bytes) -> bytes:
    """What is left of texts when only some ASCII letters and digits are kept: equal wherever their keys are equal.

    Takes 1 ns a byte where the keys themselves take 15, so it goes first.
    """
    return block.lower().translate(None, _not_printed())


@functools.cache
def _not_printed() -> bytes:
    """All bytes but tab, line feed, and those ASCII letters and digits that no other character is folded to.

    (The long s is folded to s, the Kelvin sign to k, a ligature to f and i: such letters say nothing.)
    """
    folded = {letter for point in range(0x80, 0x110000) for letter in chr(point).casefold() if letter.isascii()}
    printed = {byte for byte in range(0x80) if chr(byte).isalnum() and chr(byte) not in folded}
    return bytes(byte for byte in range(256) if byte not in printed and byte not in b"\t\n")


def normalised_columns(block: str) -> list[str]:
    """:func:`psp.text.normalised_key` of each column of whole lines, in one list for all the lines.

    Equal to calling it column by column (case folding looks at one character at a time) and 4 times as fast:
    on code points in numpy, where str.translate takes 46 ns a character of French.
    """
    points = np.frombuffer(block.casefold().encode("utf-32-le"), dtype=np.uint32)
    kept = points[_kept_points()[points]].tobytes().decode("utf-32-le")
    return kept.replace("\n", "\t").split("\t")[:-1]


@functools.cache
def _kept_points() -> npt.NDArray[np.bool_]:
    """For each code point whether it stays: letters, digits and marks as in a key, tab and line feed."""
    kept = np.fromiter((unicodedata.category(chr(point))[0] in "LNM" for point in range(0x110000)), dtype=np.bool_)
    kept[[ord("\t"), ord("\n")]] = True
    return kept
