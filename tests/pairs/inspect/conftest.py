"""Corpora of made words, of which every right pair is known."""

import random

from psp.pairs.inspect.reading import read


def made(pairs: int, seed: int = 0) -> list[tuple[str, str]]:
    """Sentences of a made language with their word-for-word translations into another one."""
    chance = random.Random(seed)
    source, target = ([f"{first}{a}{b}" for a in "aeiou" for b in "bdgklmnrst" for first in kind] for kind in
                      ("pfvz", "cqxw"))  # fmt: skip
    found = []
    for _ in range(pairs):
        words = [min(int(chance.expovariate(0.03)), len(source) - 1) for _ in range(chance.randint(3, 14))]
        found.append((" ".join(source[word] for word in words), " ".join(target[word] for word in reversed(words))))
    return found


def shifted(rows: list[tuple[str, str]], start: int) -> list[tuple[str, str]]:
    """The rows with the target's line ``start`` taken out, so that all later ones move up."""
    targets = [target for _, target in rows]
    targets = [*targets[:start], *targets[start + 1 :], targets[start]]
    return [(source, target) for (source, _), target in zip(rows, targets, strict=True)]


def shuffled(rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    targets = [target for _, target in rows]
    random.Random(1).shuffle(targets)
    return [(source, target) for (source, _), target in zip(rows, targets, strict=True)]


def looked_at(rows, size=2000, seed=0, tests=None):
    return read(iter(rows), size=size, seed=seed, what="made", tests=tests)
