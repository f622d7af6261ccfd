"""Samples of a model's pairs (a decile, all pairs, one corpus), for studies of which are worth training on.

A sample's file has only pairs, distinct ignoring case, in a random order fixed by the seed, so its first lines are a
random sample of any size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from psp.core.errors import DataError
from psp.core.files import atomic_bytes, folder_beside, write_json
from psp.core.progress import Progress
from psp.pairs.dedupe import Buckets, default_shards, seed_for
from psp.pairs.pair_file import blocks, layout_of, rows_of, text_of, write_rows
from psp.pairs.rank import split_corpus

if TYPE_CHECKING:
    from psp.pairs.rank import RankBound, RankedBy


class SampleCorpus(TypedDict):
    label: str
    bounds: list[RankBound]  # all deciles, the lowest values first


class Sample(TypedDict):
    name: str  # its name, all or such as score-10, and that of its file
    pairs: int  # distinct pairs in it


class SampleReport(TypedDict):
    """Samples of a model's pairs, for the study of its deciles."""

    format: int
    by: RankedBy | None  # what ranks, as in the config's block rank; null for a sample of all pairs
    corpora: list[SampleCorpus]  # the corpora, each ranked by itself; empty without a ranking
    samples: list[Sample]  # the samples; of a ranking ten, the lowest values first


class SampledCorpus(NamedTuple):
    """Pairs of one corpus after the filters.

    Attributes:
        label, corpus, kind: as the config has them.
        file: where the corpus comes from, for errors.
        filtered: its pairs.
        overlap: settings of its filter ``overlap``.
    """

    label: str
    corpus: str
    kind: str
    file: str
    filtered: Path
    overlap: Mapping[str, Any]


def sample_deciles(
    corpora: Sequence[SampledCorpus],
    by: RankedBy,
    outs: Mapping[int, Path],
    report: Path,
    *,
    seed: int,
    cap: int | None = None,
) -> SampleReport:
    """Write a sample of each decile, joined over all corpora.

    Args:
        by: what ranks, one of :data:`psp.pairs.rank.BY`.
        outs: a file for each of the ten.
        report: JSON with the number of pairs in each, and each corpus's bounds; also returned.
        cap: pairs to keep of each at most, chosen at random.

    Raises:
        ConfigError: a corpus has no scores to rank by.
        DataError: as :func:`psp.pairs.rank.split_corpus`.
    """
    others = [(one.label, one.kind, one.file, ()) for one in corpora]
    bounds: list[SampleCorpus] = []
    samples: list[Sample] = []
    with folder_beside(report) as folder:
        split = {
            one.label: {decile: folder / f"{place}.{decile}" for decile in outs} for place, one in enumerate(corpora)
        }
        for one in corpora:
            bounds_of_corpus = split_corpus(
                one.filtered,
                split[one.label],
                corpus=one.corpus,
                by=by,
                seed=seed,
                overlap=one.overlap,
                others=others,
            )
            bounds.append({"label": one.label, "bounds": bounds_of_corpus})
        for decile, out in outs.items():
            files = [paths[decile] for paths in split.values()]
            samples.append({"name": f"{by}-{decile}", "pairs": _join(files, out, seed, cap)})
            for file in files:
                file.unlink()
    return _report(report, samples, by, bounds)


def sample_all(
    corpora: Sequence[SampledCorpus], out: Path, report: Path, *, seed: int, cap: int | None = None
) -> SampleReport:
    """Write a sample of all pairs; for arguments and errors see :func:`sample_deciles`."""
    pairs = _join([one.filtered for one in corpora], out, seed, cap)
    return _report(report, [{"name": "all", "pairs": pairs}], None, [])


def sample_corpus(distinct: Path, out: Path, *, cap: int | None = None) -> int:
    """Write a sample of one corpus, whose pairs are distinct and in a random order already; return its size.

    Raises:
        DataError: no such file, or not a pair file.
    """
    layout, kept = layout_of(distinct), 0
    with atomic_bytes(out) as file:
        for number, block in blocks(distinct):
            text_of(block, distinct, number, layout)
            rows = rows_of(block)[: None if cap is None else cap - kept]
            write_rows(file, [b"\t".join(row.split(b"\t")[:2]) for row in rows])
            kept += len(rows)
            if kept == cap:
                break
    return kept


def sample_size(available: Mapping[str, int], asked: int | None, where: str) -> int:
    """The number of pairs to train on, equal for all samples.

    Args:
        available: pairs of each sample, by name.
        asked: the setting ``pairs``; None for as many as the smallest has.
        where: its place, such as ``models.en.deciles``.

    Raises:
        DataError: a sample has fewer, or one has none.
    """
    smallest = min(available, key=lambda name: available[name])
    least = available[smallest]
    if not least:
        raise DataError(f"{where}: {smallest} has no pair; loosen its filters, or leave it out")
    if asked is not None and asked > least:
        raise DataError(f"{where}.pairs: is {asked:,}, but {smallest} has {least:,}; write `pairs: {least}`, or null")
    return asked or least


def first_pairs(path: Path, out: Path, count: int) -> None:
    """Copy the first pairs of a sample.

    Raises:
        DataError: there are fewer; or the file cannot be read.
    """
    taken = 0
    with out.open("wb") as file:
        for _, block in blocks(path):
            rows = rows_of(block)[: count - taken]
            write_rows(file, rows)
            taken += len(rows)
            if taken == count:
                return
    raise DataError(f"holds {taken:,} pairs, not {count:,}; delete it and make it again", path)


def _join(files: Sequence[Path], out: Path, seed: int, cap: int | None) -> int:
    """Write the distinct pairs of several files, shuffled; return their number."""
    kept = 0
    with folder_beside(out) as folder, atomic_bytes(out) as target:
        buckets = Buckets(folder, default_shards(files), seed_for(seed, "sample"), None)
        with Progress(f"sampling {out.stem}", "pairs") as bar:
            for path in files:
                buckets.add(path, bar, layout_of(path))
            for rows in buckets.sorted(bar):
                taken = rows if cap is None else rows[: cap - kept]
                write_rows(target, taken)
                kept += len(taken)
    return kept


def _report(path: Path, samples: list[Sample], by: RankedBy | None, corpora: list[SampleCorpus]) -> SampleReport:
    value: SampleReport = {"format": 1, "by": by, "corpora": corpora, "samples": samples}
    write_json(path, value)
    return value
