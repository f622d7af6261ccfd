"""Records of ranked pairs, the value and the hash of each: sorted on disk, and the search for the bounds of deciles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from psp.core.files import atomic_bytes

WORDS = 3  # of 64 bits: the value, and the two halves of the hash
RUN = 4 << 20  # records that are sorted in memory at once, which takes 50 bytes each

Words = npt.NDArray[np.uint64]


class Place(NamedTuple):
    """A record, and in each run the span of those that equal it."""

    record: tuple[int, ...]
    spans: list[tuple[int, int]]

    @property
    def below(self) -> int:
        """How many records are below it."""
        return sum(first for first, _ in self.spans)


def find_rank(runs: Sequence[Words], rank: int) -> Place:
    """Find the record that would be at this place, from 0, if those of all runs were sorted.

    Args:
        runs: uint64, each column a record and more, ascending by its first three words.
    """
    record: tuple[int, ...] = ()
    spans = [(0, run.shape[1]) for run in runs]  # of the records that begin with the words found so far
    for word in range(WORDS):
        columns = [run[word, first:last] for run, (first, last) in zip(runs, spans, strict=True)]
        inside = rank - sum(first for first, _ in spans)
        low, high = 0, 2**64 - 1
        while low < high:
            middle = (low + high) // 2
            if sum(int(column.searchsorted(np.uint64(middle), "right")) for column in columns) > inside:
                high = middle
            else:
                low = middle + 1
        record += (low,)
        ends = ([int(column.searchsorted(np.uint64(low), side)) for side in ("left", "right")] for column in columns)
        spans = [(first + left, first + right) for (first, _), (left, right) in zip(spans, ends, strict=True)]
    return Place(record, spans)


def write_sorted(found: Iterable[Words], out: Path) -> None:
    """Write records in runs, each sorted in memory.

    Args:
        found: arrays of records, a row of three words each; a run is of at least ``RUN`` records, of whole arrays.
        out: native uint64: of each run the number of its records, then an array of 4 rows and a column for each of
            these: its three words, by which the columns are sorted, and its number in the run, from 0.

    Raises:
        DataError: the disk is full.
    """
    with atomic_bytes(out) as file:
        run: list[Words] = []
        for part in found:
            run.append(part)
            if sum(map(len, run)) >= RUN:
                _write_run(run, file)
        if run:
            _write_run(run, file)


def _write_run(run: list[Words], file: IO[bytes]) -> None:
    words = np.concatenate(run).T
    run.clear()  # they are half of the memory
    order = np.lexsort(words[::-1])
    for row in (np.array(len(order)), *(word[order] for word in words), order):
        file.write(row.astype(np.uint64, copy=False).data)


def read_sorted(path: Path) -> list[Words]:
    """Map the runs that :func:`write_sorted` wrote."""
    size, start = path.stat().st_size, 0
    runs: list[Words] = []
    while start < size:
        number = int(np.fromfile(path, np.uint64, 1, offset=start)[0])
        runs.append(np.memmap(path, np.uint64, "r", start + 8, (WORDS + 1, number)))
        start += 8 + runs[-1].nbytes
    return runs


def records(values: Iterator[float], keys: Sequence[bytes], seed: int) -> Words:
    """The records of rows: their values, as words of the same order, and the hashes of their keys."""
    records = np.empty((len(keys), WORDS), np.uint64)
    bits = (np.fromiter(values, np.float64, len(keys)) + 0.0).view(np.uint64)  # -0.0 is 0.0
    sign = np.uint64(1 << 63)
    records[:, 0] = np.where(bits & sign, ~bits, bits | sign)
    hashes = b"".join(map(xxhash.xxh3_128_digest, keys, repeat(seed)))
    records[:, 1:] = np.frombuffer(hashes, ">u8").astype(np.uint64).reshape(-1, 2)
    return records


def value_of(word: int) -> float:
    """The value encoded in a record's first word."""
    bits = word ^ (1 << 63) if word >> 63 else word ^ ((1 << 64) - 1)
    return float(np.uint64(bits).view(np.float64))
