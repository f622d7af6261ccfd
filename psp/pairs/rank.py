r"""Keep the pairs of a corpus whose rank by a value lies in some deciles.

Pairs are ranked by ascending value, so that decile 1 holds the lowest and decile 10 the highest; all have the same
number of pairs, up to one. Pairs with equal values are in the order of the 128-bit xxh3 hash of their lower-cased
sides, and copies of one pair in the order of their lines, so the result does not depend on the order of the input.

The paper "ParaNMT-50M" (section 5.4) ranks by the score, the trigram overlap and the translation score, trains on one
decile at a time, and takes its training pairs from the best fifth by score. Which end is best: by ``score`` and
``translation`` the tenth, where the sides agree and where the translation system was confident. By ``overlap`` neither:
the first has pairs with nothing in common, including wrong ones, the last has copies. By ``length`` neither: the first
has short sentences, the last long ones. Models of each decile
measure it (docs/results.md, "English, and the paper's studies").

Two passes are made over the text. The first writes the pairs' values and hashes to disk, 32 bytes a pair, in runs of
some million that are sorted in memory. In these the bounds of the deciles are found by bisection, which reads next to
nothing. The second pass writes each pair to its decile, of which memory holds a byte a pair; of pairs with exactly the
value and text of a bound, it also holds each distinct line.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise, repeat
from pathlib import Path
from typing import IO, Any, Literal, TypedDict

import numpy as np

from psp.config.blocks.corpora import KINDS
from psp.config.blocks.mixing import CALLED, DECILES, NEEDS
from psp.core.errors import ConfigError, PspError
from psp.core.files import atomic_bytes, folder_beside, write_json
from psp.core.logs import Progress
from psp.corpora import open_corpus
from psp.corpora.rows import BadRow
from psp.pairs.dedupe import seed_for
from psp.pairs.filters.overlap import OverlapFilter
from psp.pairs.pair_file import (
    TRANSLATED,
    Layout,
    blocks,
    layout_of,
    rows_of,
    scores_of,
    sides_of,
    text_of,
    without_last_column,
    write_rows,
)
from psp.pairs.rank_records import Words, find_rank, read_sorted, records, value_of, write_sorted
from psp.text.words import word_count


class RankBound(TypedDict):
    decile: int  # its number; 1 has the lowest values
    pairs: int  # pairs in it
    low: float | None  # the lowest value in it; null if it is empty
    high: float | None  # the highest value in it; null if it is empty


RankedBy = Literal["score", "translation", "overlap", "length"]


class RankReport(TypedDict):
    """The pairs of one corpus ranked by a value, of which some deciles are kept."""

    format: int
    corpus: str
    by: RankedBy
    deciles: list[int]  # the deciles kept, in ascending order
    seen: int  # pairs read
    kept: int  # pairs kept
    bounds: list[RankBound]  # all deciles, the lowest values first


log = logging.getLogger(__name__)

BY = (*NEEDS, "overlap", "length")

#: Rows that equal a bound, and how often each occurs, by the number of records below them.
Held = Mapping[int, Counter[bytes]]


def rank_corpus(
    in_path: Path,
    out: Path,
    report: Path,
    *,
    corpus: str,
    by: RankedBy,
    deciles: Collection[int],
    seed: int,
    overlap: Mapping[str, Any] | None = None,
    others: Sequence[tuple[str, str, Path | str, tuple[str, ...]]] = (),
) -> RankReport:
    r"""Keep some deciles of a corpus.

    Args:
        in_path: a pair file, ``source \t target \n``, with or without score and translation score.
        out: the pairs kept, with their scores, without translation scores, in the order of the input; copies of a pair
            exactly at the bound of a decile come last.
        report: JSON with the numbers of pairs seen and kept, and the bounds of all deciles; also returned.
        corpus: the corpus's name, which seeds the hash together with ``seed``.
        by: one of :data:`BY`.
        deciles: those to keep, 1 to 10.
        overlap: settings of the filter ``overlap``; None for its defaults.
        others: label, kind, file and names of all corpora of the model: an error says which of them have the scores.

    Raises:
        ConfigError: the corpus has no scores, or no translation scores, to rank by.
        DataError: the input is missing, not UTF-8 or has a row with another number of columns than its first; or the
            disk is full.
    """
    wrong = [decile for decile in deciles if decile not in range(1, DECILES + 1)]
    if wrong or len(set(deciles)) < len(deciles):
        raise ConfigError(f"rank.deciles: {wrong or list(deciles)}; write each of 1 to 10 once")
    with folder_beside(out) as folder, atomic_bytes(out) as file:
        values = folder / "values"
        _write_values(in_path, values, corpus=corpus, by=by, seed=seed, overlap=overlap, others=others)
        bounds, held = _write(in_path, values, file, deciles, corpus)
        _write_held(held, bounds, file, deciles, layout_of(in_path))
        summary: RankReport = {
            "format": 1, "corpus": corpus, "by": by, "deciles": sorted(deciles),
            "seen": sum(decile["pairs"] for decile in bounds),
            "kept": sum(decile["pairs"] for decile in bounds if decile["decile"] in deciles), "bounds": bounds,
        }  # fmt: skip
        write_json(report, summary)
    return summary


def with_scores(corpora: Sequence[tuple[str, str, Path | str, tuple[str, ...]]], by: str) -> list[str]:
    """The labels of the corpora whose first row has the scores that a ranking needs.

    Args:
        corpora: label, kind, file and names (of :func:`psp.corpora.open_corpus`) of each; those whose file is missing
            are left out.
    """
    labels = []
    for label, kind, path, names in corpora:
        if KINDS[kind].without_scores or not Path(path).exists():
            continue
        with contextlib.suppress(PspError):
            rows = open_corpus(kind, path, "", tuple(names))
            first = next((len(row) for row in rows if not isinstance(row, BadRow)), 0)
            if first >= 2 + NEEDS[by]:
                labels.append(label)
    return labels


def _write_values(
    in_path: Path,
    out: Path,
    *,
    corpus: str,
    by: RankedBy,
    seed: int,
    overlap: Mapping[str, Any] | None = None,
    others: Sequence[tuple[str, str, Path | str, tuple[str, ...]]] = (),
) -> None:
    """First pass: write the sorted values and hashes of the pairs (:func:`psp.pairs.rank_records.write_sorted`)."""
    layout = layout_of(in_path)
    if layout.columns < 2 + NEEDS.get(by, 0) and in_path.stat().st_size:
        having = with_scores(others, by)
        raise ConfigError(
            f"rank.by: {by}, but {corpus} has no {CALLED[by]}; "
            + (f"of the model's corpora, {' and '.join(having)} can be ranked so" if having else "nor has any other")
            + ": set `rank` for such a corpus alone, or rank by overlap or length"
        )
    value = _value(by, layout, overlap)
    seed = seed_for(seed, f"corpus {corpus}")

    def found(bar: Progress) -> Iterator[Words]:
        for number, block in blocks(in_path):
            keys = rows_of(text_of(block, in_path, number, layout).lower().encode())
            for _ in range(layout.columns - 2):
                keys = list(map(without_last_column, keys))
            rows = rows_of(block)
            yield records(map(value, rows), keys, seed)
            bar.add(len(rows))

    with Progress(f"ranking {corpus}: values", "pairs") as bar:
        write_sorted(found(bar), out)


def _write(
    in_path: Path, values: Path, file: IO[bytes], wanted: Collection[int], corpus: str
) -> tuple[list[RankBound], Held]:
    """Second pass: write the rows of the wanted deciles; return the bounds, and the rows that equal one.

    An empty decile, where there are fewer than ten pairs, starts where the next does, whose rows that takes.
    """
    runs = read_sorted(values)
    starts = _starts(sum(run.shape[1] for run in runs))
    ends = [rank for first, last in pairwise(starts) if last > first for rank in (first, last - 1)]
    places = {rank: find_rank(runs, rank) for rank in ends}
    # Records below a bound's are in an earlier decile, records above it are not; those that equal it are held.
    bounds = [(decile, places[start]) for decile, start in enumerate(starts[1:-1], start=2) if start in places]
    held: Held = {bound.below: Counter() for _, bound in bounds}
    ranks = list(held)
    of_rows = [np.ones(run.shape[1], np.int8) for run in runs]  # the decile; or below 0, if held, which of `ranks`
    for index, (run, of_row) in enumerate(zip(runs, of_rows, strict=True)):
        spans = [bound.spans[index] for _, bound in bounds]
        ends = [*(first for first, _ in spans[1:]), len(of_row)]
        for (decile, bound), (first, last), end in zip(bounds, spans, ends, strict=True):
            of_row[run[-1, first:last]] = ranks.index(bound.below) - len(ranks)
            of_row[run[-1, last:end]] = decile
    of_row = np.concatenate([np.ones(0, np.int8), *of_rows])
    done, layout = 0, layout_of(in_path)
    with Progress(f"ranking {corpus}: keeping", "pairs", len(of_row)) as bar:
        for _, block in blocks(in_path):  # checked by the first pass
            rows = rows_of(block)
            deciles = of_row[done : (done := done + len(rows))]
            for row in np.flatnonzero(deciles < 0).tolist():
                held[ranks[deciles[row]]][rows[row]] += 1
            kept = np.flatnonzero(np.isin(deciles, list(wanted))).tolist()
            write_rows(file, _unscored([rows[row] for row in kept], layout))
            bar.add(len(rows))
    described: list[RankBound] = [
        {
            "decile": decile,
            "pairs": last - first,
            "low": value_of(places[first].record[0]) if last > first else None,
            "high": value_of(places[last - 1].record[0]) if last > first else None,
        }
        for decile, (first, last) in enumerate(pairwise(starts), start=1)
    ]
    return described, held


def _write_held(
    held: Held, bounds: Sequence[RankBound], file: IO[bytes], wanted: Collection[int], layout: Layout
) -> None:
    """Write the rows that equal a bound, in the order of their bytes, if the decile of their rank is wanted."""
    starts = _starts(sum(bound["pairs"] for bound in bounds))
    for rank, lines in held.items():
        ranked = itertools.chain.from_iterable(repeat(line, lines[line]) for line in sorted(lines))
        for number, line in enumerate(ranked, start=rank):
            decile = next(decile for decile in range(DECILES, 0, -1) if starts[decile - 1] <= number)
            if decile in wanted:
                write_rows(file, _unscored([line], layout))


def _starts(seen: int) -> list[int]:
    """The rank of the first record of each decile, and the number of all records."""
    return [decile * seen // DECILES for decile in range(DECILES + 1)]


def _unscored(rows: list[bytes], layout: Layout) -> list[bytes]:
    return list(map(without_last_column, rows)) if layout is TRANSLATED else rows


def _value(by: str, layout: Layout, overlap: Mapping[str, Any] | None) -> Callable[[bytes], float]:
    """The value of a row."""
    if by in NEEDS:
        place, columns = NEEDS[by] - 1, layout.columns - 2
        return lambda row: scores_of(row, columns)[place]
    if by == "length":
        return lambda row: sum(map(word_count, sides_of(row))) / 2
    judge = OverlapFilter(overlap or {}, ("", ""))
    return lambda row: judge.overlap(*sides_of(row))
