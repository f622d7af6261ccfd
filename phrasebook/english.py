"""English: verb forms, the verb group, and what changes where words meet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random

# The past of verbs, by their base.
_PAST = """
buy bought, sell sold, choose chose, bring brought, eat ate, drink drank, make made, cut cut, find found, lose lost,
hide hid, throw threw, write wrote, read read, send sent, begin began, forget forgot, teach taught, run ran, know knew,
understand understood, meet met, drive drove, sing sang, draw drew, feed fed, build built, pay paid, shut shut,
break broke, ring rang, take took, have had, mislay mislaid, swear swore
"""
PAST = dict(row.split() for row in _PAST.split(","))
DOUBLED = {"plan", "stop", "chat", "prefer", "drop"}
PRONOUNS = {"I", "you", "he", "she", "we", "they"}
BARE = {"can", "must"}  # no -s, no do, no to
CONTRACTED = {"do": "don't", "does": "doesn't", "did": "didn't", "is": "isn't", "are": "aren't", "was": "wasn't",
              "were": "weren't", "will": "won't", "can": "can't", "must": "mustn't"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Subject:
    """Who acts: the words, the person (1 to 3), the number, the possessive, and the pronoun of a second clause."""

    text: str
    person: int
    plural: bool
    own: str
    pronoun: str


def third(verb: str) -> str:
    """The third person singular of the present."""
    if verb == "have":
        return "has"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    return verb[:-1] + "ies" if verb.endswith("y") and verb[-2] not in "aeiou" else verb + "s"


def past(verb: str) -> str:
    """The simple past."""
    if verb in PAST:
        return PAST[verb]
    if verb.endswith("e"):
        return verb + "d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ied"
    return verb + (verb[-1] if verb in DOUBLED else "") + "ed"


def plural(noun: str) -> str:
    """The plural of a noun, whose first words may be others."""
    if noun.endswith(("s", "x", "ch", "sh")):
        return noun + "es"
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"


def be(subject: Subject, tense: str) -> str:
    """A form of "be": past or present."""
    if subject.plural or subject.person == 2:
        return "were" if tense == "past" else "are"
    if tense == "past":
        return "was"
    return "am" if subject.person == 1 else "is"


def predicate(
    subject: Subject, verb: str, tense: str, rng: Random, *, negative: bool = False, asked: bool = False
) -> str:
    """Subject and verb in their order: "she doesn't buy", "did she buy"; the tense is past, present or future."""
    head, _, rest = verb.partition(" ")
    singular = subject.person == 3 and not subject.plural
    auxiliary, main = "", head
    if head in BARE:
        auxiliary, main = head, ""
    elif head == "be":
        auxiliary, main = be(subject, tense), ""
    elif tense == "future":
        auxiliary = "will"
    elif negative or asked:
        auxiliary = "did" if tense == "past" else "does" if singular else "do"
    elif tense == "past":
        main = past(head)
    elif singular:
        main = third(head)
    words = [subject.text, auxiliary, "not" if negative else "", main, rest]
    if asked:
        words = [auxiliary, subject.text, main, rest]
    elif negative and auxiliary in CONTRACTED and rng.random() < 0.6:
        words = [subject.text, CONTRACTED[auxiliary], main, rest]
    elif not negative and auxiliary == "will" and subject.text in PRONOUNS and rng.random() < 0.4:
        words = [f"{subject.text}'ll", main, rest]
    return " ".join(filter(None, words))


_ARTICLE = re.compile(r"\b([Aa]) (?=(?!uni|use|euro|one\b)[aeiouAEIOU]|hour|honest)")


def finish(text: str, end: str) -> str:
    """Join what meets (a/an, can not), start with a capital and end with ``end``."""
    text = _ARTICLE.sub(r"\1n ", text).replace("can not", "cannot")
    return text[0].upper() + text[1:] + end
