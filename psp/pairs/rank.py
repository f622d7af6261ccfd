r"""Keep the pairs of a corpus whose rank by a value lies in some deciles.

Pairs are ranked by ascending value, so that decile 1 holds the lowest and decile 10 the highest; all have the same
number of pairs, up to one. Pairs with equal values are in the order of the 128-bit xxh3 hash of their lower-cased
sides, and copies of one pair in the order of their lines, so the result does not depend on the order of the input.

The paper "ParaNMT-50M" (section 5.2) ranks by the score, the trigram overlap and the translation score, trains on one
decile at a time, and takes its training pairs from the best fifth by score. Which end is best: by ``score`` and
``translation`` the tenth, where the sides agree and where the translation system was confident. By ``overlap`` neither:
the first has pairs with nothing in common, including wrong ones, the last has copies. By ``length`` neither: the first
has short sentences, the last long ones. The study of deciles (docs/studies.md) measures it.

Two passes are made over the text. The first writes 24 bytes for each pair to disk, its value and hash. Of these, the
bounds of the deciles are found by partitioning the values in memory, and the hashes of pairs with the value of a bound:
40 to 60 bytes a pair. The second pass compares each pair with the bounds; of pairs with exactly the value and
text of a bound, each distinct line is kept in memory.
"""

from __future__ import annotations

import contextlib
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby, pairwise, repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from psp.core.errors import ConfigError, PspError
from psp.core.files import atomic, write_json
from psp.core.progress import Progress
from psp.core.settings import Section, choice, integer, list_of
from psp.corpora import open_corpus
from psp.corpora.kinds import of_kind
from psp.corpora.rows import BadRow
from psp.pairs.dedupe import seed_for
from psp.pairs.filters.overlap import OverlapFilter
from psp.pairs.pair_file import (
    TRANSLATED,
    Layout,
    blocks,
    folder_beside,
    layout_of,
    rows_of,
    scores_of,
    text_of,
    without_last_column,
    write_rows,
)
from psp.text.words import word_count

if TYPE_CHECKING:
    from psp.core.schemas.pairs import RankBound, RankReport
    from psp.core.schemas.types import RankedBy

log = logging.getLogger(__name__)

DECILES = 10
#: The columns that a ranking needs, besides source and target, and their names.
NEEDS = {"score": 1, "translation": 2}
CALLED = {"score": "scores (a third column)", "translation": "translation scores (a fourth column)"}
BY = (*NEEDS, "overlap", "length")

_WORDS = 3  # of 64 bits: the value, and the two halves of the hash

SECTION = Section(
    "which deciles of a corpus are kept, ranked by a value after the filters; each corpus is ranked by itself",
    {
        "by": choice(
            None,
            BY,
            null=True,
            help="score: the third column; translation: the fourth, the translation's length-normalised score; "
            "overlap: shared word trigrams, as in the filter `overlap`; length: mean words of the two sides; null: "
            "keep all",
        ),
        "deciles": list_of(
            [9, 10],
            items=integer(at_least=1, at_most=DECILES),
            at_least=1,
            distinct=True,
            help="the deciles to keep: 1 has the lowest values, 10 the highest",
        ),
    },
)

Records = npt.NDArray[np.uint64]


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
    others: Sequence[tuple[str, str, Path | str]] = (),
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
        others: label, kind and file of all corpora of the model, of which an error names those that have the scores.

    Raises:
        ConfigError: the corpus has no scores, or no translation scores, to rank by.
        DataError: the input is missing, not UTF-8 or has a row with another number of columns than its first; or the
            disk is full.
    """
    wrong = [decile for decile in deciles if decile not in range(1, DECILES + 1)]
    if wrong or len(set(deciles)) < len(deciles):
        raise ConfigError(f"rank.deciles: {wrong or list(deciles)}; write each of 1 to 10 once")
    with atomic(Path(out)) as temporary, temporary.open("wb") as file:
        bounds = _split(
            Path(in_path),
            Path(out),
            dict.fromkeys(deciles, file),
            corpus=corpus,
            by=by,
            seed=seed,
            overlap=overlap,
            others=others,
        )
        summary: RankReport = {
            "format": 1,
            "corpus": corpus,
            "by": by,
            "tenths": sorted(deciles),
            "seen": sum(decile["pairs"] for decile in bounds),
            "kept": sum(decile["pairs"] for decile in bounds if decile["tenth"] in deciles),
            "bounds": bounds,
        }
        write_json(report, summary)
    return summary


def split_corpus(
    in_path: Path,
    outs: Mapping[int, Path],
    *,
    corpus: str,
    by: RankedBy,
    seed: int,
    overlap: Mapping[str, Any] | None = None,
    others: Sequence[tuple[str, str, Path | str]] = (),
) -> list[RankBound]:
    """Write each decile of a corpus to a file of its own, as :func:`rank_corpus` would.

    Args:
        outs: a file for each decile that is wanted.

    Returns:
        The bounds of all deciles, as in the report of :func:`rank_corpus`.
    """
    with contextlib.ExitStack() as stack:
        files: dict[int, IO[bytes]] = {}
        for decile, path in outs.items():
            files[decile] = stack.enter_context(stack.enter_context(atomic(path)).open("wb"))
        return _split(
            Path(in_path),
            next(iter(outs.values())),
            files,
            corpus=corpus,
            by=by,
            seed=seed,
            overlap=overlap,
            others=others,
        )


def with_scores(corpora: Sequence[tuple[str, str, Path | str]], by: str) -> list[str]:
    """The labels of the corpora whose first row has the scores that a ranking needs.

    Args:
        corpora: label, kind and file of each; those whose file is missing are left out.
    """
    labels = []
    for label, kind, path in corpora:
        if of_kind(kind).without_scores or not Path(path).exists():
            continue
        with contextlib.suppress(PspError):
            rows = open_corpus(kind, path, "", ("", ""))
            first = next((len(row) for row in rows if not isinstance(row, BadRow)), 0)
            if first >= 2 + NEEDS[by]:
                labels.append(label)
    return labels


def _split(
    in_path: Path,
    out: Path,
    files: Mapping[int, IO[bytes]],
    *,
    corpus: str,
    by: RankedBy,
    seed: int,
    overlap: Mapping[str, Any] | None,
    others: Sequence[tuple[str, str, Path | str]],
) -> list[RankBound]:
    """Write the rows of each decile to its file, if it has one; return the bounds."""
    layout = layout_of(in_path)
    if layout.columns < 2 + NEEDS.get(by, 0) and in_path.stat().st_size:
        having = with_scores(others, by)
        raise ConfigError(
            f"rank.by: {by}, but {corpus} has no {CALLED[by]}; "
            + (f"of the model's corpora, {' and '.join(having)} can be ranked so" if having else "nor has any other")
            + ": set `rank` for such a corpus alone, or rank by overlap or length"
        )
    value = _value(by, layout, overlap)
    with folder_beside(out) as folder:
        records = folder / "records"
        with Progress(f"ranking {corpus}: values", "pairs") as bar, records.open("wb") as file:
            seen = 0
            for rows, keys in _rows(in_path, layout):
                file.write(_records(map(value, rows), keys, seed_for(seed, f"corpus {corpus}")).tobytes())
                seen += len(rows)
                bar.add(len(rows))
        starts = [decile * seen // DECILES for decile in range(DECILES + 1)]
        ends = [rank for first, last in pairwise(starts) if last > first for rank in (first, last - 1)]
        places = find_ranks(records, seen, ends)
        with Progress(f"ranking {corpus}: keeping", "pairs", seen) as bar:
            _write(in_path, layout, records, files, [places.get(start) for start in starts[1:-1]], starts, bar)
    return [
        {
            "tenth": decile,
            "pairs": last - first,
            "low": _number(places[first].record[0]) if last > first else None,
            "high": _number(places[last - 1].record[0]) if last > first else None,
        }
        for decile, (first, last) in enumerate(pairwise(starts), start=1)
    ]


def _write(
    in_path: Path,
    layout: Layout,
    records: Path,
    files: Mapping[int, IO[bytes]],
    bounds: Sequence[Place | None],
    starts: Sequence[int],
    bar: Progress,
) -> None:
    """Second pass: write each row to the file of its decile.

    Args:
        bounds: for deciles 2 to 10, the place of the record at which it starts. An empty one, where there are fewer
            than ten pairs, starts where the next does, whose rows that takes; None if there is no such record.
        starts: the rank of the first record of each decile, and the number of all records.
    """
    # Records below a bound's are in an earlier decile, records above it are not; those that equal it are held.
    held: dict[Place, Counter[bytes]] = {bound: Counter() for bound in bounds if bound is not None}
    known = [bound for bound in bounds if bound is not None]
    numbers = [decile for decile, bound in enumerate(bounds, start=2) if bound is not None]
    with records.open("rb") as file:
        for rows, _ in _rows(in_path, layout):
            chunk = np.fromfile(file, np.uint64, len(rows) * _WORDS).reshape(-1, _WORDS)
            deciles = np.ones(len(rows), np.int64)
            equal = np.zeros(len(rows), bool)
            for number, bound in zip(numbers, known, strict=True):
                below, same = _compare(chunk, bound.record)
                deciles[~below] = number
                for row in np.flatnonzero(same & ~equal).tolist():
                    held[bound][rows[row]] += 1
                equal |= same
            deciles[equal] = 0
            for decile, target in files.items():
                write_rows(target, _unscored([rows[row] for row in np.flatnonzero(deciles == decile).tolist()], layout))
            bar.add(len(rows))
    for bound, lines in held.items():
        rank = bound.below
        for line, copies in sorted(lines.items()):
            for _ in range(copies):
                decile = next(decile for decile in range(DECILES, 0, -1) if starts[decile - 1] <= rank)
                if decile in files:
                    write_rows(files[decile], _unscored([line], layout))
                rank += 1


def _unscored(rows: list[bytes], layout: Layout) -> list[bytes]:
    return list(map(without_last_column, rows)) if layout is TRANSLATED else rows


def _rows(path: Path, layout: Layout) -> Iterator[tuple[list[bytes], list[bytes]]]:
    """Yield blocks of checked rows, and their lower-cased sides."""
    for number, block in blocks(path):
        keys = rows_of(text_of(block, path, number, layout).lower().encode())
        for _ in range(layout.columns - 2):
            keys = list(map(without_last_column, keys))
        yield rows_of(block), keys


def _value(by: str, layout: Layout, overlap: Mapping[str, Any] | None) -> Callable[[bytes], float]:
    """The value of a row."""
    if by in NEEDS:
        place, columns = NEEDS[by] - 1, layout.columns - 2
        return lambda row: scores_of(row, columns)[place]
    if by == "length":

        def length(row: bytes) -> float:
            source, target = row.decode().split("\t")[:2]
            return (word_count(source) + word_count(target)) / 2

        return length
    judge = OverlapFilter(overlap or {}, ("", ""))

    def shared(row: bytes) -> float:
        source, target = row.decode().split("\t")[:2]
        return judge.overlap(source, target)

    return shared


# ------------------------------------------------------------------------------- finding ranks among records on disk


class Place(NamedTuple):
    """A record, and how many records are below it."""

    record: tuple[int, int, int]
    below: int


def find_ranks(path: Path, number: int, ranks: Collection[int]) -> dict[int, Place]:
    """Find the records that would be at these places if all were sorted, without sorting them.

    The values are partitioned in memory, and the hashes of those records whose value a place has.

    Args:
        path: records of three unsigned 64-bit words, the first the most significant.
        number: how many there are.
        ranks: places, from 0.
    """
    if not ranks:
        return {}
    records = np.memmap(path, np.uint64, "r", shape=(number, _WORDS))
    return dict(_found(list(records.T), sorted(set(ranks)), 0, ()))


def _found(
    words: Sequence[Records], ranks: Sequence[int], below: int, begun: tuple[int, ...]
) -> Iterator[tuple[int, Place]]:
    """The records at some places among those that begin with the words ``begun``, below which ``below`` others are."""
    if not words:
        yield from ((rank, Place((begun[0], begun[1], begun[2]), below)) for rank in ranks)
        return
    first, *rest = words
    values = np.partition(first, [rank - below for rank in ranks])
    for value, same in groupby(ranks, key=lambda rank: int(values[rank - below])):
        lower = below + int(np.count_nonzero(values < np.uint64(value)))
        tied = first == np.uint64(value)
        yield from _found([word[tied] for word in rest], list(same), lower, (*begun, value))


def _compare(records: Records, bound: tuple[int, int, int]) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Which records are below a bound, and which equal it."""
    below, same = np.zeros(len(records), bool), np.ones(len(records), bool)
    for word, limit in enumerate(bound):
        below |= same & (records[:, word] < np.uint64(limit))
        same &= records[:, word] == np.uint64(limit)
    return below, same


def _records(values: Iterator[float], keys: Sequence[bytes], seed: int) -> Records:
    """The records of rows: their values, as words of the same order, and the hashes of their keys."""
    records = np.empty((len(keys), _WORDS), np.uint64)
    bits = (np.fromiter(values, np.float64, len(keys)) + 0.0).view(np.uint64)  # -0.0 is 0.0
    sign = np.uint64(1 << 63)
    records[:, 0] = np.where(bits & sign, ~bits, bits | sign)
    hashes = b"".join(map(xxhash.xxh3_128_digest, keys, repeat(seed)))
    records[:, 1:] = np.frombuffer(hashes, ">u8").astype(np.uint64).reshape(-1, 2)
    return records


def _number(word: int) -> float:
    """The value encoded in a record's first word."""
    bits = word ^ (1 << 63) if word >> 63 else word ^ ((1 << 64) - 1)
    return float(np.uint64(bits).view(np.float64))
