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

from psp.corpora.phrasebook.meaning import Meaning, Sampler, is_held_out
from psp.corpora.phrasebook.say_english import Speaker
from psp.text.keys import normalised_key

WORDINGS = 4  # of each sentence, to pick from
MOST = 0.6  # word overlap of close meanings
BINS = 10  # of equal width and equally filled


@dataclass(frozen=True, slots=True)
class GradedPair:
    score: float
    first: str
    second: str
    meanings: tuple[Meaning, Meaning]


def parts(meaning: Meaning) -> dict[str, tuple[str, float]]:
    """What a meaning is made of: role -> (concept, weight)."""
    event, plan = meaning.event, meaning.plan
    being = event.concept == "be"  # then what it is says more than that it is
    found = {"event": (event.concept, 0.5 if being else 3.0), "domain": (event.domain, 0.5)}
    found["tense"] = (meaning.tense, 0.3)
    found["subject"] = (meaning.subject.noun, 1.5)
    found["subject adjective"] = (meaning.subject.adjective, 0.7)
    if thing := meaning.object:
        found["object"] = (thing.noun, 3.5 if being else 2.5)
        found["object adjective"] = (thing.adjective, 0.8)
        found["object owner"] = (thing.owner, 0.8)
        found["object number"] = (str(thing.number or ""), 0.5)
    if meaning.other:
        found["other"] = (meaning.other.noun, 1.5)
    relation, _, building = meaning.place.rpartition(":")
    found["place"] = (building, 1.2)
    found["relation"] = (relation, 0.5)
    found["time"] = (meaning.time, 1.0)
    found["manner"] = (meaning.manner, 0.8)
    found["company"] = (meaning.company.noun if meaning.company else "", 1.0)
    found["frequency"] = (meaning.frequency, 0.8)
    found["tail"] = (meaning.tail, 1.3)
    found["modal"] = (plan.modal, 1.0)
    found["opener"] = (plan.opener, 1.0)
    found["aspect"] = (plan.aspect, 0.6)
    found["mood"] = (plan.mood if plan.mood != "statement" else "", 0.6)
    found["negative"] = ("not" if plan.negative else "", 0.6)
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
    fits = ["subject"] if _free_subject(meaning) and _free_subject(fresh) else []
    if fresh.plan is meaning.plan and fresh.tense == meaning.tense:
        fits += ["tail"] if fresh.event.domain == meaning.event.domain else []
        fits += ["time", "frequency"] if meaning.event.kind == fresh.event.kind == "act" else []
    if event:
        fits += ["object", "other", "manner", "company", "place", "subject"]
    return replace(fresh, **{role: getattr(meaning, role) for role in fits if rng.random() < kept})


def _free_subject(meaning: Meaning) -> bool:
    return not meaning.event.subjects and meaning.event.kind in ("act", "state") and "exists" not in meaning.event.flags


def overlap(first: str, second: str) -> float:
    """Words in common over words in all."""
    a, b = set(first.lower().rstrip(".?!").split()), set(second.lower().rstrip(".?!").split())
    return len(a & b) / len(a | b)


def pairs(rng: Random, count: int, seen: set[str]) -> Iterator[GradedPair]:
    """``count`` graded pairs of held-out meanings, none of whose sentences is in ``seen`` (their keys are added)."""
    sampler = Sampler(rng, held=True)
    speaker = Speaker(rng)
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
        shared, one, two = wordings[0 if gold >= 2.5 else len(wordings) // 2]
        if gold >= 2.5 and shared > MOST:
            continue
        keys = {normalised_key(one), normalised_key(two)}
        if len(keys) < 2 or keys & seen:
            continue
        seen |= keys
        room[place] -= 1
        yield GradedPair(gold, one, two, (first, second))
