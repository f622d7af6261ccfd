"""The word tables, parsed once: concepts with their names in both languages.

A *concept* is what translations and synonyms share; it is named by its first English word. Everything that the
grammar says about meaning (templates, gold scores, what is held out) is said of concepts, never of words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from psp.corpora.phrasebook import circumstances, words
from psp.corpora.phrasebook.nouns import NOUNS as NOUN_TABLE


@dataclass(frozen=True, slots=True)
class Noun:
    """A thing or person: synonyms with both numbers, French ones with their gender ("m" or "f")."""

    concept: str
    number: str
    english: tuple[tuple[str, str], ...]
    french: tuple[tuple[str, str, str], ...]

    @property
    def countable(self) -> bool:
        return self.number == "count"


@dataclass(frozen=True, slots=True)
class Adjective:
    """A quality; each French name has the forms ms, fs, mp, fp and "mv" (masculine before a vowel), and a place."""

    concept: str
    english: tuple[str, ...]
    french: tuple[FrenchAdjective, ...]


@dataclass(frozen=True, slots=True)
class FrenchAdjective:
    before: bool
    forms: dict[str, str]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Fixed wordings of one concept: a place, a time, a manner."""

    concept: str
    english: tuple[str, ...]
    french: tuple[str, ...]


def rows(table: str) -> Iterator[tuple[list[str], str, str, str]]:
    """The lines of a table: the group's words, the concept, both sides.

    A line that only repeats a known concept puts it into one more group: its sides are empty.
    """
    group: list[str] = []
    for line in map(" ".join, map(str.split, table.strip().split("\n"))):
        if line.startswith("["):
            group = line.strip("[]").split()
            continue
        english, _, french = line.partition(" = ")
        yield group, english.split(",")[0].split("/")[0], english, french


def synonyms(side: str) -> tuple[str, ...]:
    """The wordings of one side; a comma at its very end belongs to the last wording."""
    return tuple(text.strip() for text in side.rstrip(",").split(", "))


def english_plural(word: str) -> str:
    head, _, tail = word.partition(" of ")
    if tail:
        return f"{english_plural(head)} of {tail}"
    if word.endswith(("s", "x", "ch", "sh", "ato")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def french_plural(word: str) -> str:
    for joint in (" de ", " d'", " à ", " au ", " aux "):
        head, found, tail = word.partition(joint)
        if found:
            return french_plural(head) + found + tail
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith(("au", "eu")):
        return word + "x"
    if word.endswith("al"):
        return word[:-2] + "aux"
    return " ".join(part + "s" for part in word.split())


def french_adjective(text: str) -> FrenchAdjective:
    """Read ``+beau/belle/bel``, ``=bon marché``, ``fatigué``."""
    before, fixed = text.startswith("+"), text.startswith("=")
    masculine, feminine, vowel, *_ = [*text.lstrip("+=").split("/"), "", "", ""]
    if fixed and not feminine:
        forms = dict.fromkeys(("ms", "fs", "mp", "fp", "mv"), masculine)
    else:
        lead, _, last = masculine.rpartition(" ")  # only the adjective itself agrees: "trop grand"
        lead = lead + " " if lead else ""
        lead_f, _, last_f = (feminine or masculine + "e").rpartition(" ")
        lead_f = lead_f + " " if lead_f else ""
        plural = last if last.endswith(("s", "x")) else last + "x" if last.endswith("eau") else last + "s"
        forms = {"ms": masculine, "fs": lead_f + last_f, "mp": lead + plural, "fp": lead_f + last_f + "s"}
        forms["mv"] = vowel or masculine
    return FrenchAdjective(before, forms)


def _nouns() -> tuple[dict[str, Noun], dict[str, list[str]]]:
    nouns: dict[str, Noun] = {}
    kinds: dict[str, list[str]] = {}
    numbers = ("mass", "plural", "en-plural", "fr-plural", "none")
    for group, concept, english_side, french_side in rows(NOUN_TABLE):
        number = next((word for word in group if word in numbers), "count")
        if french_side:
            english = []
            for text in synonyms(english_side):
                one, _, many = text.partition("/")
                plural = number in ("plural", "en-plural")
                english.append((one, one if plural else many or english_plural(one)))
            french = []
            for text in synonyms(french_side):
                text, gender = text.rsplit(" ", 1)
                one, _, many = text.partition("/")
                french.append((one, one if number in ("plural", "fr-plural") else many or french_plural(one), gender))
            nouns[concept] = Noun(concept, number, tuple(english), tuple(french))
        for kind in group:
            if kind not in numbers:
                kinds.setdefault(kind, []).append(concept)
    return nouns, kinds


def _adjectives(table: str) -> tuple[dict[str, Adjective], dict[str, list[str]]]:
    found: dict[str, Adjective] = {}
    kinds: dict[str, list[str]] = {}
    for group, concept, english, french in rows(table):
        if french:
            found[concept] = Adjective(
                concept, synonyms(english), tuple(french_adjective(text) for text in synonyms(french))
            )
        for kind in group:
            kinds.setdefault(kind, []).append(concept)
    return found, kinds


def _phrases(table: str) -> tuple[dict[str, Phrase], dict[str, list[str]]]:
    found: dict[str, Phrase] = {}
    kinds: dict[str, list[str]] = {}
    for group, concept, english, french in rows(table):
        if french:
            found[concept] = Phrase(concept, synonyms(english), synonyms(french))
        for kind in group:
            kinds.setdefault(kind, []).append(concept)
    return found, kinds


NOUNS, NOUN_KINDS = _nouns()
ADJECTIVES, ADJECTIVE_KINDS = _adjectives(words.ADJECTIVES)
COMPLEMENTS, COMPLEMENT_KINDS = _adjectives(words.COMPLEMENTS)
PLACES, PLACE_KINDS = _phrases(circumstances.PLACES)
RELATIONS, _ = _phrases(circumstances.RELATIONS)
TIMES, TIME_KINDS = _phrases(circumstances.TIMES)
FREQUENCIES, _ = _phrases(circumstances.FREQUENCIES)
MANNERS, MANNER_KINDS = _phrases(circumstances.MANNERS)
STATES, STATE_KINDS = _phrases(circumstances.STATES)
PURPOSES, PURPOSE_KINDS = _phrases(circumstances.PURPOSES)
CONDITIONS, _ = _phrases(circumstances.CONDITIONS)
OPENERS, OPENER_KINDS = _phrases(words.OPENERS)

NUMBERS, _ = _phrases(words.NUMBERS)

# Which adjectives describe a noun: those of all its kinds.
NOUN_ADJECTIVES: dict[str, list[str]] = {}
for _kind, _members in NOUN_KINDS.items():
    for _member in _members:
        known = NOUN_ADJECTIVES.setdefault(_member, [])
        known.extend(a for a in ADJECTIVE_KINDS.get(_kind, []) if a not in known)
