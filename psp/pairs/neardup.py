r"""Remove near-duplicates from a mixed pair file, in memory that hardly grows with the file.

Two rules apply, in the order of the file, whose rows are already shuffled:

1. *Same key*: remove a row if an earlier row has the same two normalised keys (:func:`psp.text.keys.normalised_key`:
   letters and digits only, case-folded).
2. *Similar*: remove any other row if an earlier one shares a band of its MinHash signature and has an estimated
   Jaccard similarity of at least ``threshold`` (:mod:`psp.pairs.minhash`). The earlier row counts even if it was itself
   removed, so a row's fate depends only on the rows before it. Within a band, a row is compared with at most the 100
   rows nearest before it: without a limit, a phrase shared by a million rows would take 10**12 comparisons. (Of 594,182
   real English-French pairs, 40,604 are removed with a limit of 100 or with none, 40,599 with a limit of 10.)

A row with a side without letters and digits stays, and nothing is compared with it.

The disk holds the signatures (128 bytes per row), the hashes of the keys (24 bytes per row, removed after use) and, for
one band at a time, the rows that may share it. They are split by hash into shards that are sorted in memory one by one.
Equal keys and equal bands end up in the same shard, in the order of the file, so the number of shards does not change
the result. Memory holds 6 bytes a row, and at most about 300 MB whatever the number of rows (8.6 million rows,
a tenth of them near-duplicates: 308 MB, and 2.1 GB of disk with the output).
"""

from __future__ import annotations

import itertools
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypedDict

import numpy as np
import numpy.typing as npt
import xxhash

from psp.core.errors import DataError
from psp.core.files import atomic_bytes, atomic_text, folder_beside, write_json
from psp.core.progress import Progress
from psp.pairs import minhash
from psp.pairs.dedupe import by_bucket
from psp.pairs.minhash import SLOTS
from psp.pairs.pair_file import (
    MIXED,
    blocks,
    corpus_indices,
    last_column,
    rows_of,
    text_of,
    without_last_column,
    write_rows,
)

_Read = TypedDict("_Read", {"in": int})  # a keyword of Python


class NeardupCounts(_Read):
    same_key: int  # pairs dropped because an earlier one has the same letters and digits, ignoring case
    similar: int  # other pairs dropped because an earlier one is similar
    kept: int  # pairs kept


class NeardupCorpus(NeardupCounts):
    label: str


class NeardupReport(TypedDict):
    """Near-duplicates of earlier pairs, dropped; in is same_key plus similar plus kept."""

    format: int
    threshold: float  # minimum estimated Jaccard similarity of near-duplicates
    signatures: str  # the MinHash implementation and its version; another may give other estimates
    slots: int  # slots per signature; the estimate is the share of equal slots
    shingle: int  # letters and digits per shingle
    bands: int  # bands per signature; only rows that share a band are compared
    band_slots: int  # slots per band
    window: int  # each row is compared with at most this many earlier rows that share a band, the nearest ones
    corpora: list[NeardupCorpus]  # counts by corpus, in the order of mix.json
    total: NeardupCounts  # the same counts over all corpora


log = logging.getLogger(__name__)

WINDOW = 100
SHARD_ROWS = 1 << 18  # 37 MB of signatures, three times as much while they are sorted
SAME_KEY, SIMILAR = "same key", "similar"

_KEY_ROW = np.dtype([("high", "<u8"), ("low", "<u8"), ("row", "<u8")])
_BAND_ROW = np.dtype([("band", "<u8"), ("row", "<u4"), ("signature", "u1", SLOTS)])
_BLOCK_ROWS = 1 << 16
_HASHED_ROWS = 1000
_ROW_BYTES = 32  # of a rather short row: how many rows a file has is not known before it is read
_TABLE_BITS = 26
_KEPT, _BY_KEY = 0, 255  # values of Fate.equal besides the number of equal slots
_ODD = np.uint64(0x9E3779B97F4A7C15)

U64 = npt.NDArray[np.uint64]
Records = npt.NDArray[Any]


def remove_near_duplicates(
    in_path: Path,
    out: Path,
    report: Path,
    dropped: Path,
    *,
    labels: Sequence[str],
    threshold: float,
    seed: int = 1,
    shards: int | None = None,
    sample: int = 200,
) -> NeardupReport:
    r"""Write the rows of a mixed pair file that are not near-duplicates of an earlier row, in order.

    Args:
        in_path: the mixed pair file, ``source \t target \t index \n``.
        out: the same without near-duplicates.
        report: JSON with settings, and counts by corpus and in total. The same is returned.
        dropped: a sample of what was removed, ``reason \t estimate \t source \t target \t source \t target \n``: the
            estimated Jaccard similarity, the pair, and the earlier pair that it resembles.
        labels: the corpora's names, by index.
        threshold: the minimum estimated Jaccard similarity of a near-duplicate, above 0 and at most 1.
        seed: seeds the signatures and the sample.
        shards: parts on disk; by default enough to keep each near ``SHARD_ROWS`` rows.
        sample: the maximum number of pairs in the sample, half of them for either reason.

    Raises:
        DataError: the input is missing, not UTF-8, or has a row without three columns or without a valid index;
            or the disk is full.
        PspError: rensa is not installed.
    """
    in_path, out = Path(in_path), Path(out)
    seed = xxhash.xxh3_64_intdigest(b"near-duplicates", seed % 2**64)
    with (
        folder_beside(out) as folder,
        atomic_bytes(out) as file,
        atomic_text(dropped) as dropped_file,
    ):
        work = _Work(in_path, folder, seed, shards)
        work.same_keys()
        bands, width = minhash.divide(threshold)
        needed = int(np.ceil(round(threshold * SLOTS, 6)))
        with Progress("near-duplicates: comparing", "bands", bands) as bar:
            for number in range(bands):
                work.similar(number, width, needed)
                bar.add()
        counts = work.write(in_path, file, dropped_file, len(labels), sample // 2)
        summary: NeardupReport = {
            "format": 1,
            "threshold": threshold,
            "signatures": minhash.algorithm(),
            "slots": SLOTS,
            "shingle": minhash.SHINGLE,
            "bands": bands,
            "band_slots": width,
            "window": WINDOW,
            "corpora": (by_corpus := _by_corpus(labels, counts)),
            "total": {
                "in": sum(one["in"] for one in by_corpus),
                "same_key": sum(one["same_key"] for one in by_corpus),
                "similar": sum(one["similar"] for one in by_corpus),
                "kept": sum(one["kept"] for one in by_corpus),
            },
        }
        write_json(report, summary)
    return summary


def _by_corpus(labels: Sequence[str], counts: Mapping[str, Counter[int]]) -> list[NeardupCorpus]:
    corpora: list[NeardupCorpus] = []
    for index, label in enumerate(labels):
        seen, same, similar = (counts[what][index] for what in ("in", SAME_KEY, SIMILAR))
        kept = seen - same - similar
        corpora.append({"label": label, "in": seen, "same_key": same, "similar": similar, "kept": kept})
    return corpora


class _Work:
    """The state of each row; files in ``folder`` with their signatures, and with the hashes of their keys in shards.

    Attributes:
        full: bool: neither key is empty.
        equal: uint8: ``_KEPT`` if a row stays; if it goes, ``_BY_KEY`` or its number of equal slots.
        earlier: uint32: the earlier row that it resembles.
    """

    def __init__(self, path: Path, folder: Path, seed: int, shards: int | None) -> None:
        self._folder, self._seed, self._shards = folder, seed, shards
        size = path.stat().st_size if path.is_file() else 0
        self._key_shards = _Shards(folder, shards or 1 + size // (_ROW_BYTES * SHARD_ROWS))
        full = [np.empty(0, np.bool_)]
        keys: list[Records] = []
        row = 0
        with (folder / "signatures").open("wb") as file, Progress("near-duplicates: hashing", "pairs") as bar:
            for number, block in blocks(path):
                lines = text_of(block, path, number, MIXED).split("\n")
                for start in range(0, len(lines) - 1, _HASHED_ROWS):
                    some = lines[start : min(start + _HASHED_ROWS, len(lines) - 1)]
                    rows = minhash.shingles("\n".join(some) + "\n")
                    file.write(minhash.signatures(rows, seed).tobytes())
                    key_rows = np.empty(len(some), dtype=_KEY_ROW)
                    digests = b"".join(map(xxhash.xxh3_128_digest, rows.keys))
                    key_rows["high"], key_rows["low"] = np.frombuffer(digests, dtype=">u8").reshape(-1, 2).T
                    key_rows["row"] = np.arange(row, row + len(some))
                    keys.append(key_rows[rows.full])
                    full.append(rows.full)
                    row += len(some)
                records = np.concatenate(keys)
                self._key_shards.add(records, records["high"])
                keys.clear()
                bar.add(len(lines) - 1)
        if row >= 2**32:
            raise DataError(f"{row:,} pairs, more than this stage can number (4,294,967,295)", path)
        self.full = np.concatenate(full)
        self.equal = np.full(row, _KEPT, dtype=np.uint8)
        self.earlier = np.zeros(row, dtype=np.uint32)

    def same_keys(self) -> None:
        """Find the rows with the keys of an earlier row, by 128-bit hashes, which differ if keys do."""

        def mark(records: Records) -> Records:
            records = records[
                np.lexsort((records["low"], records["high"]))
            ]  # stable: equal keys stay in the order of the file
            first = _first_of_equal(
                (records["high"][1:] == records["high"][:-1]) & (records["low"][1:] == records["low"][:-1])
            )
            again = first < np.arange(len(records))
            self.equal[records["row"][again]] = _BY_KEY
            self.earlier[records["row"][again]] = records["row"][first[again]]
            return records[~again]

        self._key_shards.each(_KEY_ROW, mark)

    def similar(self, number: int, width: int, needed: int) -> None:
        """Compare the rows that share one band."""
        shards = _Shards(self._folder, self._shards or 1 + len(self.equal) // SHARD_ROWS)
        table = _Table(len(self.equal))
        for _, keys, _ in self._bands(number, width):
            table.add(keys)
        for rows, keys, signatures in self._bands(number, width):
            may = table.more_than_one(keys)
            records = np.empty(int(may.sum()), dtype=_BAND_ROW)
            records["band"], records["row"], records["signature"] = keys[may], rows[may], signatures[may]
            shards.add(records, keys[may] * _ODD)
        del table
        shards.each(_BAND_ROW, lambda records: self._compare(records, needed))

    def _bands(self, number: int, width: int) -> Iterator[tuple[npt.NDArray[np.int64], U64, minhash.Signatures]]:
        """Rows that are full and have a key of their own: their numbers, their band and their signature."""
        with (self._folder / "signatures").open("rb") as file:
            for start in range(0, len(self.equal), _BLOCK_ROWS):
                signatures = np.fromfile(file, np.uint8, _BLOCK_ROWS * SLOTS).reshape(-1, SLOTS)
                end = start + len(signatures)
                rows = np.flatnonzero(self.full[start:end] & (self.equal[start:end] != _BY_KEY))
                signatures = signatures[rows]
                yield rows + start, minhash.band(signatures, number, width), signatures

    def _compare(self, records: Records, needed: int) -> Records:
        """Compare each row with those before it that have the same band, the nearest first.

        Returns the last rows of each band, for comparison with later rows.
        """
        order = np.argsort(records["band"], kind="stable")
        bands, rows, signatures = (records[name][order] for name in ("band", "row", "signature"))
        first = _first_of_equal(bands[1:] == bands[:-1])
        todo = np.flatnonzero((first < np.arange(len(rows))) & (self.equal[rows] == _KEPT))
        for back in range(1, WINDOW + 1):
            todo = todo[todo - back >= first[todo]]
            if not len(todo):
                break
            left = []
            for part in np.split(todo, range(_BLOCK_ROWS, len(todo), _BLOCK_ROWS)):
                equal = minhash.equal_slots(signatures[part], signatures[part - back])
                near = equal >= needed
                self.equal[rows[part[near]]] = equal[near]
                self.earlier[rows[part[near]]] = rows[part[near] - back]
                left.append(part[~near])
            todo = np.concatenate(left)
        last = np.searchsorted(bands, bands, side="right")
        return records[order[last - np.arange(len(rows)) <= WINDOW]]

    def write(self, path: Path, out: IO[bytes], dropped: IO[str], corpora: int, sample: int) -> dict[str, Counter[int]]:
        """Write the rows that stay, and a sample of the others; return counts by fate and corpus."""
        counts: dict[str, Counter[int]] = {"in": Counter(), SAME_KEY: Counter(), SIMILAR: Counter()}
        chosen = {reason: self._choose(reason, sample) for reason in (SAME_KEY, SIMILAR)}
        wanted = {row for rows in chosen.values() for row in (*rows, *self.earlier[rows].tolist())}
        order = np.array(sorted(wanted), dtype=np.int64)
        texts: dict[int, str] = {}
        start = 0
        with Progress("near-duplicates: writing", "pairs", len(self.equal)) as bar:
            for number, block in blocks(path):
                rows = rows_of(block)
                fate = self.equal[start : start + len(rows)]
                indices = corpus_indices(list(map(last_column, rows)), corpora, path, number)
                counts["in"].update(_counted(indices))
                for reason in (SAME_KEY, SIMILAR):
                    counts[reason].update(_counted(indices[_of(reason, fate)]))
                for row in order[slice(*np.searchsorted(order, [start, start + len(rows)]))].tolist():
                    texts[row] = without_last_column(rows[row - start]).decode()
                write_rows(out, list(itertools.compress(rows, (fate == _KEPT).tolist())))
                start += len(rows)
                bar.add(len(rows))
        for reason, rows_of_it in chosen.items():
            for row in rows_of_it.tolist():
                estimate = 1.0 if reason == SAME_KEY else int(self.equal[row]) / SLOTS
                dropped.write(f"{reason}\t{estimate:.3f}\t{texts[row]}\t{texts[int(self.earlier[row])]}\n")
        return counts

    def _choose(self, reason: str, sample: int) -> npt.NDArray[np.int64]:
        """Sample the rows that go for a reason at random, by a hash of their number, in ascending order."""
        rows = np.empty(0, dtype=np.int64)
        for start in range(0, len(self.equal), _BLOCK_ROWS):
            more = np.flatnonzero(_of(reason, self.equal[start : start + _BLOCK_ROWS])) + start
            rows = np.concatenate([rows, more])
            hashes = (rows.astype(np.uint64) ^ np.uint64(self._seed)) * _ODD
            hashes = (hashes ^ (hashes >> np.uint64(32))) * _ODD
            rows = rows[np.argsort(hashes, kind="stable")[:sample]]
        return np.sort(rows)


def _of(reason: str, fate: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Which rows are removed for a reason."""
    return fate == _BY_KEY if reason == SAME_KEY else (fate != _KEPT) & (fate != _BY_KEY)


class _Shards:
    """Records split by a hash into files; each shard keeps the order in which they were added."""

    def __init__(self, folder: Path, count: int) -> None:
        self._paths = [folder / f"shard{number}" for number in range(count)]

    def add(self, records: Records, hashes: U64) -> None:
        for file, some in by_bucket(hashes, self._paths):
            file.write(records[some].tobytes())

    def each(self, kind: np.dtype[Any], work: Callable[[Records], Records]) -> None:
        """Call ``work`` on the records of each shard, removing its file.

        A shard that is too large, because many of its records share a hash, is passed in parts, each together with the
        records that ``work`` returned for the part before.
        """
        for path in self._paths:
            if path.exists():
                with path.open("rb") as file:
                    held = np.empty(0, dtype=kind)
                    while len(some := np.fromfile(file, kind, 2 * SHARD_ROWS)):
                        held = work(np.concatenate([held, some]))
                path.unlink()


class _Table:
    """Recognises most numbers that were added only once, in memory independent of their number."""

    def __init__(self, numbers: int) -> None:
        bits = min(_TABLE_BITS, max(8, (4 * numbers).bit_length()))
        self._shift = np.uint64(64 - bits)
        self._seen, self._again = np.zeros(1 << bits, dtype=np.bool_), np.zeros(1 << bits, dtype=np.bool_)

    def add(self, numbers: U64) -> None:
        slots = np.sort((numbers * _ODD) >> self._shift)
        self._again[slots[1:][slots[1:] == slots[:-1]]] = True
        self._again[slots[self._seen[slots]]] = True
        self._seen[slots] = True

    def more_than_one(self, numbers: U64) -> npt.NDArray[np.bool_]:
        """False for numbers that were certainly added only once."""
        return self._again[(numbers * _ODD) >> self._shift]


def _first_of_equal(like_before: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Find, for each of some sorted items, the first equal one; ``like_before`` covers all but the first item."""
    places = np.arange(len(like_before) + 1)
    places[1:][like_before] = 0
    return np.maximum.accumulate(places)


def _counted(indices: npt.NDArray[np.int64]) -> dict[int, int]:
    return dict(enumerate(np.bincount(indices).tolist()))
