r"""Mine pairs from bitext: sentences of one language that share a translation (Dadas 2022), in bounded memory.

Rows of bitext are grouped by the letters and digits of their shared side (:func:`psp.text.keys.normalised_key`), across
corpora. A group with several sentences on the other side gives paraphrases; a group that corpora of two other languages
share gives bitext of these two. On disk, rows are split by the top bits of their key's hash into buckets that each fit
in memory; within a bucket they are grouped by the key's text, so the hash affects only the order.

Nothing depends on the order of rows or corpora, or on the number of buckets: of sentences with the same letters and
digits, the most frequent spelling stands for all, if tied the first by code points; sentences of a group are in the
order of a seeded hash, and so are groups.
"""

from __future__ import annotations

import itertools
import logging
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, TypedDict, cast

import numpy as np
import xxhash

from psp.config.blocks.mixing import PivotBlock
from psp.core.errors import ConfigError
from psp.core.files import atomic_bytes, folder_beside, write_json
from psp.core.logs import Progress
from psp.models.cosines import cosines
from psp.models.embedding_cache import cached
from psp.models.registry import TextEncoder
from psp.pairs.dedupe import by_bucket, default_shards, seed_for
from psp.pairs.draw import HashDraw
from psp.pairs.pair_file import blocks, own_layout, rows_of, text_of, write_rows
from psp.text.keys import normalised_columns, normalised_keys

PairsOf = Literal["cover", "all"]


class PivotSettings(TypedDict):
    """The block pivot of the config."""

    pairs: PairsOf
    max_group: int | None  # the largest group that is used; null for all
    encoder: str | None  # what compared each sentence with its translation
    min_cosine: float | None  # the lowest cosine to its translation of a sentence that is used


class PivotTranslations(TypedDict):
    compared: int  # how many
    kept: int  # those whose cosine was large enough


class PivotPair(TypedDict):
    source: str  # one sentence
    target: str  # the other
    shared: str  # their shared translation
    corpora: list[str]  # the corpora that they are from


class PivotCounts(TypedDict):
    read: dict[str, int]  # pairs of bitext read, by corpus
    no_key: int  # pairs passed over, whose shared side has neither letters nor digits
    keys: int  # distinct shared sides, by their letters and digits
    groups: int  # shared sides with sentences to pair, too large groups not counted
    too_large: int  # groups left out because they are larger than max_group
    sizes: dict[str, int]  # groups by their number of sentences, those too large included
    sentences: int  # distinct sentences in the groups
    pairs: int  # pairs mined, before the filters
    by_corpus: dict[str, int]  # pairs with a sentence of each corpus


class MinedReport(PivotCounts):
    """Pairs mined from bitext, sentences that share a translation."""

    through: str  # the language of the shared translation
    settings: PivotSettings
    # distinct translations whose cosine was computed, since others share them; null without min_cosine
    translations: PivotTranslations | None
    sample: list[PivotPair]  # some of the pairs, chosen by a seed


class PivotReport(MinedReport):
    """Pairs mined from bitext, sentences that share a translation."""

    format: int
    languages: list[str]


log = logging.getLogger(__name__)
DEFAULTS = PivotBlock()

COVER, ALL = "cover", "all"
#: The largest number of pairs that ``all`` takes of a group.
MOST = 10
#: Pairs whose vectors are gathered at a time.
EMBEDDED = 4096
#: Groups in the report's sample.
SAMPLE = 50

Member = tuple[Literal[0, 1], str]


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


class Bitext(NamedTuple):
    """A pair file to mine from.

    Attributes:
        name: the corpus's, for reports.
        path: the file, ``source \t target``, with or without a score; each text in its own case, unsegmented.
        shared: the column of the shared side, 0 or 1.
        side: which side of the mined pairs its other column gives: 0 or 1; always 0 for paraphrases.
    """

    name: str
    path: Path
    shared: int
    side: int = 0

    @classmethod
    def between(cls, name: str, path: Path, columns: Sequence[str], languages: Sequence[str], through: str) -> Bitext:
        """By the languages of its two columns, of the mined pairs' two sides, and of the shared side."""
        shared = list(columns).index(through)
        other = columns[1 - shared]
        return cls(name, path, shared, 0 if languages[0] == languages[-1] else list(languages).index(other))


def mine(
    bitexts: Sequence[Bitext],
    out: Path,
    report: Path | None,
    *,
    languages: tuple[str, str],
    through: str,
    seed: int,
    pairs: str = DEFAULTS.pairs,
    max_group: int | None = DEFAULTS.max_group,
    encoder: str | None = None,
    min_cosine: float | None = None,
    shards: int | None = None,
    cache: Path | None = None,
) -> PivotReport:
    r"""Mine pairs.

    Args:
        bitexts: the pair files.
        out: the mined file, ``source \t target \t shared \t corpora \n``, corpora joined by ``+``; written completely
            or not at all. The same rows give the same bytes, in any order and with any ``shards``.
        report: path of the JSON that is returned; None for none.
        languages: of the two sides; equal for paraphrases.
        through: the language of the shared side.
        seed: of the order of sentences and groups.
        pairs, max_group, encoder, min_cosine: the block ``pivot``.
        cache: a folder for the encoder's vectors (:class:`psp.models.embedding_cache.CachedEncoder`); None for none.
        shards: buckets on disk; by default enough to keep each near :data:`psp.pairs.dedupe.BUCKET_BYTES`.

    Returns:
        ``format``, ``languages``, ``through``, ``settings``; ``read``, the pairs of each corpus, and ``no_key``, those
        whose shared side has neither letters nor digits; ``translations``, how many were ``compared`` and ``kept`` by
        their cosine, or None; ``keys``, the distinct ones; ``groups``, those with sentences
        to pair; ``too_large``, groups left out; ``sizes``, groups by their number of sentences; ``sentences`` and
        ``pairs`` that came out; ``by_corpus``, pairs with a sentence of each corpus; ``across``, pairs whose
        sentences have no corpus in common; ``sample``, some pairs with their shared side.

    Raises:
        ConfigError: ``pairs`` is neither of its values.
        DataError: an input is missing, not UTF-8 or has a row with another number of columns; or the disk is full.
    """
    if pairs not in (COVER, ALL):
        raise ConfigError(f"pivot.pairs: {pairs!r} is not allowed; allowed is {COVER} or {ALL}")
    if min_cosine is not None and encoder is None:
        raise ConfigError("pivot.min_cosine: needs an encoder; write e.g. `encoder: use-multilingual`")
    alike = None if min_cosine is None or encoder is None else _Alike(encoder, min_cosine, cache)
    out = Path(out)
    names = [bitext.name for bitext in bitexts]
    tally = _Tally(languages[0] == languages[1], max_group)
    sampled, sample_seed = HashDraw[MinedRow](SAMPLE), seed_for(seed, "pivot sample")
    with folder_beside(out) as folder, atomic_bytes(out) as file:
        count = shards or default_shards([bitext.path for bitext in bitexts])
        buckets = _Buckets(folder, count, seed_for(seed, "pivot"))
        with Progress("mining: hashing", "pairs") as bar:
            for index, bitext in enumerate(bitexts):
                tally.read[bitext.name] += buckets.add(bitext, index, bar)
        tally.no_key = buckets.no_key
        members = seed_for(seed, "pivot members")
        with Progress("mining: grouping", "pairs", tally.read.total()) as bar:
            sides = [bitext.side for bitext in bitexts]
            for rows, groups in buckets.groups(sides, tally.paraphrases, alike):
                for group in groups:
                    if not tally.counts(group):
                        continue
                    mined = list(pairs_of(group, tally.paraphrases, pairs, members, names))
                    tally.add(mined)
                    write_rows(file, ["\t".join((*row[:3], "+".join(row.corpora))).encode() for row in mined])
                    for row in mined:
                        sampled.add(xxhash.xxh3_64_digest("\t".join(row[:3]).encode(), sample_seed), row)
                bar.add(rows)
    tally.keys = buckets.keys
    summary: PivotReport = {
        "format": 1,
        "languages": list(languages),
        "through": through,
        "settings": {
            "pairs": cast("PairsOf", pairs),
            "max_group": max_group,
            "encoder": encoder,
            "min_cosine": min_cosine,
        },
        "translations": None if alike is None else {"compared": alike.compared, "kept": alike.kept},
        **tally.summary(),
        "sample": [
            {"source": row.source, "target": row.target, "shared": row.shared, "corpora": list(row.corpora)}
            for row in sampled.items()
        ],
    }
    if report is not None:
        write_json(report, summary)
    log.info(
        "%s pairs of %s through %s, from %s groups of %s pairs of bitext",
        f"{summary['pairs']:,}", "-".join(dict.fromkeys(languages)), through, f"{summary['groups']:,}",
        f"{tally.read.total():,}",
    )  # fmt: skip
    return summary


class _Buckets:
    """Rows of bitext by their key: ``shared \t sentence \t corpus`` in files that each fit in memory."""

    def __init__(self, folder: Path, shards: int, seed: int) -> None:
        self._paths = [folder / f"bucket{number}" for number in range(shards)]
        self._seed = seed
        self.no_key = self.keys = 0

    def add(self, bitext: Bitext, index: int, bar: Progress) -> int:
        """Split a file's rows into the buckets; return their number."""
        layout = own_layout(bitext.path)  # the workflow's files, and those of users
        seen = 0
        for number, block in blocks(bitext.path):
            cells = text_of(block, bitext.path, number, layout).replace("\n", "\t").split("\t")[:-1]
            shared = cells[bitext.shared :: layout.columns]
            others = cells[1 - bitext.shared :: layout.columns]
            keys = normalised_keys(shared)
            hashes = np.fromiter((self._hash(key) >> 64 for key in keys), np.uint64, len(keys))
            lines = [f"{one}\t{other}\t{index}".encode() for one, other in zip(shared, others, strict=True)]
            for file, some in by_bucket(hashes, self._paths):
                write_rows(file, [lines[row] for row in some.tolist()])
            self.no_key += keys.count("")
            seen += len(keys)
            bar.add(len(keys))
        return seen

    def _hash(self, key: str) -> int:
        return xxhash.xxh3_128_intdigest(key.encode(), self._seed)

    def groups(
        self, sides: Sequence[int], paraphrases: bool, alike: _Alike | None
    ) -> Iterator[tuple[int, list[Group]]]:
        """Yield each bucket's number of rows, and the groups that may give pairs, in the order of their hashes.

        Args:
            sides: of each file, the side that its sentences are on.
            paraphrases: whether there is one side only.
            alike: drops sentences that are unlike their translation. Only rows of keys with something to pair are
                compared: the others give nothing, whatever their cosine.
        """
        for path in self._paths:
            if not path.exists():
                continue
            rows = path.read_bytes()
            path.unlink()
            lines = rows_of(rows)
            cells = rows.decode().replace("\n", "\t").split("\t")[:-1]
            shared, others, indices = (cells[column::3] for column in range(3))
            del rows, cells
            keys = normalised_columns("\n".join(shared) + "\n")
            counts = Counter(keys)
            counts.pop("", None)
            self.keys += len(counts)
            # A key seen once, as nearly all are, has nothing to pair.
            wanted = [row for row, key in enumerate(keys) if counts[key] > 1]
            groups: dict[str, Group] = {}
            own = dict(zip(wanted, normalised_keys([others[row] for row in wanted]), strict=True))
            if alike is not None:
                members: dict[str, set[tuple[int, str]]] = {}
                for row, member in own.items():
                    if member:
                        members.setdefault(keys[row], set()).add((sides[int(indices[row])], member))
                paired = {
                    key for key, ones in members.items() if len(ones) > 1 and (paraphrases or len(dict(ones)) > 1)
                }
                compared = [row for row in wanted if keys[row] in paired]
                kept = alike.keep([shared[row] for row in compared], [others[row] for row in compared])
                own = {row: own[row] for row, keep in zip(compared, kept, strict=True) if keep}
            for row, member in own.items():
                index = int(indices[row])
                group = groups.setdefault(keys[row], Group())
                if member:
                    side = sides[index]
                    group.shared[shared[row]] += 1
                    group.sides[side].setdefault(member, Counter())[others[row]] += 1
                    group.corpora.setdefault((side, member), set()).add(index)
            yield len(lines), [groups[key] for key in sorted(groups, key=lambda key: (self._hash(key), key))]


class _Alike:
    """Selects sentences that are similar to their translation, by the cosine of their vectors, in their own case."""

    def __init__(self, encoder: str, least: float, cache: Path | None) -> None:
        self._encoder: TextEncoder = cached(encoder, cache)
        self._least = least
        self.compared = self.kept = 0

    def keep(self, shared: Sequence[str], others: Sequence[str]) -> list[bool]:
        """Whether each pair's cosine is large enough; each distinct pair and text is processed once."""
        pairs = list(dict.fromkeys(zip(shared, others, strict=True)))
        texts = list(dict.fromkeys(itertools.chain.from_iterable(pairs)))
        place = {text: row for row, text in enumerate(texts)}
        scores: list[float] = []
        if pairs:
            vectors = self._encoder.embed(texts)
            for start in range(0, len(pairs), EMBEDDED):
                rows = np.array([[place[one], place[other]] for one, other in pairs[start : start + EMBEDDED]])
                scores += cosines(vectors[rows[:, 0]], vectors[rows[:, 1]]).tolist()
        kept = {pair: score >= self._least for pair, score in zip(pairs, scores, strict=True)}
        self.compared += len(kept)
        self.kept += sum(kept.values())
        return [kept[pair] for pair in zip(shared, others, strict=True)]


class _Tally:
    """The counts of the report."""

    def __init__(self, paraphrases: bool, max_group: int | None) -> None:
        self.paraphrases, self._largest = paraphrases, max_group or sys.maxsize
        self.read: Counter[str] = Counter()
        self.no_key = self.keys = self._groups = self._large = self._sentences = self._pairs = 0
        self._sizes: Counter[int] = Counter()
        self._by_corpus: Counter[str] = Counter()

    def counts(self, group: Group) -> bool:
        """Whether a group gives pairs; counts the group."""
        sizes = [len(side) for side in group.sides]
        if (sizes[0] < 2) if self.paraphrases else not all(sizes):
            return False
        self._sizes[sum(sizes)] += 1
        if max(sizes) > self._largest:
            self._large += 1
            return False
        self._groups += 1
        self._sentences += sum(sizes)
        return True

    def add(self, rows: Sequence[MinedRow]) -> None:
        """Count a group's pairs."""
        self._pairs += len(rows)
        for row in rows:
            self._by_corpus.update(row.corpora)

    def summary(self) -> PivotCounts:
        """The counts, for JSON."""
        return {
            "read": dict(sorted(self.read.items())),
            "no_key": self.no_key,
            "keys": self.keys,
            "groups": self._groups,
            "too_large": self._large,
            "sizes": {str(size): count for size, count in sorted(self._sizes.items())},
            "sentences": self._sentences,
            "pairs": self._pairs,
            "by_corpus": dict(sorted(self._by_corpus.items())),
        }


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
