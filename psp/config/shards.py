"""Decide, when the graph is built, how many jobs share a large corpus or model and which small corpora share a job.

By then nothing is downloaded, and the graph must not depend on what has been. So both follow from the catalogue's
``pairs`` or from a sample of the user's own file; a corpus of unknown size is filtered by a job of its own.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from psp.config.corpus_entries import CorpusSpec
from psp.config.made_entries import KEPT, SCORED, making, of_files
from psp.config.model import ModelEntry
from psp.config.rates import DEDUPE_RATE, FILTER_RATE, RANK_RATE, SIMILARITY_RATE
from psp.core.errors import PspError
from psp.corpora.kinds import of_kind
from psp.pairs.rank import DECILES

#: A corpus that takes less time is filtered in one job with others like it: a job takes 2 s to start.
SMALL_MINUTES = 1
Catalogue = Mapping[str, Mapping[str, Any]]  # the config's ``corpora``


def listed(catalogue: Catalogue, part: CorpusSpec, key: str) -> int | None:
    """The catalogue's entry for a part; None for all of the user's own files."""
    value = None if part.path else catalogue[part.corpus].get(key, {}).get(part.pair)
    return None if value is None else int(value)


class StageWork(NamedTuple):
    """A stage's work, shared by jobs of at most ``job_minutes``: ``pairs`` (0: unknown) at ``rate`` a second."""

    pairs: float
    rate: float
    job_minutes: float

    @property
    def minutes(self) -> float:
        """Of all jobs together."""
        return self.pairs / self.rate / 60

    @property
    def jobs(self) -> int:
        return max(1, math.ceil(self.minutes / self.job_minutes))


def filtering(catalogue: Catalogue, part: CorpusSpec) -> StageWork:
    """The work of the filters on a corpus; that on pairs made from others is unknown."""
    rate = SIMILARITY_RATE if part.filters["similarity"]["enabled"] else FILTER_RATE
    return StageWork(0 if part.sources else _pairs(catalogue, part) or 0, rate, part.filters["job_minutes"])


def ranking(catalogue: Catalogue, part: CorpusSpec) -> StageWork:
    """The work of ranking a corpus."""
    pairs = left([replace(part, cap=None, rank={**part.rank, "by": None})], known(catalogue, [part]))
    return StageWork(pairs, RANK_RATE[part.rank["by"]], part.filters["job_minutes"])


def deduplication(catalogue: Catalogue, part: CorpusSpec) -> StageWork:
    """The work on a corpus's duplicates, which are removed before it is cut to its cap."""
    pairs = left([replace(part, cap=None)], known(catalogue, [part]))
    return StageWork(pairs, DEDUPE_RATE, part.filters["job_minutes"])


def of_model(catalogue: Catalogue, model: ModelEntry, rate: float) -> StageWork:
    """The work of a stage on all pairs that a model is trained on."""
    return StageWork(left(model.parts, known(catalogue, model.parts)), rate, model["filters"]["job_minutes"])


def left(parts: Iterable[CorpusSpec], known: Mapping[str, int | None]) -> float:
    """About how many pairs of corpora are trained on, by the numbers of pairs of their files."""
    total = 0.0
    for part in parts:
        made = making(part)
        kept = SCORED if part.filters["score"]["enabled"] else KEPT
        pairs = made.planned(part, known) if made else kept * of_files(part, known)
        pairs *= len(part.rank["deciles"]) / DECILES if part.ranked else 1
        total += min(pairs, part.cap or math.inf)
    return total


def most_pairs(catalogue: Catalogue, parts: Iterable[CorpusSpec]) -> int | None:
    """The most pairs that corpora can give, before any of their stages has run; None: not known."""
    most: float = 0
    for part in parts:
        count, exact = listed(catalogue, part, "pairs"), True
        if part.path is not None:
            try:
                count, exact = part.of.count(Path(part.path), part.opus, part.names)
            except PspError:  # the job reports what is wrong with it
                return None
        if count is None or part.sources:
            return None
        most += min(count if exact else 2 * count, part.cap or math.inf)
    return int(most)


def known(catalogue: Catalogue, parts: Iterable[CorpusSpec]) -> dict[str, int | None]:
    """The numbers of pairs of the files of corpora."""
    files = [file for part in parts for file in part.sources or (part,)]
    return {file.path or file.download or "": _pairs(catalogue, file) for file in files}


def rows(catalogue: Catalogue, part: CorpusSpec) -> list[tuple[int, int | None]]:
    """The rows that each job filters: the first, counted from 0, and the one behind the last; None is the end.

    Args:
        catalogue: the config's ``corpora``.
        part: the corpus.
    """
    work = filtering(catalogue, part)
    count, size = work.jobs, math.ceil(work.pairs / work.jobs)
    # The last takes the rows that the catalogue does not count.
    return [(job * size, None if job == count - 1 else (job + 1) * size) for job in range(count)]


def small(catalogue: Catalogue, parts: Sequence[CorpusSpec]) -> list[CorpusSpec]:
    """The corpora of a model that one job filters: those known to take little time.

    How long a user's own filter takes is unknown.

    Args:
        catalogue: the config's ``corpora``.
        parts: the model's corpora.
    """
    works = [(part, filtering(catalogue, part)) for part in parts if not part.filters["custom"]]
    found = [part for part, work in works if work.pairs and work.minutes < SMALL_MINUTES]
    return found if len(found) > 1 else []


def _pairs(catalogue: Catalogue, part: CorpusSpec) -> int | None:
    if part.path is None:
        return listed(catalogue, part, "pairs")
    try:
        there = Path(part.path).stat()
        return _counted(part.kind, part.path, part.opus, part.names, there.st_size, there.st_mtime_ns)
    except (OSError, PspError):  # the job reports what is wrong with it
        return None


@functools.lru_cache
def _counted(kind: str, path: str, corpus: str, names: tuple[str, ...], size: int, changed: int) -> int:
    """The pairs of a file of this size and time of change."""
    return of_kind(kind).count(Path(path), corpus, names)[0]
