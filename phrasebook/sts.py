"""Graded pairs of English sentences whose gold score is how much meaning they share.

The score of two meanings is ``5 * shared / all``: each part of a meaning (who, what, where, ...) has a weight,
``all`` sums the weights of the parts that either meaning has and ``shared`` those of the parts that both have with the
same concept. So 5 is a paraphrase, about 4 differs in something minor, about 2 keeps the event or its company, and 0
has nothing in common. Wording plays no part in it; :func:`pairs` even picks wordings against it: unlike ones for
close meanings, like ones for distant meanings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from phrasebook.meaning import Meaning, Sampler, is_held_out
from phrasebook.speak import English
from psp.text.keys import normalised_key

WORDINGS = 6  # of each sentence, to pick from
MOST = 0.5  # word overlap of close meanings
BINS = 10  # of equal width and equally filled


@dataclass(frozen=True, slots=True)
class GradedPair:
    score: float
    first: str
    second: str
    meanings: tuple[Meaning, Meaning]


def parts(meaning: Meaning) -> dict[str, tuple[str, float]]:
    """What a meaning is made of: role -> (concept, weight)."""
    event, plan, thing = meaning.event, meaning.plan, meaning.object
    found = {
        "event": (event.concept, 3.0), "domain": (event.domain, 0.5), "tense": (meaning.tense, 0.3),
        "subject": (meaning.subject.noun, 1.5), "object": (thing.noun, 2.5), "adjective": (thing.adjective, 0.8),
        "place": (meaning.place, 1.2), "time": (meaning.time, 1.0),
        "manner": (meaning.manner, 0.8), "company": (meaning.company.noun if meaning.company else "", 1.0),
        "tail": (meaning.tail, 1.3), "modal": (plan.modal, 1.0), "opener": (meaning.opener, 1.0),
        "asked": ("?" if plan.asked else "", 0.6), "negative": ("not" if plan.negative else "", 0.6),
    }  # fmt: skip
    return {role: (concept, weight) for role, (concept, weight) in found.items() if concept}


def score(first: Meaning, second: Meaning) -> float:
    """Shared meaning, 0 to 5; symmetric."""
    a, b = parts(first), parts(second)
    total = shared = 0.0
    for role in sorted(a.keys() | b.keys()):  # a set's order changes from run to run, and so would the sum
        weight = max(a.get(role, ("", 0.0))[1], b.get(role, ("", 0.0))[1])
        total += weight
        if role in a and role in b and a[role][0] == b[role][0]:
            shared += weight
    return round(5 * shared / total, 2)


def relative(meaning: Meaning, sampler: Sampler, rng: Random) -> Meaning:
    """A meaning at some distance of ``meaning``: each of its parts is kept with a chance drawn once for all."""
    kept = rng.random() * 1.15
    if kept >= 1:
        return meaning
    event = meaning.event if rng.random() < kept else None
    fresh = sampler.draw(event, meaning.plan if rng.random() < max(kept, 0.5) else None, meaning.tense)
    fits = ["subject"]
    if fresh.plan is meaning.plan and fresh.tense == meaning.tense:
        fits += ["tail", "time", "opener"]
    if event:
        fits += ["object", "manner", "company", "place"]
    return replace(fresh, **{role: getattr(meaning, role) for role in fits if rng.random() < kept})


def overlap(first: str, second: str) -> float:
    """Words in common over words in all."""
    a, b = set(first.lower().rstrip(".?!").split()), set(second.lower().rstrip(".?!").split())
    return len(a & b) / len(a | b)


def pairs(rng: Random, count: int, seen: set[str]) -> Iterator[GradedPair]:
    """``count`` graded pairs of held-out meanings, none of whose sentences is in ``seen`` (their keys are added)."""
    sampler = Sampler(rng, held=True)
    speaker = English(rng)
    room = [count // BINS + (number < count % BINS) for number in range(BINS)]
    while any(room):
        first = sampler.draw()
        second = relative(first, sampler, rng)
        gold = score(first, second)
        place = min(int(gold / 5 * BINS), BINS - 1)
        if not room[place] or not is_held_out(second):
            continue
        wordings = sorted(
            (overlap(a, b), a, b)
            for a in {speaker.say(first): None for _ in range(WORDINGS)}
            for b in {speaker.say(second): None for _ in range(WORDINGS)}
            if min(len(a.split()), len(b.split())) >= 5
        )
        if not wordings:
            continue
        shared, one, two = wordings[0 if gold >= 2.5 else -1]
        if gold >= 2.5 and shared > MOST:
            continue
        keys = {normalised_key(one), normalised_key(two)}
        if len(keys) < 2 or keys & seen:
            continue
        seen |= keys
        room[place] -= 1
        yield GradedPair(gold, one, two, (first, second))
