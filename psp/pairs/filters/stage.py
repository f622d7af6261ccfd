"""The filter stage: read a corpus, write its good pairs, with counts and a sample of the dropped ones."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import logging
import multiprocessing
import signal
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import xxhash

from psp.config.blocks.filters import FiltersBlock
from psp.core.errors import DataError
from psp.core.files import atomic_text, write_json
from psp.core.logs import Progress
from psp.corpora.rows import BadRow, Row, batches
from psp.pairs.draw import HashDraw
from psp.pairs.filters.base import Batch, Filter, RowError
from psp.text.normalisation import Normaliser
from psp.text.repair import counted, repair
from psp.text.segment import Segmenter, unspaced_sides
from psp.text.words import clean as clean_text
from psp.text.words import clean_all


class FilterReport(TypedDict):
    """What the filters did to one corpus; seen is kept plus all dropped."""

    format: int
    corpus: str
    languages: list[str]
    filters: dict[str, dict[str, Any]]  # settings of the filters that ran, by name; disabled filters are absent
    segmented: dict[str, str]  # the segmenter of each segmented language, such as jieba for zh
    lower_case: bool  # whether the pairs kept are lower-cased
    normalisation: str | None  # the normalisation of the pairs kept; null: none
    repaired: dict[str, int]  # pairs whose entities or tags were repaired before the filters, by kind
    seen: int  # pairs read
    kept: int  # pairs kept
    dropped: dict[str, int]  # pairs dropped, by the first reason found


log = logging.getLogger(__name__)

EMPTY = "empty"
#: Maximum number of dropped pairs in the sample.
SAMPLE = 200

Rows = list[Row]


def filter_corpus(
    pairs: Iterable[Row],
    out: Path,
    report: Path,
    dropped: Path,
    *,
    corpus: str,
    languages: tuple[str, str],
    filters: Sequence[Filter],
    segmenters: Mapping[str, Segmenter] | None = None,
    lower_case: bool = FiltersBlock().lower_case,
    clean: bool = False,
    normalisation: str | None = None,
    prepared: bool = True,
    batch: int = 10_000,
    sample: int = SAMPLE,
    seed: int = 0,
    processes: int = 1,
) -> FilterReport:
    r"""Write the pairs that every filter keeps, in their original order; memory does not grow with the corpus.

    Each side is cleaned, filtered in its original case, segmented if its language has a segmenter, and finally
    lower-cased and normalised: a model that embeds text later must do the same in the same order. A pair is counted
    under its first reason; pairs with an empty side are dropped as ``empty`` whatever the filters, and rows that are
    not pairs under the reader's reason.

    Args:
        pairs: raw (source, target); for a corpus with scores, (source, target, score) in every row, and the translation
            score in every row or in none. A row may be a :class:`psp.corpora.rows.BadRow`.
        out: the pair file, ``source \t target \n``, with the scores of the pairs in further columns.
        report: JSON with the numbers of pairs seen, kept, and dropped by reason; also returned.
        dropped: a sample of the dropped pairs, ``reason \t source \t target \n``, cleaned but in their original case,
            with the score, if any, as the fourth column. For a row that is not a pair, the source is the row.
        languages: codes of the source's and the target's language.
        segmenters: by language code; of the languages that it does not know, a segmenter cuts names and quotations, as
            a model does that is not told the language of a text.
        clean: repair text before it is filtered (:mod:`psp.text.repair`).
        normalisation: the name of a normalisation (:mod:`psp.text.normalisation`), or none.
        prepared: write text as a model reads it, segmented, lower-cased and normalised; False: as it was, only cleaned,
            and without translation scores.
        batch: pairs filtered at a time.
        sample: maximum number of pairs in the sample. Reasons get equal shares; what a rare one leaves goes to others.
        seed: seed of the sample, which depends on the pairs dropped but not on their order.
        processes: workers; one means this process. The files are the same for any number and any ``batch``.

    Raises:
        DataError: from the reader of ``pairs``, from a filter, or the disk is full. No file is changed then.
    """
    for judge in filters:
        judge.prepare()
    normaliser = None if normalisation is None else Normaliser(normalisation)
    job = FilterJob(corpus, languages, tuple(filters), dict(segmenters or {}), lower_case, clean, normaliser, prepared)
    counts, repaired = Counter[str](), Counter[str]()
    seen = kept = 0
    drawn = defaultdict[str, HashDraw[str]](lambda: HashDraw(sample))
    with (
        atomic_text(out) as out_file,
        atomic_text(dropped) as dropped_file,
        Progress(f"filtering {corpus}", "pairs") as bar,
    ):
        numbered = ((1 + place * batch, rows) for place, rows in enumerate(batches(pairs, batch)))
        for done in _in_order(job, numbered, processes):
            out_file.write(done.text)
            seen += done.seen
            kept += done.kept
            repaired += done.repaired
            for reason, row in done.dropped:
                counts[reason] += 1
                drawn[reason].add(_key(row, seed), row)
            bar.add(done.seen)
        dropped_file.writelines(_lines(drawn, sample))
        summary: FilterReport = {
            "format": 1,
            "corpus": corpus,
            "languages": list(languages),
            "filters": {judge.name: judge.settings for judge in filters},
            "segmented": {
                language: segmenter.name
                for language, segmenter in job.segmenters.items()
                if language in languages and language in segmenter.cuts
            },
            "lower_case": lower_case,
            "normalisation": normalisation,
            "repaired": dict(sorted(repaired.items())),
            "seen": seen,
            "kept": kept,
            "dropped": dict(sorted(counts.items())),
        }
        write_json(report, summary)
    if not kept:
        log.warning("%s: none of %s pairs are left; what was dropped is in %s", corpus, f"{seen:,}", dropped)
    return summary


class _Done(NamedTuple):
    """A batch after the filters: lines to write, counts, (reason, other columns) of pairs dropped, repairs by kind."""

    text: str
    seen: int
    kept: int
    dropped: list[tuple[str, str]]
    repaired: Counter[str]


@dataclass(frozen=True, slots=True)
class FilterJob:
    """Processes a batch; depends only on the batch, so any process can do it."""

    corpus: str
    languages: tuple[str, str]
    filters: tuple[Filter, ...]
    segmenters: dict[str, Segmenter]
    lower_case: bool
    clean: bool
    normaliser: Normaliser | None
    prepared: bool

    def __call__(self, first: int, rows: Rows) -> _Done:
        """Filter rows, the first of which is the corpus's row number ``first``, counted from 1."""
        dropped = [(row.reason, f"{clean_text(row.text)}\t") for row in rows if isinstance(row, BadRow)]
        good: list[Any] = [row for row in rows if not isinstance(row, BadRow)] if dropped else rows
        # Working by columns takes a quarter off the stage's own time.
        source, target, *scores = map(list, zip(*good, strict=True)) if good else ([], [])
        source, target = clean_all(source), clean_all(target)
        repaired = Counter[str]()
        if self.clean:
            (source, of_source), (target, of_target) = repair(source), repair(target)
            repaired = counted(of_source, of_target)
        whole = source, target
        further: dict[str, Any] = dict(zip(("score", "translation"), scores, strict=False))
        unspaced = unspaced_sides(self.languages, self.segmenters)
        batch = Batch(source, target, source, target, unspaced=unspaced, **further)
        if not (all(source) and all(target)):
            reasons = [None if pair[0] and pair[1] else EMPTY for pair in zip(source, target, strict=True)]
            batch = batch.select(_drop(batch, reasons, dropped))
        source, target = (
            list(map(self.segmenters[language].segment, column)) if language in self.segmenters else column
            for language, column in zip(self.languages, (batch.source, batch.target), strict=True)
        )
        batch = replace(batch, source_tokens=source, target_tokens=target)
        kept: list[list[int]] = []  # for each filter that dropped something, the rows that it kept
        for judge in self.filters:
            try:
                reasons = judge(batch)
            except RowError as error:
                row = error.row
                for rows_kept in reversed(kept):
                    row = rows_kept[row]
                raise DataError(error.message, self.corpus, first + _places(rows, *whole)[row]) from error
            if reasons.count(None) < len(reasons):
                kept.append(_drop(batch, reasons, dropped))
                batch = batch.select(kept[-1])
        sides = (batch.source_tokens, batch.target_tokens) if self.prepared else (batch.source, batch.target)
        # repr is the shortest text that reads back as the same number.
        if batch.score is None:
            text = "".join(f"{source}\t{target}\n" for source, target in zip(*sides, strict=True))
        elif batch.translation is None or not self.prepared:
            rows_out = zip(*sides, batch.score, strict=True)
            text = "".join(f"{source}\t{target}\t{score!r}\n" for source, target, score in rows_out)
        else:
            scored = zip(*sides, batch.score, batch.translation, strict=True)
            text = "".join(f"{source}\t{target}\t{score!r}\t{other!r}\n" for source, target, score, other in scored)
        if self.prepared:
            text, batch = self._prepared(text, batch, dropped)
        return _Done(text, len(rows), len(batch), dropped, repaired)

    def _prepared(self, text: str, batch: Batch, dropped: list[tuple[str, str]]) -> tuple[str, Batch]:
        """The lines of a batch as a model reads them; pairs with a side of invisible characters alone are dropped."""
        # Lower-casing depends on neighbouring letters only (final sigma), never across a tab or line end.
        text = text.lower() if self.lower_case else text
        if self.normaliser is None:
            return text, batch
        text, emptied = self.normaliser.columns(text)
        if not emptied:
            return text, batch
        lines = text.split("\n")[:-1]
        reasons = [None if all(line.split("\t")[:2]) else EMPTY for line in lines]
        kept = _drop(batch, reasons, dropped)
        return "".join(f"{lines[row]}\n" for row in kept), batch.select(kept)


def _drop(batch: Batch, reasons: Sequence[str | None], dropped: list[tuple[str, str]]) -> list[int]:
    """Record the rows with a reason to be dropped; return the indices of the others."""
    kept = []
    for row, reason in enumerate(reasons):
        if reason is None:
            kept.append(row)
        else:
            score = "" if batch.score is None else f"\t{batch.score[row]}"
            dropped.append((reason, f"{batch.source[row]}\t{batch.target[row]}{score}"))
    return kept


def _places(rows: Rows, source: list[str], target: list[str]) -> list[int]:
    """The indices, among all rows, of those that the first filter gets; ``source`` and ``target`` are of good rows."""
    good = (place for place, row in enumerate(rows) if not isinstance(row, BadRow))
    return [place for place, *sides in zip(good, source, target, strict=True) if all(sides)]


def _in_order(job: FilterJob, numbered: Iterator[tuple[int, Rows]], processes: int) -> Iterator[_Done]:
    """Yield the processed batches in order; at most twice as many are in memory as there are workers."""
    if processes <= 1:
        yield from itertools.starmap(job, numbered)
        return
    # fork: other start methods import the main program again, which would run a workflow's script twice.
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("fork"), _set_job, (job,))
    try:
        waiting: deque[Future[_Done]] = deque()
        for first, rows in numbered:
            waiting.append(pool.submit(_run_job, first, rows))
            if len(waiting) >= 2 * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


_job: FilterJob


def _set_job(job: FilterJob) -> None:
    global _job
    _job = job
    with contextlib.suppress(AttributeError):  # prctl is Linux's; whoever is killed leaves no worker behind
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _run_job(first: int, rows: Rows) -> _Done:
    return _job(first, rows)


def _key(row: str, seed: int) -> bytes:
    return xxhash.xxh3_64_digest(row.encode(), seed % 2**64)


def _lines(drawn: Mapping[str, HashDraw[str]], most: int) -> Iterator[str]:
    """``reason \t row \n`` of the rows drawn for each reason; no more than ``most`` of all reasons together."""
    rows = {reason: draw.items() for reason, draw in drawn.items()}
    sizes = {reason: len(some) for reason, some in rows.items()}
    for reason, share in sorted(_shares(sizes, most).items()):
        for row in rows[reason][:share]:
            yield f"{reason}\t{row}\n"


def _shares(counts: Mapping[str, int], total: int) -> dict[str, int]:
    """Divide ``total`` places among the reasons as evenly as their counts allow."""
    shares: dict[str, int] = {}
    for place, (reason, count) in enumerate(sorted(counts.items(), key=lambda item: (item[1], item[0]))):
        shares[reason] = min(count, (total - sum(shares.values())) // (len(counts) - place))
    return shares
