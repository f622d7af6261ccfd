"""English: verb forms, the verb group, and what changes where words meet."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from random import Random

# base, past, participle
_IRREGULAR = """
be was been, have had had, do did done, go went gone, buy bought bought, get got got, sell sold sold,
pay paid paid, choose chose chosen, take took taken, bring brought brought, cost cost cost, eat ate eaten,
drink drank drunk, make made made, cut cut cut, find found found, lose lost lost, hide hid hidden, put put put,
feed fed fed, give gave given, send sent sent, show showed shown, lend lent lent, tell told told, read read read,
teach taught taught, write wrote written, begin began begun, leave left left, drive drove driven,
catch caught caught, win won won, swim swam swum, run ran run, sing sang sung, draw drew drawn,
sleep slept slept, fall fell fallen, feel felt felt, hurt hurt hurt, break broke broken, see saw seen,
meet met met, come came come, shut shut shut, set set set, freeze froze frozen, bake baked baked,
mean meant meant, swear swore sworn, build built built, seek sought sought, split split split,
mislay mislaid mislaid, keep kept kept, spend spent spent, learn learned learned, ring rang rung, lie lay lain,
stand stood stood, understand understood understood, say said said, think thought thought,
forget forgot forgotten
"""
IRREGULAR = {
    base: (past, participle) for base, past, participle in (row.split() for row in _IRREGULAR.strip().split(","))
}
# A last consonant that doubles: before -ed and -ing, before -ing only
DOUBLED_PAST = frozenset(["cancel", "chat", "drop", "jog", "nod", "plan", "prefer", "quarrel", "stop", "travel"])
DOUBLED = DOUBLED_PAST | frozenset(
    ["begin", "cut", "forget", "get", "put", "run", "set", "shut", "split", "swim", "win"]
)
CONTRACTIONS = {"do": "don't", "does": "doesn't", "did": "didn't", "is": "isn't", "are": "aren't", "was": "wasn't",
                "were": "weren't", "will": "won't", "has": "hasn't", "have": "haven't", "can": "can't",
                "could": "couldn't", "must": "mustn't"}  # fmt: skip
JOINED = {"am": "'m", "is": "'s", "are": "'re", "will": "'ll", "has": "'s", "have": "'ve"}
PRONOUNS = {"I", "you", "he", "she", "we", "they", "it"}
BARE = {"can", "must", "should"}  # modals: no -s, no do, no to


@dataclass(frozen=True, slots=True)
class Subject:
    """Who acts: the words, the person (1 to 3), the number, and the possessive that refers back to them."""

    text: str
    person: int
    plural: bool
    own: str


def third(verb: str) -> str:
    if verb == "have":
        return "has"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def past(verb: str) -> tuple[str, str]:
    """Simple past and participle."""
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb in DOUBLED_PAST:
        form = verb + verb[-1] + "ed"
    elif verb.endswith("e"):
        form = verb + "d"
    elif verb.endswith("y") and verb[-2] not in "aeiou":
        form = verb[:-1] + "ied"
    else:
        form = verb + "ed"
    return form, form


def gerund(verb: str) -> str:
    if verb in DOUBLED:
        return verb + verb[-1] + "ing"
    if verb == "lie":
        return "lying"
    if verb.endswith("e") and verb not in ("be", "see", "agree"):
        return verb[:-1] + "ing"
    return verb + "ing"


def be(subject: Subject, tense: str) -> str:
    if subject.plural or subject.person == 2:
        return "were" if tense == "past" else "are"
    if tense == "past":
        return "was"
    return "am" if subject.person == 1 else "is"


@lru_cache(maxsize=4096)
def chain_rest(chain: tuple[str, ...]) -> str:
    """What follows the head of a chain of verbs: ("enjoy -ing", "look for") -> "looking for"."""
    head = chain[0]
    _, _, rest = head.partition(" ")
    if len(chain) == 1:
        return rest
    first = chain[1].partition(" ")[0]
    tail = chain_rest(chain[1:])
    if rest.endswith("-ing"):
        return f"{rest[:-4]}{gerund(first)} {tail}".strip()
    return f"{rest} {first} {tail}".strip()


def group(subject: Subject, chain: tuple[str, ...], tense: str) -> tuple[str, str, str]:
    """The auxiliary ("" where there is none), the verb that follows it, and the rest.

    ``tense``: past, present, progressive, future, going, perfect; "do" asks for the form with do-support in the
    present and "did" for that in the past (negation and questions need them).
    """
    head = chain[0].partition(" ")[0]
    rest = chain_rest(chain)
    singular = subject.person == 3 and not subject.plural
    if tense == "future":
        return "will", head, rest
    if head in BARE:
        return ("could" if tense in ("past", "did") else head), "", rest
    if head == "would":
        return "would", "", rest
    if tense == "progressive":
        return be(subject, "present"), gerund(head), rest
    if tense == "going":
        return be(subject, "present"), "going to " + head, rest
    if tense == "perfect":
        return ("has" if singular else "have"), past(head)[1], rest
    if head == "be":
        return be(subject, "past" if tense in ("past", "did") else "present"), "", rest
    if tense == "do":
        return ("does" if singular else "do"), head, rest
    if tense == "did":
        return "did", head, rest
    if tense == "past":
        return "", past(head)[0], rest
    return "", (third(head) if singular else head), rest


def predicate(
    subject: Subject,
    chain: tuple[str, ...],
    tense: str,
    rng: Random,
    *,
    negative: bool = False,
    asked: bool = False,
    adverb: str = "",
) -> str:
    """Subject and verbs in their order: "she doesn't often buy", "did she buy"."""
    head = chain[0].partition(" ")[0]
    if (negative or asked) and tense in ("past", "present") and head not in BARE and head not in ("be", "would"):
        tense = "did" if tense == "past" else "do"
    auxiliary, verb, rest = group(subject, chain, tense)
    text = subject.text
    if asked:
        words = [auxiliary, text, adverb, verb, rest]
    elif not auxiliary:
        words = [text, adverb, verb, rest]
    elif negative:
        if auxiliary in CONTRACTIONS and rng.random() < 0.6:
            words = [text, CONTRACTIONS[auxiliary], adverb, verb, rest]
        else:
            words = [text, auxiliary, "not", adverb, verb, rest]
    elif text in PRONOUNS and auxiliary in JOINED and (verb or rest) and rng.random() < 0.4:
        words = [text + JOINED[auxiliary], adverb, verb, rest]
    else:
        words = [text, auxiliary, adverb, verb, rest]
    return " ".join(word for word in words if word)


_ARTICLE = re.compile(r"\b([Aa]) (?=(?!uni|use|euro|one\b)[aeiouAEIOU]|hour|honest)")


def finish(text: str, end: str) -> str:
    """Join what meets (a/an, can not), start with a capital and end with ``end``."""
    text = _ARTICLE.sub(r"\1n ", text).replace("can not", "cannot")
    return text[0].upper() + text[1:] + end
