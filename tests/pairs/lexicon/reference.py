"""The lexicon by plain dictionaries: every formula as it is written, one pair of words after another."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

from psp.text.word_tokenizer import split_words

Rows = list[tuple[str, ...]]


def plain_lexicon(rows: Rows, *, paraphrases: bool, settings: dict) -> tuple[list[str], Plain]:
    """The lines of lexicon.tsv, and the counts."""
    plain = Plain(rows, paraphrases, settings)
    least, smoothing = settings["min_count"], settings["smoothing"]
    found = []
    for (u, v), count in plain.across.items():
        if count < least or (paraphrases and u >= v):
            continue
        cross = plain.cross(u, v, smoothing)
        values = [cross, cross - plain.within(u, v, smoothing)] if paraphrases else [cross]
        found.append((round(-values[-1], 4), u, v, count, [f"{round(value, 4) + 0.0:.4f}" for value in values]))
    header = "u\tv\tcount\tcross" + "\tadjusted" * paraphrases
    return [header, *("\t".join([u, v, str(count), *values]) for _, u, v, count, values in sorted(found))], plain


class Plain:
    """Counts of words and of pairs of words, by the words themselves."""

    def __init__(self, rows: Rows, paraphrases: bool, settings: dict) -> None:
        self.paraphrases = paraphrases
        self.frequency: list[Counter] = [Counter(), Counter()]
        self.across: Counter = Counter()
        self.inside: list[Counter] = [Counter(), Counter()]
        self.pairs = 0
        occurrences: list[Counter] = [Counter(), Counter()]
        kept = []
        for first, second, *third in rows:
            if settings["min_score"] is not None and float(third[0]) < settings["min_score"]:
                continue
            sides = split_words(first.lower()), split_words(second.lower())
            if settings["within_length"] is not None and max(map(len, sides)) > settings["within_length"]:
                continue
            kept.append(sides)
            for side, counter in zip(sides, occurrences, strict=True):
                counter.update(word for word in side if any(map(str.isalnum, word)))
        if paraphrases:
            occurrences = [occurrences[0] + occurrences[1]] * 2
        stopped = [
            set(sorted(counter, key=lambda word: (-counter[word], word))[: settings["stop_top"]])
            for counter in occurrences
        ]
        for sides in kept:
            self.pairs += 1
            first, second = (
                {word for word in side if any(map(str.isalnum, word))} - stop
                for side, stop in zip(sides, stopped, strict=True)
            )
            self.frequency[0].update(first)
            self.frequency[1].update(second)
            self.across.update(product(first, second))
            if paraphrases:
                self.across.update(product(second, first))
            self.inside[0].update(product(first, first))
            self.inside[1].update(product(second, second))

    def cross(self, u: str, v: str, smoothing: float) -> float:
        one, other = self.frequency
        if self.paraphrases:
            expected = (one[u] + other[u]) * (one[v] + other[v]) / (2 * self.pairs)
        else:
            expected = one[u] * other[v] / self.pairs
        return math.log((self.across[u, v] + smoothing) / (expected + smoothing))

    def within(self, u: str, v: str, smoothing: float) -> float:
        found = [
            math.log((inside[u, v] + smoothing) / (side[u] * side[v] / self.pairs + smoothing))
            if smoothing or inside[u, v]
            else 0.0
            for inside, side in zip(self.inside, self.frequency, strict=True)
        ]
        return sum(found) / 2
