"""Meanings: what a sentence says, before it is said in either language, and how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from psp.corpora.phrasebook.lexicon import (
    CONDITIONS,
    FREQUENCIES,
    NOUN_ADJECTIVES,
    NOUN_KINDS,
    NOUNS,
    PURPOSE_KINDS,
    STATE_KINDS,
    TIME_KINDS,
)
from psp.corpora.phrasebook.templates import AGES, AMOUNTS, EVENTS, HELD_EVENTS, Event, Plan, plan_tenses

PRONOUNS = ("I", "you", "he", "she", "we", "they")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Thing:
    """A noun phrase: a noun (or pronoun, complement, amount, age) with determiner, adjective, number and owner."""

    noun: str
    determiner: str = ""
    adjective: str = ""
    plural: bool = False
    number: int = 0
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a sentence says. Every field but the event, plan and tense may be empty."""

    event: Event
    plan: Plan
    tense: str
    subject: Thing
    object: Thing | None = None
    other: Thing | None = None
    place: str = ""  # a place, or "relation:building"
    time: str = ""
    manner: str = ""
    company: Thing | None = None
    frequency: str = ""
    tail: str = ""  # the state, purpose or condition of the second clause


def is_held_out(meaning: Meaning) -> bool:
    """Whether the template and the combination of a meaning are both kept from training."""
    return meaning.plan in meaning.event.plans[1] and argument(meaning) in meaning.event.arguments[True]


def argument(meaning: Meaning) -> str:
    """The word that makes the combination: the object, else the place, else the subject."""
    if meaning.event.objects:
        assert meaning.object is not None
        return meaning.object.noun
    return meaning.place if "placed" in meaning.event.flags else meaning.subject.noun


class Sampler:
    """Draws meanings: all from training's templates and combinations, or all from the held-out ones."""

    def __init__(self, rng: Random, *, held: bool) -> None:
        self.random = rng.random
        self.held = held
        self.events = HELD_EVENTS if held else EVENTS
        self._events_of: dict[str, list[Event]] = {}

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.random() * len(options))]

    def draw(self, event: Event | None = None, plan: Plan | None = None, tense: str = "") -> Meaning:
        """One meaning; event, plan and tense are drawn where not given (and where the event allows them)."""
        event = event or self.pick(self.events_of(plan) if plan else self.events)
        if plan is None or plan not in event.plans[self.held]:
            plan = self.pick(event.plans[self.held])
        tenses = plan_tenses(event, plan)
        tense = tense if tense in tenses else self.pick(tenses)
        key = self.pick(event.arguments[self.held]) if event.arguments[self.held] else ""
        subject = self._subject(event, plan, key)
        while key.endswith(f":{subject.noun}"):  # no bank is behind the bank
            subject = self._subject(event, plan, key)
        meaning = Meaning(event, plan, tense, subject)
        changes: dict[str, object] = {}
        if event.objects:
            changes["object"] = thing = self._object(event, key, subject)
            if event.other and ("other!" in event.flags or self.random() < 0.4):
                changes["other"] = self._other(event, thing, subject)
        if "placed" in event.flags:
            place = key if not event.objects else self.pick(event.places)
            while place.endswith(f":{key}"):
                place = self.pick(event.places)
            changes["place"] = place
        elif event.places and plan.mood != "where" and self.random() < 0.4:
            changes["place"] = self.pick(event.places)
        if "clock" in event.flags:
            changes["manner"] = self.pick(TIME_KINDS["clock"])
        elif event.manners and self.random() < 0.3:
            changes["manner"] = self.pick(event.manners)
        if "with" in event.flags and plan.mood != "who" and self.random() < 0.2:
            changes["company"] = self._person(subject, kin=True)
        if plan.link:
            changes["tail"] = self._tail(event, plan)
        changes.update(self._time(event, plan, tense, bare=len(changes) <= 1))
        return replace(meaning, **changes)  # type: ignore[arg-type]

    def events_of(self, plan: Plan) -> list[Event]:
        """The events that make a template with ``plan``."""
        if plan.name not in self._events_of:
            self._events_of[plan.name] = [event for event in self.events if plan in event.plans[self.held]]
        return self._events_of[plan.name]

    def _time(self, event: Event, plan: Plan, tense: str, *, bare: bool) -> dict[str, str]:
        chance = 0.85 if bare else 0.4
        if plan.mood == "when" or plan.aspect or plan.modal in ("glad", "fear"):
            return {}
        if event.kind == "state" and ("dated" not in event.flags or tense != "past"):
            return {}
        if "clock" in event.flags:
            return {"time": self.pick(TIME_KINDS["day-" + ("future" if plan.modal and tense == "present" else tense)])}
        if tense == "present" and not plan.modal:
            if event.kind == "dummy" or (plan.mood == "statement" and not plan.negative and self.random() < 0.4):
                return {"frequency": self.pick(tuple(FREQUENCIES))}
            return {"time": self.pick(TIME_KINDS["present"])} if self.random() < chance + 0.3 else {}
        if tense == "present":
            if plan.modal == "like":
                return {"time": self.pick(TIME_KINDS["present"])} if self.random() < chance else {}
            tense = "future"
        return {"time": self.pick(TIME_KINDS[tense])} if self.random() < chance else {}

    def _tail(self, event: Event, plan: Plan) -> str:
        if plan.link == "if":
            return self.pick(tuple(CONDITIONS))
        kinds = PURPOSE_KINDS if plan.link == "to" else STATE_KINDS
        special = kinds.get(event.domain)
        return self.pick(special if special and self.random() < 0.5 else kinds["any"])

    def _subject(self, event: Event, plan: Plan, key: str) -> Thing:
        if event.flags & {"dummy", "exists"}:
            return Thing("it")
        if plan.mood in ("command", "request"):
            return Thing("you")
        if plan.mood == "proposal":
            return Thing("we")
        if plan.mood == "who":
            return Thing("who")
        if event.subjects:
            whole = not event.objects and "placed" not in event.flags
            return self._named(key if whole else self.pick(event.subjects))
        if self.random() < 0.35:
            first = plan.mood == "ask" or plan.opener  # "did I?" and "I think that I" are said by few
            return Thing(self.pick(PRONOUNS[1:] if first else PRONOUNS))
        return self._person(None)

    def _named(self, noun: str) -> Thing:
        if noun in NOUN_KINDS["name"]:
            return Thing(noun)
        if noun in NOUN_KINDS["kin"]:
            return Thing(
                noun, self.pick(("my", "your") if noun in ("husband", "wife") else ("my", "my", "our", "your"))
            )
        if noun in NOUN_KINDS["person"] or noun in NOUN_KINDS["building"]:
            return Thing(noun, "the")
        shared = any(noun in NOUN_KINDS[kind] for kind in ("transport", "contest", "watched", "play"))
        determiner = self.pick(("the", "this") if shared else ("the", "the", "my", "this"))
        return Thing(noun, determiner, self._adjective(noun, 0.15))

    def _person(self, subject: Thing | None, *, kin: bool = False) -> Thing:
        while True:
            kind = "kin" if kin else self.pick(("kin", "kin", "staff", "name"))
            noun = self.pick(NOUN_KINDS[kind])
            if subject is None:
                return self._named(noun)
            if noun != subject.noun:
                return Thing(noun, "own")

    def _adjective(self, noun: str, chance: float) -> str:
        options = NOUN_ADJECTIVES.get(noun)
        return self.pick(options) if options and self.random() < chance else ""

    def _object(self, event: Event, noun: str, subject: Thing) -> Thing:
        if noun[0] == "@" or noun in AMOUNTS or noun in AGES:
            return Thing(noun)
        determiner = self.pick(event.determiners)
        entry = NOUNS[noun]
        if determiner in ("number", "many") and not entry.countable:
            determiner = "a"
        if entry.number == "none":
            return Thing(noun)
        if determiner == "none":
            determiner = "the"
        if determiner == "body":
            return Thing(noun, determiner)
        owner = self.pick([n for n in NOUN_KINDS["relative"] if n != subject.noun]) if determiner == "kin" else ""
        adjective = self._adjective(noun, 0.3) if determiner not in ("generic", "kin") else ""
        number = 2 + int(self.random() * 5) if determiner == "number" else 0
        often = {"a": 0.15, "the": 0.2, "own": 0.1, "this": 0.2, "generic": 1.0}.get(determiner, 0.0)
        plural = entry.countable and (number > 1 or determiner == "many" or self.random() < often)
        if noun in NOUN_KINDS["kin"]:
            determiner, plural = "own", False
        elif noun in NOUN_KINDS["staff"]:
            determiner = "the" if determiner == "own" else determiner
        return Thing(noun, determiner, adjective, plural, number, owner)

    def _other(self, event: Event, thing: Thing, subject: Thing) -> Thing:
        assert event.other is not None
        nouns, determiner, *_ = event.other
        if not nouns:  # the same kind as the object, but another
            kind = next(kind for kind, members in NOUN_KINDS.items() if thing.noun in members)
            nouns = tuple(NOUN_KINDS[kind])
        while True:
            noun = self.pick(nouns)
            if noun not in (thing.noun, subject.noun):
                break
        if noun in NOUN_KINDS["name"]:
            return Thing(noun)
        if noun in NOUN_KINDS["person"]:
            return Thing(noun, "own" if noun in NOUN_KINDS["kin"] else "the")
        return Thing(noun, determiner, plural=determiner == "generic" and NOUNS[noun].countable)
