"""A corpus with known faults: every line is good or has exactly one kind of noise, and we know which.

Kinds of lines:

- ``good``: a pair whose sides occur nowhere else
- ``duplicate_exact``, ``duplicate_case``: a copy of an earlier good line; the latter in other letter case
- ``wrong_language``: one side is in German or Spanish, or is not translated at all (a copy of the other)
- ``too_short``: one or two tokens on both sides; ``too_long``: 101 to 150 tokens on one side or on both
- ``misaligned``: the targets of a block of consecutive lines are rotated by one
- ``shared``: a copy of a good line of another corpus
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

from phrasebook import foreign
from phrasebook.lexicon import NOUN_ADJECTIVES, NOUNS
from phrasebook.meaning import Sampler, Thing
from phrasebook.speak import NOBODY, English, French
from psp.core.errors import DataError
from psp.text.keys import normalised_key
from psp.text.words import word_count

BLOCK = 5  # lines of a misaligned block
SHORTEST, LONGEST = 5, 40  # tokens of a good sentence
LONG = (101, 150)  # tokens of a side that is too long

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Noise:
    """Which part of a corpus's lines is of each kind (the rest is good).

    ``shared`` counts in the second corpus only.
    """

    duplicate_exact: float = 0.02
    duplicate_case: float = 0.01
    wrong_language: float = 0.03
    too_short: float = 0.01
    too_long: float = 0.005
    misaligned: float = 0.01
    shared: float = 0.1

    def counts(self, lines: int, *, shared: bool) -> dict[str, int]:
        """Lines of each kind; misaligned ones come in whole blocks.

        Raises:
            DataError: the parts leave too few good lines, of which duplicates are copies.
        """
        found = {name: round(getattr(self, name) * lines) for name in KINDS}
        found["misaligned"] -= found["misaligned"] % BLOCK
        if not shared:
            del found["shared"]
        good = lines - sum(found.values())
        if min(found.values()) < 0 or good < max(1, found["duplicate_exact"] + found["duplicate_case"]):
            raise DataError(f"{lines} lines cannot hold this noise: {self}; ask for more lines or for less noise")
        return {"good": good, **found}


KINDS = tuple(Noise.__dataclass_fields__)


class Pairs:
    """An endless stream of good training pairs; no side of any comes twice, nor is it one of ``seen``."""

    def __init__(self, rng: Random, seen: set[str]) -> None:
        self.sampler = Sampler(rng, held=False)
        self.english, self.french = English(rng), French(rng)
        self.seen = seen

    def __iter__(self) -> Iterator[Pair]:
        return self

    def __next__(self) -> Pair:
        while True:
            meaning = self.sampler.draw()
            pair = self.english.say(meaning), self.french.say(meaning)
            if all(SHORTEST <= word_count(side) <= LONGEST for side in pair):
                keys = [normalised_key(side) for side in pair]
                if not self.seen.intersection(keys):
                    self.seen.update(keys)
                    return pair


@dataclass
class Corpus:
    """Lines and the truth about them: kind -> entries with ``line`` (from 1) and what else is known."""

    name: str
    lines: list[Pair]
    counts: dict[str, int]
    noise: dict[str, list[dict[str, Any]]]
    good: list[int] = field(default_factory=list)  # line numbers


def build(name: str, size: int, noise: Noise, rng: Random, seen: set[str], other: Corpus | None = None) -> Corpus:
    """A corpus of ``size`` lines; ``other`` is the corpus that it shares lines with.

    ``seen`` holds the keys (:func:`psp.text.keys.normalised_key`) of sentences that must not occur, and is added to.
    """
    counts = noise.counts(size, shared=other is not None)
    plan = [kind for kind, count in counts.items() for _ in range(count // (BLOCK if kind == "misaligned" else 1))]
    rng.shuffle(plan)
    pairs = Pairs(rng, seen)
    shared = deque(rng.sample(other.good, counts.get("shared", 0))) if other else deque()
    corpus = Corpus(name, [], counts, {kind: [] for kind in counts if kind != "good"})
    originals: list[int] = []  # good lines that may be copied, each once
    waiting: list[str] = []  # copies planned before there was anything to copy
    for kind in plan:
        if kind.startswith("duplicate"):
            waiting.append(kind)
        elif kind == "good":
            corpus.lines.append(next(pairs))
            corpus.good.append(len(corpus.lines))
            originals.append(len(corpus.lines))
        elif kind == "misaligned":
            _add_misaligned(corpus, pairs)
        elif kind == "shared":
            assert other is not None
            line = shared.popleft()
            _add(corpus, kind, other.lines[line - 1], other=line)
        elif kind == "wrong_language":
            _add_wrong_language(corpus, rng, pairs)
        elif kind == "too_short":
            _add(corpus, kind, _short(rng, seen))
        else:
            sides = ("source", "target", "both")[len(corpus.noise[kind]) % 3]
            _add(corpus, kind, _long(pairs, sides), side=sides)
        while waiting and originals:
            _add_copy(corpus, waiting.pop(), originals, rng)
    return corpus


def _add(corpus: Corpus, kind: str, pair: Pair, **known: object) -> None:
    corpus.lines.append(pair)
    corpus.noise[kind].append({"line": len(corpus.lines), **known})


def _add_copy(corpus: Corpus, kind: str, originals: list[int], rng: Random) -> None:
    at = int(rng.random() * len(originals))
    originals[at], originals[-1] = originals[-1], originals[at]
    line = originals.pop()
    source, target = corpus.lines[line - 1]
    if kind == "duplicate_case":
        recase = str.lower if rng.random() < 0.5 else shout
        source, target = recase(source), recase(target)
    _add(corpus, kind, (source, target), original=line)


def shout(text: str) -> str:
    """Lower-case but for the last word, which is in capitals: language identification still knows the language."""
    lead, last = text.rsplit(" ", 1)
    return f"{lead.lower()} {last.upper()}"


def _add_misaligned(corpus: Corpus, pairs: Pairs) -> None:
    block = [next(pairs) for _ in range(BLOCK)]
    for number, (source, _) in enumerate(block):
        _add(corpus, "misaligned", (source, block[number - 1][1]))


def _add_wrong_language(corpus: Corpus, rng: Random, pairs: Pairs) -> None:
    source, target = next(pairs)
    side = "source" if rng.random() < 0.5 else "target"
    language = (*foreign.LANGUAGES, "copy")[int(rng.random() * 3)]
    if language == "copy":
        pair = (target, target) if side == "source" else (source, source)
        _add(corpus, "wrong_language", pair, side=side, language="fr" if side == "source" else "en")
        return
    while True:
        text = foreign.sentence(language, rng)
        if normalised_key(text) not in pairs.seen:
            break
    pairs.seen.add(normalised_key(text))
    pair = (text, target) if side == "source" else (source, text)
    _add(corpus, "wrong_language", pair, side=side, language=language)


_SHORT = [
    (noun, adjective, many)
    for noun, entry in NOUNS.items()
    for adjective in ("", *NOUN_ADJECTIVES.get(noun, ()))
    for many in ((False, True) if entry.countable else (False,))
]


def _short(rng: Random, seen: set[str]) -> Pair:
    """One or two words a side: "Red dresses." """
    speakers = English(rng), French(rng)
    for _ in range(2000):
        noun, adjective, many = speakers[0].pick(_SHORT)
        thing = Thing(noun, "", adjective, many)
        said = speakers[0].noun(thing, ""), speakers[1].noun(thing, NOBODY)
        pair = said[0][0].upper() + said[0][1:] + ".", said[1][0].upper() + said[1][1:] + "."
        keys = {normalised_key(side) for side in pair}
        if all(word_count(side) <= 2 for side in pair) and not keys & seen:
            seen |= keys
            return pair
    raise DataError("there are not so many short phrases; ask for fewer lines or less too_short noise")


def _long(pairs: Pairs, sides: str) -> Pair:
    """Sentences joined until the sides named are too long; another side is one sentence."""
    while True:
        joined = [next(pairs)]
        while any(word_count(" ".join(side)) < LONG[0] for side in _sides(joined, sides)):
            joined.append(next(pairs))
        if all(word_count(" ".join(side)) <= LONG[1] for side in _sides(joined, sides)):
            sources, targets = zip(*joined, strict=True)
            return (
                " ".join(sources) if sides != "target" else sources[0],
                " ".join(targets) if sides != "source" else targets[0],
            )


def _sides(joined: list[Pair], sides: str) -> list[list[str]]:
    source, target = [a for a, _ in joined], [b for _, b in joined]
    return {"source": [source], "target": [target], "both": [source, target]}[sides]
