r"""Deduplicate, cap and shuffle pairs, in memory that does not grow with the corpus.

One algorithm does all three. Each pair's key, its lower-cased line, gets a 128-bit xxh3 hash, and pairs are sorted by
that hash. Equal pairs then stand side by side, so all but one can be removed; and since the hash is unrelated to the
text's meaning, the order is random: a shuffle that depends only on the seed. On disk, rows are first split by the top
bits of the hash into buckets that each fit in memory; the sorted buckets, concatenated, are the sorted whole, so the
number of buckets does not change the output.

The published code deletes *every* copy of a duplicated pair (``sort | uniq -u``). Here one copy stays: the first, or
in a corpus with scores the first of those with the highest score.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import IO, TypedDict

import numpy as np
import numpy.typing as npt
import xxhash

from psp.core.files import atomic_bytes, folder_beside, write_json
from psp.core.logs import Progress
from psp.pairs.pair_file import (
    Layout,
    blocks,
    last_column,
    layout_of,
    rows_of,
    scores_of,
    text_of,
    without_last_column,
    write_rows,
)


class DedupeReport(TypedDict):
    """Deduplication and capping of one corpus; seen is duplicates plus capped plus kept."""

    format: int
    corpus: str
    seen: int  # pairs read
    duplicates: int  # pairs dropped because an earlier one is the same, ignoring case
    capped: int  # distinct pairs dropped by the corpus's cap
    kept: int  # pairs kept


log = logging.getLogger(__name__)

Hashes = npt.NDArray[np.uint64]

BUCKET_BYTES = 32 << 20  # a bucket in memory: its lines, their keys and hashes, about five times as much


def dedupe_corpus(
    in_path: Path,
    out: Path,
    report: Path,
    *,
    corpus: str,
    cap: int | None,
    seed: int,
    shards: int | None = None,
) -> DedupeReport:
    r"""Remove duplicates (ignoring case) from one corpus, then keep at most ``cap`` pairs, chosen at random.

    Args:
        in_path: a pair file, ``source \t target \n``, with or without a third column, the score. A fourth, the
            translation score, is left out.
        out: the pairs kept, with their scores, in hash order. Of pairs that differ at most in case the first stays, or
            with scores the first of those with the highest score; otherwise the order of the input does not matter.
        report: JSON with the numbers of pairs seen, duplicates, dropped by the cap, and kept. The same is returned.
        cap: the maximum number of pairs to keep (the first in hash order); None for all.
        seed: seeds the hash together with the corpus's name, so that corpora are capped independently.
        shards: buckets on disk; by default enough to keep each near ``BUCKET_BYTES``.

    Raises:
        DataError: the input is missing, not UTF-8 or has a row with another number of columns than its first; or the
            disk is full.
    """
    layout, kept = layout_of(in_path), 0
    with folder_beside(out) as folder, atomic_bytes(out) as file:
        buckets = Buckets(
            folder,
            shards or default_shards([in_path]),
            seed_for(seed, f"corpus {corpus}"),
            "score" if layout.scores else None,
        )
        with Progress(f"deduplicating {corpus}: hashing", "pairs") as bar:
            seen = buckets.add(in_path, bar, layout)
        with Progress(f"deduplicating {corpus}: sorting", "pairs", seen) as bar:
            for rows in buckets.sorted(bar):
                # Sorting continues past the cap, since duplicates are counted in the whole corpus.
                if cap is not None:
                    rows = rows[: cap - kept]
                kept += len(rows)
                write_rows(file, rows)
        duplicates = buckets.duplicates.total()
        summary: DedupeReport = {
            "format": 1,
            "corpus": corpus,
            "seen": seen,
            "duplicates": duplicates,
            "capped": seen - duplicates - kept,
            "kept": kept,
        }
        write_json(report, summary)
    return summary


class Buckets:
    """Rows split by the top bits of their key's hash into files that are sorted in memory, one at a time.

    Args:
        folder, shards: where the files ``paths`` are written, one for each range of hashes that has rows.
        third: what the third column of the rows that are kept holds: ``index``, ``score`` or nothing (None). It is not
            part of the key.

    Attributes:
        duplicates: rows left out so far because another row has the same key, by the index in their third column (0
            if that is not an index).
    """

    def __init__(self, folder: Path, shards: int, seed: int, third: str | None) -> None:
        self.duplicates: Counter[int] = Counter()
        self.paths = [folder / f"bucket{number}" for number in range(shards)]
        self._seed, self._third = seed, third
        self._lower = True  # until a block comes that is not lower-case already

    def add(self, path: Path, bar: Progress, layout: Layout, *, index: int | None = None) -> int:
        """Split the rows of a pair file into the buckets; return their number.

        Args:
            layout: of the file. A translation score is left out, and so is a score without a third column.
            index: append this to each row, in place of a score.
        """
        seen = 0
        for number, block in blocks(path):
            text = text_of(block, path, number, layout)
            third = layout.columns > 2 and index is None and self._third is not None
            for _ in range(layout.columns - (3 if third else 2)):
                block = _joined(map(without_last_column, rows_of(block)))
                text = block.decode()
            lower = text.lower().encode()
            rows = rows_of(block if index is None else block.replace(b"\n", b"\t%d\n" % index))
            keys = rows_of(lower) if index is not None or lower != block else rows
            if third:
                keys = list(map(without_last_column, keys))
            self._lower = self._lower and lower == block
            hashes = np.frombuffer(_hashes(keys, self._seed), ">u8")[::2].astype(np.uint64)
            for file, some in by_bucket(hashes, self.paths):
                write_rows(file, [rows[row] for row in some.tolist()])
            seen += len(rows)
            bar.add(len(rows))
        return seen

    def sorted(self, bar: Progress) -> Iterator[list[bytes]]:
        """Yield each bucket's rows, one per key, by ascending hash; remove the bucket afterwards."""
        for path in self.paths:
            if not path.exists():
                continue
            best: dict[bytes, bytes] = {}  # by the key itself, not by its hash: exact whatever the hash does
            for _, block in blocks(path):
                rows = rows_of(block)
                keys = rows if self._lower else rows_of(block.decode().lower().encode())
                if self._third:
                    keys = list(map(without_last_column, keys))
                again = [row for key, row in zip(keys, rows, strict=True) if best.setdefault(key, row) is not row]
                if self._third == "index":
                    self.duplicates.update(int(last_column(row)) for row in again)
                else:
                    self.duplicates[0] += len(again)
                if self._third == "score":
                    self._keep_highest(best, again)
                bar.add(len(rows))
            path.unlink()
            halves = np.frombuffer(_hashes(best, self._seed), dtype=">u8").astype(np.uint64).reshape(-1, 2)
            kept = list(best.values())
            yield [kept[row] for row in np.lexsort((halves[:, 1], halves[:, 0])).tolist()]

    @staticmethod
    def _keep_highest(best: dict[bytes, bytes], again: list[bytes]) -> None:
        """Replace a key's row by a later one with a higher score."""
        for row in again:
            key = without_last_column(row).decode().lower().encode()
            if scores_of(row) > scores_of(best[key]):
                best[key] = row


def by_bucket(hashes: Hashes, paths: Sequence[Path]) -> Iterator[tuple[IO[bytes], npt.NDArray[np.int64]]]:
    """Split rows by the ranges of their hashes: yield each bucket that gets some, to append to, and the rows' places.

    Files are reopened at each call, so only the disk limits the number of buckets.
    """
    # The first 32 bits of a hash, times the number of buckets, over 2**32.
    bucket = ((hashes >> np.uint64(32)) * np.uint64(len(paths))) >> np.uint64(32)
    order = np.argsort(bucket, kind="stable")  # stable: within a bucket, rows keep their order
    ends = np.searchsorted(bucket[order], np.arange(len(paths)), side="right").tolist()
    for path, start, end in zip(paths, [0, *ends], ends, strict=False):
        if end > start:
            with path.open("ab") as file:
                yield file, order[start:end]


def _joined(rows: Iterable[bytes]) -> bytes:
    return b"".join(row + b"\n" for row in rows)


def _hashes(keys: Iterable[bytes], seed: int) -> bytes:
    return b"".join(map(xxhash.xxh3_128_digest, keys, repeat(seed)))


def seed_for(seed: int, purpose: str) -> int:
    """Derive a seed for each purpose: the order in which a corpus is capped must be independent of the shuffle."""
    return xxhash.xxh3_64_intdigest(purpose.encode(), seed % 2**64)


def default_shards(paths: Sequence[Path]) -> int:
    return max(1, -(-sum(path.stat().st_size for path in paths if path.is_file()) // BUCKET_BYTES))
