"""Which sentences of a group that shares a translation become pairs (:mod:`psp.pairs.pivot`)."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import xxhash

COVER, ALL = "cover", "all"


#: The largest number of pairs that ``all`` takes of a group.
MOST = 10


class MinedRow(NamedTuple):
    """A mined pair: its two sentences, the shared sentence, and the corpora of the two, in alphabetical order."""

    source: str
    target: str
    shared: str
    corpora: tuple[str, ...]


@dataclass
class Group:
    """The sentences of one key: for each side by their own keys, with the count of each spelling."""

    shared: Counter[str] = field(default_factory=Counter)
    sides: tuple[dict[str, Counter[str]], dict[str, Counter[str]]] = field(default_factory=lambda: ({}, {}))
    corpora: dict[tuple[int, str], set[int]] = field(default_factory=dict)


def pairs_of(group: Group, paraphrases: bool, how: str, seed: int, names: Sequence[str]) -> Iterator[MinedRow]:
    ordered: list[list[str]] = [
        sorted(side, key=lambda member: (xxhash.xxh3_128_intdigest(member.encode(), seed), member))
        for side in group.sides
    ]
    shared = _usual(group.shared)
    for one, other in _chosen(ordered, paraphrases, how):
        (left, first), (right, second) = one, other
        corpora = {names[index] for member in (one, other) for index in group.corpora[member]}
        yield MinedRow(
            _usual(group.sides[left][first]), _usual(group.sides[right][second]), shared, tuple(sorted(corpora))
        )


Member = tuple[Literal[0, 1], str]


def _chosen(ordered: list[list[str]], paraphrases: bool, how: str) -> Iterator[tuple[Member, Member]]:
    """Which sentences of a group become pairs."""
    first = ordered[0]
    if paraphrases:
        candidates: Iterable[tuple[str, str]] = itertools.combinations(first, 2)
        if how == COVER:
            odd = [(first[-1], first[0])] if len(first) % 2 else []
            candidates = itertools.chain(zip(first[0::2], first[1::2], strict=False), odd)
        yield from (((0, one), (0, other)) for one, other in itertools.islice(candidates, MOST if how == ALL else None))
        return
    second = ordered[1]
    if how == ALL:
        crossed = itertools.islice(itertools.product(first, second), MOST)
    else:
        longest = max(len(first), len(second))
        crossed = itertools.islice(zip(itertools.cycle(first), itertools.cycle(second), strict=False), longest)
    yield from (((0, one), (1, other)) for one, other in crossed)


def _usual(spellings: Mapping[str, int]) -> str:
    """The most frequent spelling; if tied, the first by code points."""
    return min(spellings, key=lambda text: (-spellings[text], text))
