"""Hold pairs out for validation, and drop the training pairs that share a side with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import IO

from psp.core.logs import Progress
from psp.pairs.pair_file import blocks, last_column, rows_of, sides_of, write_rows
from psp.text.keys import latin_print, normalised_columns, normalised_key
from psp.text.normalisation import with_same_letters


def choose(path: Path, wanted: int, text: Collection[int] = ()) -> tuple[set[int], set[str]]:
    """Choose the first ``wanted`` rows of a mixed pair file that can be held out, or fewer if it has fewer.

    A row can be held out if neither side's key (:func:`psp.text.keys.normalised_key`) is empty or equal to that of a
    side of a row already held out; and not if it is of one of the corpora ``text``, sentences without another side.

    Returns:
        The rows' numbers, from 0, and the keys of all their sides.
    """
    chosen: set[int] = set()
    keys: set[str] = set()
    row = -1
    sentences = {str(index) for index in text}
    if wanted < 1:
        return chosen, keys
    for _, block in blocks(path):
        columns = normalised_columns(block.decode())
        for source, target, index in zip(columns[0::3], columns[1::3], columns[2::3], strict=True):
            row += 1
            if index not in sentences and source and target and source not in keys and target not in keys:
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
    first = 0
    prints = {latin_print(key.encode()) for key in keys}
    for _, block in blocks(path):
        rows = rows_of(block)
        count = len(rows)
        near = _near(block, rows, keys, prints) if keys else []
        for number in near:
            row = rows[number]
            index = int(last_column(row))
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
    text = with_same_letters(block.decode())
    columns = latin_print(text.encode()).replace(b"\n", b"\t").split(b"\t")
    sides = zip(columns[0:-1:3], columns[1:-1:3], strict=True)
    maybe = [number for number, (source, target) in enumerate(sides) if source in prints or target in prints]
    # A key in another script has an empty print, and then nearly all rows may be near: compute the keys in bulk.
    if len(maybe) > len(rows) // 8:
        texts = normalised_columns(block.decode())  # of a ligature and a mark, twice gives other letters than once
        return [number for number in maybe if texts[3 * number] in keys or texts[3 * number + 1] in keys]
    return [number for number in maybe if any(normalised_key(side) in keys for side in sides_of(rows[number]))]
