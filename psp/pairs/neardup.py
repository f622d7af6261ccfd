r"""Remove near-duplicates from a mixed pair file.

Two rules apply, in the order of the file, whose rows are already shuffled:

1. *Same key*: remove a row if an earlier row has the same two normalised keys (:func:`psp.text.keys.normalised_key`:
   letters and digits only, case-folded).
2. *Similar*: remove any other row if an earlier one shares a band of its MinHash signature and has an estimated
   Jaccard similarity of at least ``threshold`` (:mod:`psp.pairs.minhash`). The earlier row counts even if it was itself
   removed, so a row's fate depends only on the rows before it. Within a band, a row is compared with at most the 100
   rows nearest before it: without a limit, a phrase shared by a million rows would take 10**12 comparisons. (Of 594,182
   real English-French pairs, 40,604 are removed with a limit of 100 or with none, 40,599 with a limit of 10.)

A row with a side without letters and digits stays, and nothing is compared with it.

rensa makes the signatures, 128 bytes a row in a file that is mapped into memory; the rest takes some 60 bytes a row.
(610,616 real pairs: 201 MB in all, of which 78 are that file.)
"""

from __future__ import annotations

import itertools
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, TypedDict

import numpy as np
import numpy.typing as npt
import xxhash

from psp.core.errors import DataError
from psp.core.files import atomic_bytes, atomic_text, folder_beside, write_json
from psp.core.logs import Progress
from psp.pairs import minhash
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
SAME_KEY, SIMILAR = "same key", "similar"

_HASHED_ROWS = 1000
_COMPARED_ROWS = 1 << 16
_KEPT, _BY_KEY = 0, 255  # values of _Rows.equal besides the number of equal slots
_ODD = np.uint64(0x9E3779B97F4A7C15)


def remove_near_duplicates(
    in_path: Path,
    out: Path,
    report: Path,
    dropped: Path,
    *,
    labels: Sequence[str],
    threshold: float,
    seed: int = 1,
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
        rows = _Rows(in_path, folder / "signatures", seed)
        bands, width = minhash.divide(threshold)
        needed = int(np.ceil(round(threshold * SLOTS, 6)))
        with Progress("near-duplicates: comparing", "bands", bands) as bar:
            for number in range(bands):
                rows.compare(number, width, needed)
                bar.add()
        counts = rows.write(in_path, file, dropped_file, len(labels), sample // 2)
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


class _Rows:
    """The state of each row.

    Attributes:
        judged: int64: the rows with two keys, which no earlier row has.
        signatures: uint8, shape (rows, SLOTS): a file.
        equal: uint8: ``_KEPT`` if a row stays; if it goes, ``_BY_KEY`` or its number of equal slots.
        earlier: uint32: the earlier row that it resembles.
    """

    def __init__(self, path: Path, signatures: Path, seed: int) -> None:
        """Hash all rows, and find those with the keys of an earlier one."""
        self._seed = seed
        full, digests = [np.empty(0, np.bool_)], [b""]
        with signatures.open("wb") as file, Progress("near-duplicates: hashing", "pairs") as bar:
            for number, block in blocks(path):
                lines = text_of(block, path, number, MIXED).split("\n")[:-1]
                for start in range(0, len(lines), _HASHED_ROWS):
                    some = lines[start : start + _HASHED_ROWS]
                    hashed = minhash.shingles("\n".join(some) + "\n")
                    file.write(minhash.signatures(hashed, seed).tobytes())
                    full.append(hashed.full)
                    digests.append(b"".join(map(xxhash.xxh3_128_digest, hashed.keys)))
                bar.add(len(lines))
        two_keys = np.concatenate(full)
        if len(two_keys) >= 2**32:
            raise DataError(f"{len(two_keys):,} pairs, more than this stage can number (4,294,967,295)", path)
        self.signatures = (
            np.memmap(signatures, np.uint8, mode="r").reshape(-1, minhash.SLOTS)
            if len(two_keys)
            else np.empty((0, minhash.SLOTS), np.uint8)
        )
        self.equal = np.full(len(two_keys), _KEPT, dtype=np.uint8)
        self.earlier = np.zeros(len(two_keys), dtype=np.uint32)
        candidates = np.flatnonzero(two_keys)
        high, low = np.frombuffer(b"".join(digests), np.uint64).reshape(-1, 2)[candidates].T  # they differ if keys do
        order = np.lexsort((low, high))  # stable: equal keys stay in the order of the file
        high, low, rows = high[order], low[order], candidates[order]
        first = rows[_first_of_equal(high, low)]
        again = first < rows
        self.equal[rows[again]] = _BY_KEY
        self.earlier[rows[again]] = first[again]
        self.judged = np.sort(rows[~again])

    def compare(self, number: int, width: int, needed: int) -> None:
        """Compare each row with those before it that have the same band, the nearest first."""
        parts = np.split(self.judged, range(_COMPARED_ROWS, len(self.judged), _COMPARED_ROWS))
        bands = np.concatenate([minhash.band(self.signatures[part], number, width) for part in parts])
        order = np.argsort(bands, kind="stable")
        bands, rows = bands[order], self.judged[order]
        first = _first_of_equal(bands)
        todo = np.flatnonzero((first < np.arange(len(rows))) & (self.equal[rows] == _KEPT))
        for back in range(1, WINDOW + 1):
            todo = todo[todo - back >= first[todo]]
            if not len(todo):
                break
            left = []
            for part in np.split(todo, range(_COMPARED_ROWS, len(todo), _COMPARED_ROWS)):
                row, other = rows[part], rows[part - back]
                equal = minhash.equal_slots(self.signatures[row], self.signatures[other])
                near = equal >= needed
                self.equal[row[near]] = equal[near]
                self.earlier[row[near]] = other[near]
                left.append(part[~near])
            todo = np.concatenate(left)

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
        rows = np.flatnonzero(_of(reason, self.equal))
        hashes = (rows.astype(np.uint64) ^ np.uint64(self._seed)) * _ODD
        hashes = (hashes ^ (hashes >> np.uint64(32))) * _ODD
        return np.sort(rows[np.argsort(hashes, kind="stable")[:sample]])


def _of(reason: str, fate: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Which rows are removed for a reason."""
    return fate == _BY_KEY if reason == SAME_KEY else (fate != _KEPT) & (fate != _BY_KEY)


def _first_of_equal(*columns: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Find, for each of some rows sorted by all columns, the first equal one."""
    places = np.arange(len(columns[0]))
    places[1:][np.all([column[1:] == column[:-1] for column in columns], axis=0)] = 0
    return np.maximum.accumulate(places)


def _counted(indices: npt.NDArray[np.int64]) -> dict[int, int]:
    return dict(enumerate(np.bincount(indices).tolist()))
