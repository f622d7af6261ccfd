"""Collect the vocabulary of a model of words or character trigrams: the most frequent ones of its training pairs.

All tokens are counted. The counts are kept in memory up to a limit; beyond it they go to sorted files that are merged
in the end, so memory does not grow with the corpus and the limit does not change the result.
"""

from __future__ import annotations

import contextlib
import heapq
import itertools
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, cast

from psp.config.blocks.vocabulary import VocabularyBlock
from psp.core.errors import ConfigError, DataError
from psp.core.files import atomic, folder_beside, sha256, write_json
from psp.core.logs import Progress
from psp.pairs.pair_file import read_mixed, read_sides
from psp.text.tokenizer_kinds import of_vocabulary
from psp.text.vocabulary import FILE

DEFAULTS = VocabularyBlock()


class VocabularySplit(TypedDict, total=False):
    split: Literal["letters", "whitespace"]  # how text is split, of a kind with that choice


class VocabularyReport(VocabularySplit):
    """How a vocabulary of tokens that are collected from the pairs was made."""

    format: int
    kind: str  # the kind of tokenizer, and so what an entry is
    asked: int  # the maximum number of entries
    min_count: int  # the minimum number of occurrences of an entry
    entries: int  # actual number of entries, without the unknown one
    sentences: int  # sentences counted, both sides
    tokens: int  # tokens in these sentences
    distinct: int  # distinct tokens in these sentences
    covered: int  # tokens in these sentences that have an entry; the others are unknown
    sha256: str  # SHA-256 of vocabulary.txt


S = TypeVar("S")

#: Distinct tokens that are counted in memory, about 200 MB.
MOST_IN_MEMORY = 1_000_000
#: Sentences counted at a time.
_BATCH = 10_000


def build_vocabulary(
    mixed: Path,
    out: Path,
    *,
    kind: str,
    size: int = DEFAULTS.size,
    min_count: int = DEFAULTS.min_count,
    split: str = DEFAULTS.split,
    report: Path,
    most_in_memory: int = MOST_IN_MEMORY,
    own: bool = False,
) -> VocabularyReport:
    """Write the vocabulary of a mixed pair file, most frequent entries first and equally frequent ones by code points.

    Args:
        mixed: the mixed pair file, whose text is already lower-cased and segmented where needed.
        out: the vocabulary file (:mod:`psp.text.vocabulary`). The same pairs give the same bytes, in any order.
        kind: a kind of tokenizer that has a list of entries, such as ``word`` or ``trigram``.
        size: the maximum number of entries.
        min_count: leave out tokens that occur less often.
        split: how text is split into words.
        report: the JSON's path: kind, split (of words), asked, min_count, entries, sentences, tokens, distinct,
            covered, sha256.
        most_in_memory: distinct tokens counted in memory, which does not change the result.
        own: ``mixed`` may be written by hand, and be a pair file as well.

    Returns:
        What the report holds.

    Raises:
        ConfigError: there is no such kind, or nothing occurs ``min_count`` times.
        DataError: the input is missing, invalid or empty, or the vocabulary cannot be written.
    """
    try:
        chosen = of_vocabulary(kind)
    except DataError as error:
        raise ConfigError(f"encoder: {error}") from None
    settings: dict[str, Any] = {key: value for key, value in {"split": split}.items() if key in chosen.block_keys}
    tokens = chosen.splitter(**settings)
    totals = {"sentences": 0, "tokens": 0, "distinct": 0, "covered": 0}
    with folder_beside(out) as folder:
        counts = counted(_sentences(mixed, totals, own), tokens, folder, most_in_memory)
        entries = heapq.nsmallest(size, _frequent(counts, min_count, totals), key=lambda entry: (-entry[1], entry[0]))
    if not totals["sentences"]:
        raise DataError("no sentences to collect a vocabulary from; are the filters too strict?", mixed)
    if not entries:
        raise ConfigError(
            f"vocabulary: min_count is {min_count}, but no {kind} of {mixed} occurs that often; write e.g. "
            "`vocabulary: {min_count: 1}`"
        )
    totals["covered"] = sum(count for _, count in entries)
    with atomic(out) as temporary:
        temporary.write_bytes(chosen(entries, **settings).contents()[FILE])
    result: VocabularyReport = {
        "format": 1,
        "kind": kind,
        **cast("VocabularySplit", settings),
        "asked": size,
        "min_count": min_count,
        "entries": len(entries),
        "sentences": totals["sentences"],
        "tokens": totals["tokens"],
        "distinct": totals["distinct"],
        "covered": totals["covered"],
        "sha256": sha256(out),
    }
    write_json(report, result)
    return result


def _sentences(mixed: Path, totals: dict[str, int], own: bool) -> Iterator[str]:
    pairs = read_sides(mixed) if own else (row[:2] for row in read_mixed(mixed))
    with Progress("counting for the vocabulary", "sentences") as progress:
        for source, target in pairs:
            totals["sentences"] += 2
            yield source
            yield target
            progress.add(2)


def counted(
    sentences: Iterator[S], tokens: Callable[[S], list[str]], folder: Path, most: int
) -> Iterator[tuple[str, int]]:
    """Yield each distinct token and its count, by code points; ``folder`` takes what does not fit in memory.

    Args:
        sentences: the sentences.
        tokens: splits one; no token holds a tab or a line feed.
        folder: an empty one, which is not emptied.
        most: distinct tokens in memory.
    """
    counts: Counter[str] = Counter()
    files: list[Path] = []
    for batch in iter(lambda: list(itertools.islice(sentences, _BATCH)), []):
        counts.update(itertools.chain.from_iterable(map(tokens, batch)))
        if len(counts) > most:
            files.append(folder / f"{len(files)}.tsv")
            with files[-1].open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(f"{token}\t{count}\n" for token, count in sorted(counts.items()))
            counts.clear()
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(path.open(encoding="utf-8", newline="\n")) for path in files]
        runs: list[Iterable[tuple[str, int]]] = [sorted(counts.items()), *map(_read, opened)]
        for token, group in itertools.groupby(heapq.merge(*runs), key=operator.itemgetter(0)):
            yield token, sum(count for _, count in group)


def _read(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    for line in lines:
        token, _, count = line.partition("\t")
        yield token, int(count)


def _frequent(counts: Iterator[tuple[str, int]], min_count: int, totals: dict[str, int]) -> Iterator[tuple[str, int]]:
    for token, count in counts:
        totals["distinct"] += 1
        totals["tokens"] += count
        if count >= min_count:
            yield token, count
