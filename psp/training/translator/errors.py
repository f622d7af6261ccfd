"""Put human-like errors of case, spelling and spacing into sentences, to train a canonicaliser."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from random import Random

#: Shares of words, or of gaps between them, that have an error of their kind.
_MISSPELT, _RUN_TOGETHER, _TAKEN_APART, _WIDENED = 0.2, 0.15, 0.08, 0.1


def with_errors(text: str, seed: int, kind: str | None = None) -> str:
    """Put errors into a sentence; the same ones for the same sentence and seed.

    Args:
        text: the sentence.
        seed: seed of the draws.
        kind: ``case``, ``spelling`` or ``spacing``; None for one to three of them, drawn.

    Returns:
        The sentence with errors; unchanged if there is nothing to change, such as a digit.
    """
    generator = Random(f"{seed} {text}")
    kinds = [kind] if kind else generator.sample(sorted(KINDS), generator.randint(1, len(KINDS)))
    # Spacing last: letters are misspelt in words that are whole.
    for one in sorted(kinds, key=list(KINDS).index):
        text = KINDS[one](text, generator)
    return text


def _case(text: str, generator: Random) -> str:
    """All lower case, all upper case, each word's first letter in upper case, or some words with swapped case."""
    way = generator.choice(("lower", "lower", "upper", "title", "swap"))
    if way == "swap":
        return re.sub(r"\w+", lambda word: word[0].swapcase() if generator.random() < 0.3 else word[0], text)
    if way == "title":
        return re.sub(r"\w+", lambda word: word[0][0].upper() + word[0][1:], text)
    return text.lower() if way == "lower" else text.upper()


def _spelling(text: str, generator: Random) -> str:
    """In words of four letters or more: two letters swapped, or one left out, doubled or replaced."""
    letters = [one for one in text.lower() if one.isalpha()]

    def misspelt(match: re.Match[str]) -> str:
        word = match[0]
        if generator.random() >= _MISSPELT:
            return word
        place = generator.randrange(1, len(word) - 1)  # the first letter and the last are rarely wrong
        way = generator.choice(("exchange", "leave out", "double", "replace"))
        if way == "exchange":
            return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        if way == "leave out":
            return word[:place] + word[place + 1 :]
        if way == "double":
            return word[:place] + word[place] + word[place:]
        return word[:place] + generator.choice(letters) + word[place + 1 :]

    return re.sub(r"[^\W\d_]{4,}", misspelt, text)


def _spacing(text: str, generator: Random) -> str:
    """Words run together or split, wide gaps, and spaces before punctuation."""

    def gap(match: re.Match[str]) -> str:
        drawn = generator.random()
        return "" if drawn < _RUN_TOGETHER else "  " if drawn < _RUN_TOGETHER + _WIDENED else match[0]

    def apart(match: re.Match[str]) -> str:
        word = match[0]
        if generator.random() >= _TAKEN_APART:
            return word
        place = generator.randrange(2, len(word) - 1)
        return f"{word[:place]} {word[place:]}"

    text = re.sub(r"[^\W\d_]{5,}", apart, re.sub(r"(?<=\w) (?=\w)", gap, text))
    return re.sub(
        r"(?<=\w)([.,!?])", lambda mark: f" {mark[0]}" if generator.random() < _RUN_TOGETHER else mark[0], text
    )


KINDS: Mapping[str, Callable[[str, Random], str]] = {"case": _case, "spelling": _spelling, "spacing": _spacing}
