"""Join a model's corpora into one shuffled file without duplicates, and hold out a few pairs for validation.

Deduplication and shuffling work as in :mod:`psp.pairs.dedupe`.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TypedDict

from psp.core.errors import DataError
from psp.core.files import atomic_bytes, folder_beside, write_json
from psp.core.logs import Progress
from psp.pairs import heldout as held
from psp.pairs.dedupe import Buckets, default_shards, seed_for
from psp.pairs.pair_file import layout_of, write_rows

_Read = TypedDict("_Read", {"in": int})  # a keyword of Python


class MixCounts(_Read):
    duplicates: int  # pairs dropped because an earlier corpus has the same pair, ignoring case
    heldout: int  # pairs held out for validation
    heldout_neighbours: int  # pairs dropped because they share a side with a held-out pair
    kept: int  # training pairs


class MixCorpus(MixCounts):
    label: str


class MixReport(TypedDict):
    """What happened to each corpus in mixing; in is the sum of the other counts."""

    format: int
    heldout_asked: int  # pairs to hold out; a small corpus gives fewer
    corpora: list[MixCorpus]  # counts by corpus; the third column of a mixed pair file holds indices into this list
    total: MixCounts  # the same counts over all corpora


log = logging.getLogger(__name__)

PURPOSE = "mix"  # of the seed


def mix(
    inputs: Sequence[tuple[str, Path]],
    out: Path,
    heldout: Path,
    report: Path,
    *,
    heldout_pairs: int,
    seed: int,
    shards: int | None = None,
    text: Collection[int] = (),
) -> MixReport:
    r"""Join corpora into one shuffled training file without duplicates, and hold out a few pairs for development.

    If several corpora hold the same pair (ignoring case), the first corpus of ``inputs`` keeps it. The held-out pairs
    are the first in shuffled order whose sides, reduced to letters and digits, are not empty and occur in no other
    held-out pair. Pairs that share such a side with a held-out pair (also source with target) are not trained on.

    Args:
        inputs: (label, pair file) of each corpus, in the config's order; scores are dropped.
        out: the mixed pair file, ``source \t target \t index \n``; the index, from 0, is that of ``inputs``.
        heldout: the held-out pairs in the same format.
        report: JSON with counts by corpus and in total. The same is returned.
        heldout_pairs: pairs to hold out, at most a tenth of all distinct pairs.
        seed: seeds the shuffle.
        text: the indices of corpora that hold sentences, each a pair with itself; none of these is held out.
        shards: buckets on disk; by default enough to keep each near ``BUCKET_BYTES``.

    Raises:
        DataError: an input is missing, not UTF-8 or has a row with another number of columns than its first; the disk
            is full; or no pair is left to train on.
    """
    out, heldout = Path(out), Path(heldout)
    paths = [Path(path) for _, path in inputs]
    counts = _MixCounts([label for label, _ in inputs])
    with folder_beside(out) as folder, atomic_bytes(out) as out_file, atomic_bytes(heldout) as heldout_file:
        buckets = Buckets(folder, shards or default_shards(paths), seed_for(seed, PURPOSE), "index")
        with Progress("mixing: hashing", "pairs") as bar:
            for index, path in enumerate(paths):
                counts.seen[index] = buckets.add(path, bar, layout_of(path), index=index)
        shuffled = folder / "shuffled"
        with shuffled.open("wb") as file, Progress("mixing: sorting", "pairs", counts.seen.total()) as bar:
            for rows in buckets.sorted(bar):
                write_rows(file, rows)
        counts.duplicates = buckets.duplicates
        total = counts.seen.total() - counts.duplicates.total()
        chosen, keys = held.choose(shuffled, min(heldout_pairs, total // 10), text)
        with Progress("mixing: setting pairs aside", "pairs", total) as bar:
            counts.heldout, counts.neighbours = held.part(shuffled, chosen, keys, out_file, heldout_file, bar)
        summary = counts.report(heldout_pairs, paths)
        write_json(report, summary)
    return summary


class _MixCounts:
    """Pairs by their fate and by index of the corpus."""

    def __init__(self, labels: Sequence[str]) -> None:
        self.labels = labels
        self.seen: Counter[int] = Counter()
        self.duplicates: Counter[int] = Counter()
        self.heldout: Counter[int] = Counter()
        self.neighbours: Counter[int] = Counter()

    def report(self, heldout_asked: int, paths: Sequence[Path]) -> MixReport:
        """The report of :func:`mix`.

        Raises:
            DataError: no pair is left to train on.
        """
        total = self._counts(*range(len(self.labels)))
        summary: MixReport = {
            "format": 1,
            "heldout_asked": heldout_asked,
            "corpora": [{"label": label, **self._counts(index)} for index, label in enumerate(self.labels)],
            "total": total,
        }
        if not total["kept"]:
            raise DataError(_nothing_left(summary, paths))
        if total["heldout"] < heldout_asked:
            log.warning(
                "held out %s pairs instead of %s: at most a tenth of the %s distinct pairs, and no two that share a "
                "side",
                f"{total['heldout']:,}",
                f"{heldout_asked:,}",
                f"{total['in'] - total['duplicates']:,}",
            )
        return summary

    def _counts(self, *corpora: int) -> MixCounts:
        """Counts of some corpora together; what came in is the sum of the others."""
        seen, duplicates, heldout, neighbours = (
            sum(counter[index] for index in corpora)
            for counter in (self.seen, self.duplicates, self.heldout, self.neighbours)
        )
        return {
            "in": seen,
            "duplicates": duplicates,
            "heldout": heldout,
            "heldout_neighbours": neighbours,
            "kept": seen - duplicates - heldout - neighbours,
        }


def _nothing_left(summary: MixReport, paths: Sequence[Path]) -> str:
    total = summary["total"]
    by_corpus = ", ".join(f"{entry['label']} {entry['in']:,}" for entry in summary["corpora"]) or "no corpora"
    folders = sorted({str(path.parent) for path in paths})
    return (
        f"no pairs are left to train on: {total['in']:,} were read ({by_corpus}), {total['duplicates']:,} were "
        f"duplicates, {total['heldout']:,} were held out, {total['heldout_neighbours']:,} shared a side with them; "
        f"see the counts (.json) of the corpora in {', '.join(folders) or 'the config'} and of the filters before them"
    )
