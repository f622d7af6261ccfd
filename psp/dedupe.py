r"""Deduplicate, cap, mix and shuffle pairs, in memory that does not grow with the corpus.

One algorithm does all of it. Every pair gets a 128-bit xxh3 hash of its key, which is its line lower-cased; pairs are
ordered by that hash. Equal pairs then stand side by side, so that all but the first can go; and since the hash knows
nothing of the text's meaning, its order is a random one: a shuffle that depends on the seed alone. On disk the rows
are first divided by the top bits of the hash into buckets that fit in memory one by one; the concatenation of the
sorted buckets is the sorted whole, so the number of buckets makes no difference to the bytes.

The published code deletes *every* copy of a duplicated pair (``sort | uniq -u``); here one stays: the first, or in a
corpus with scores the one with the highest score, and of those the first.
"""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from psp import heldout as held
from psp.errors import DataError
from psp.files import atomic, write_json
from psp.pairfile import (
    blocks,
    folder_beside,
    has_scores,
    rows_of,
    score_of,
    text_of,
    without_last_column,
    write_rows,
)
from psp.progress import Progress

log = logging.getLogger(__name__)

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
) -> dict[str, Any]:
    r"""Remove exact duplicates (but for case) from one corpus, then keep at most ``cap`` pairs, chosen at random.

    Args:
        in_path: a pair file, ``source \t target \n``, with or without a third column, the score.
        out: the pairs kept, with their scores, in the order of their hash. Without scores they depend on the order of
            the input only where two pairs differ in nothing but case: the first of them stays. With scores the copy
            with the highest score stays, and of equal ones the first.
        report: JSON with the pairs seen, duplicates, those dropped by the cap, and kept. The same is returned.
        cap: most pairs to keep (the first in hash order); None for all.
        seed: with the corpus's name it makes the hash, so that two corpora are capped independently.
        shards: buckets on disk; by default as many as keep each near ``BUCKET_BYTES``.

    Raises:
        DataError: the input is missing, not UTF-8 or has a row with another number of columns than its first; or the
            disk is full.
    """
    in_path, out = Path(in_path), Path(out)
    scores = has_scores(in_path)
    kept = 0
    with folder_beside(out) as folder, atomic(out) as temporary, temporary.open("wb") as file:
        buckets = _Buckets(
            folder, shards or _default_shards([in_path]), _seed(seed, f"corpus {corpus}"), "score" if scores else None
        )
        with Progress(f"deduplicating {corpus}: hashing", "pairs") as bar:
            seen = buckets.add(in_path, bar, scores=scores)
        with Progress(f"deduplicating {corpus}: sorting", "pairs", seen) as bar:
            for rows in buckets.sorted(bar):
                # Past the cap the sorting goes on all the same: duplicates are counted in all of the corpus.
                if cap is not None:
                    rows = rows[: cap - kept]
                kept += len(rows)
                write_rows(file, rows)
        duplicates = buckets.duplicates.total()
        summary = {
            "format": 1,
            "corpus": corpus,
            "seen": seen,
            "duplicates": duplicates,
            "capped": seen - duplicates - kept,
            "kept": kept,
        }
        write_json(report, summary)
    return summary


def mix(
    inputs: Sequence[tuple[str, Path]],
    out: Path,
    heldout: Path,
    report: Path,
    *,
    heldout_pairs: int,
    seed: int,
    shards: int | None = None,
) -> dict[str, Any]:
    r"""Join corpora to one shuffled training file without duplicates, and set a few pairs aside for development.

    Where corpora hold the same pair (but for case), the first corpus of ``inputs`` keeps it. The held-out pairs are
    the first of the shuffled order whose sides, with letters and digits only, are not empty and occur in no other
    held-out pair; a pair that shares such a side with a held-out pair (also source with target) is not trained on.

    Args:
        inputs: (label, pair file) of each corpus, in the order of the config; scores are left out.
        out: the mixed pair file, ``source \t target \t index \n``; the index, from 0, is that of ``inputs``.
        heldout: the held-out pairs in the same format.
        report: JSON with counts by corpus and in total. The same is returned.
        heldout_pairs: pairs to hold out; at most a tenth of all distinct pairs is taken.
        seed: of the shuffled order.
        shards: buckets on disk; by default as many as keep each near ``BUCKET_BYTES``.

    Raises:
        DataError: an input is missing, not UTF-8 or has a row with another number of columns than its first; the disk
            is full; or no pair is left to train on.
    """
    out, heldout = Path(out), Path(heldout)
    paths = [Path(path) for _, path in inputs]
    counts = _MixCounts([label for label, _ in inputs])
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(folder_beside(out))
        out_file = stack.enter_context(stack.enter_context(atomic(out)).open("wb"))
        heldout_file = stack.enter_context(stack.enter_context(atomic(heldout)).open("wb"))
        buckets = _Buckets(folder, shards or _default_shards(paths), _seed(seed, "mix"), "index")
        with Progress("mixing: hashing", "pairs") as bar:
            for index, path in enumerate(paths):
                counts.seen[index] = buckets.add(path, bar, scores=has_scores(path), index=index)
        shuffled = folder / "shuffled"
        with shuffled.open("wb") as file, Progress("mixing: sorting", "pairs", counts.seen.total()) as bar:
            for rows in buckets.sorted(bar):
                write_rows(file, rows)
        counts.duplicates = buckets.duplicates
        total = counts.seen.total() - counts.duplicates.total()
        chosen, keys = held.choose(shuffled, min(heldout_pairs, total // 10))
        with Progress("mixing: setting pairs aside", "pairs", total) as bar:
            counts.heldout, counts.neighbours = held.part(shuffled, chosen, keys, out_file, heldout_file, bar)
        summary = {"format": 1, "heldout_asked": heldout_pairs, **counts.summary()}
        if not summary["total"]["kept"]:
            raise DataError(_nothing_left(summary, paths))
        if len(chosen) < heldout_pairs:
            log.warning(
                "held out %s pairs instead of %s: of the %s distinct pairs at most a tenth is, and no two that share "
                "a side",
                f"{len(chosen):,}",
                f"{heldout_pairs:,}",
                f"{total:,}",
            )
        write_json(report, summary)
    return summary


class _MixCounts:
    """Pairs by what became of them and by index of the corpus."""

    def __init__(self, labels: list[str]) -> None:
        self.labels = labels
        self.seen: Counter[int] = Counter()
        self.duplicates: Counter[int] = Counter()
        self.heldout: Counter[int] = Counter()
        self.neighbours: Counter[int] = Counter()

    def summary(self) -> dict[str, Any]:
        """Counts by corpus, in order, and their sums; what came in is the sum of the others."""
        corpora: list[dict[str, Any]] = []
        for index, label in enumerate(self.labels):
            gone = {
                "duplicates": self.duplicates[index],
                "heldout": self.heldout[index],
                "heldout_neighbours": self.neighbours[index],
            }
            kept = self.seen[index] - sum(gone.values())
            corpora.append({"label": label, "in": self.seen[index], **gone, "kept": kept})
        numbers = ("in", "duplicates", "heldout", "heldout_neighbours", "kept")
        return {"corpora": corpora, "total": {name: sum(entry[name] for entry in corpora) for name in numbers}}


def _nothing_left(summary: dict[str, Any], paths: list[Path]) -> str:
    total = summary["total"]
    by_corpus = ", ".join(f"{entry['label']} {entry['in']:,}" for entry in summary["corpora"]) or "no corpora"
    folders = sorted({str(path.parent) for path in paths})
    return (
        f"no pair is left to train on: {total['in']:,} came in ({by_corpus}), {total['duplicates']:,} were duplicates, "
        f"{total['heldout']:,} held out, {total['heldout_neighbours']:,} like those held out; see the counts (.json) "
        f"of the corpora in {', '.join(folders) or 'the config'} and of the filters before them"
    )


class _Buckets:
    """Rows divided by the top bits of their key's hash into files that are sorted in memory, one at a time.

    Args:
        third: what stands in the third column of the rows that are kept: ``index``, ``score`` or nothing (None). It is
            no part of the key.

    Attributes:
        duplicates: rows left out so far because another row has the same key, by the index in their third column (0
            where that is not an index).
    """

    def __init__(self, folder: Path, shards: int, seed: int, third: str | None) -> None:
        self.duplicates: Counter[int] = Counter()
        self._paths = [folder / f"bucket{number}" for number in range(shards)]
        self._seed, self._third = seed, third
        self._lower = True  # until a block comes that is not lower-case already

    def add(self, path: Path, bar: Progress, *, scores: bool, index: int | None = None) -> int:
        """Divide the rows of a pair file; gives their number.

        Files are opened anew for each block, so that the number of buckets has no limit but the disk.

        Args:
            scores: the file's rows have a score, which goes where an index comes.
            index: to put at the end of each row.
        """
        seen = 0
        for number, block in blocks(path):
            text = text_of(block, path, number, scores)
            if scores and index is not None:
                block = _joined(map(without_last_column, rows_of(block)))
                text = block.decode()
            lower = text.lower().encode()
            rows = rows_of(block if index is None else block.replace(b"\n", b"\t%d\n" % index))
            keys = rows_of(lower) if index is not None or lower != block else rows
            if scores and index is None:
                keys = list(map(without_last_column, keys))
            self._lower = self._lower and lower == block
            # The first 4 of a hash's 16 bytes, as a number, times the number of buckets, over 2**32.
            top = np.frombuffer(_hashes(keys, self._seed), dtype=">u4")[::4].astype(np.uint64)
            bucket = (top * np.uint64(len(self._paths))) >> np.uint64(32)
            order = np.argsort(bucket, kind="stable")  # stable: within a bucket, rows keep their order
            ends = np.searchsorted(bucket[order], np.arange(len(self._paths)), side="right").tolist()
            ordered = [rows[row] for row in order.tolist()]
            for place, start, end in zip(self._paths, [0, *ends], ends, strict=False):
                if end > start:
                    with place.open("ab") as file:
                        write_rows(file, ordered[start:end])
            seen += len(rows)
            bar.add(len(rows))
        return seen

    def sorted(self, bar: Progress) -> Iterator[list[bytes]]:
        """The rows of each bucket, one of each key, by ascending hash; buckets are removed on the way."""
        for path in self._paths:
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
                    self.duplicates.update(int(row[row.rindex(b"\t") + 1 :]) for row in again)
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
        """Put rows that came again in the place of the one before, where their score is higher."""
        for row in again:
            key = without_last_column(row).decode().lower().encode()
            if score_of(row) > score_of(best[key]):
                best[key] = row


def _joined(rows: Iterable[bytes]) -> bytes:
    return b"".join(row + b"\n" for row in rows)


def _hashes(keys: Iterable[bytes], seed: int) -> bytes:
    return b"".join(map(xxhash.xxh3_128_digest, keys, repeat(seed)))


def _seed(seed: int, purpose: str) -> int:
    """A seed of its own for each purpose: the order in which a corpus is capped must tell nothing of the shuffle."""
    return xxhash.xxh3_64_intdigest(purpose.encode(), seed % 2**64)


def _default_shards(paths: Sequence[Path]) -> int:
    return max(1, -(-sum(path.stat().st_size for path in paths if path.is_file()) // BUCKET_BYTES))
