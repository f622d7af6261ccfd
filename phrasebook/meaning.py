"""Meanings: what a sentence says, before it is said in either language, and how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from phrasebook.lexicon import (
    MANNERS,
    MODALS,
    NOUN_ADJECTIVES,
    NOUN_KINDS,
    NOUNS,
    OPENERS,
    PLACES,
    STATES,
    TIMES,
    VERBS_,
    words,
)

PRONOUNS = ("I", "you", "he", "she", "we", "they")
#: Of how many templates, and of how many objects of an event, one is kept from training.
TEMPLATES, OBJECTS = 5, 4
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plan:
    """How a sentence is made: whether it denies or asks, and what it adds."""

    name: str
    tenses: tuple[str, ...]
    negative: bool = False
    asked: bool = False
    modal: str = ""
    opened: bool = False
    link: str = ""


ALL = ("past", "present", "future")
PLANS = (
    Plan("plain", ALL), Plan("not", ALL, negative=True), Plan("ask", ALL, asked=True), Plan("opener", ALL, opened=True),
    Plan("because", ("past", "present"), link="because"), Plan("but", ("past", "present"), link="but"),
    *(
        Plan(name, tuple(tense for tense in ALL if (name, tense) in MODALS), modal=name)
        for name in dict.fromkeys(name for name, _ in MODALS)
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event:
    """What can happen. ``plans`` and ``arguments`` (its objects) are those of training, and those held out."""

    concept: str
    domain: str
    english: tuple[str, ...]
    french: tuple[str, ...]
    determiners: tuple[str, ...]
    state: bool
    plans: dict[bool, tuple[Plan, ...]]
    arguments: dict[bool, tuple[str, ...]]


def _events() -> list[Event]:
    rows: list[tuple[str, tuple[str, ...], tuple[str, ...], list[str], tuple[str, ...], bool]] = []
    domain = ""
    for line in VERBS_.strip().split("\n"):
        if line[0] == "[":
            domain = line.strip("[]")
            continue
        verbs, kinds, leads, *state = (part.strip() for part in line.split(" ; "))
        nouns = list(dict.fromkeys(noun for kind in kinds.split() for noun in NOUN_KINDS[kind]))
        said, dit = map(words, verbs.split(" = "))
        rows.append((domain, said, dit, nouns, tuple(leads.split()), bool(state)))
    trained = [{noun for at, noun in enumerate(row[3]) if (number + at) % OBJECTS} for number, row in enumerate(rows)]
    found = []
    for number, (place, english, french, nouns, determiners, is_state) in enumerate(rows):
        elsewhere = set().union(*trained[:number], *trained[number + 1 :])
        held = {noun for noun in nouns if noun not in trained[number] and noun in elsewhere}
        plans = [plan for plan in PLANS if not (is_state and plan.modal)]
        of_plans = [(plan, not (number + at) % TEMPLATES) for at, plan in enumerate(plans)]
        found.append(
            Event(
                english[0], place, english, french, determiners, is_state,
                {held_out: tuple(plan for plan, one in of_plans if one == held_out) for held_out in (False, True)},
                {False: tuple(n for n in nouns if n not in held), True: tuple(n for n in nouns if n in held)},
            )
        )  # fmt: skip
    return found


EVENTS = _events()
HELD_EVENTS = [event for event in EVENTS if event.plans[True] and event.arguments[True]]


@dataclass(frozen=True, slots=True)
class Thing:
    """A noun phrase: a noun (or pronoun) with determiner, adjective and number (one or several)."""

    noun: str
    determiner: str = ""
    adjective: str = ""
    plural: bool = False


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a sentence says. Every field but the event, plan, tense, subject and object may be empty."""

    event: Event
    plan: Plan
    tense: str
    subject: Thing
    object: Thing
    place: str = ""
    time: str = ""
    manner: str = ""
    company: Thing | None = None
    opener: str = ""
    tail: str = ""  # the state of the second clause


def is_held_out(meaning: Meaning) -> bool:
    """Whether the template and the combination of a meaning are both kept from training."""
    return meaning.plan in meaning.event.plans[True] and meaning.object.noun in meaning.event.arguments[True]


class Sampler:
    """Draws meanings: all from training's templates and combinations, or all from the held-out ones."""

    def __init__(self, rng: Random, *, held: bool) -> None:
        self.random, self.held = rng.random, held
        self.events = HELD_EVENTS if held else EVENTS

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.random() * len(options))]

    def draw(self, event: Event | None = None, plan: Plan | None = None, tense: str = "") -> Meaning:
        """One meaning; event, plan and tense are drawn where not given (and where the event allows them)."""
        event = event or self.pick(self.events)
        plan = plan if plan in event.plans[self.held] else self.pick(event.plans[self.held])
        assert plan is not None
        tense = tense if tense in plan.tenses else self.pick(plan.tenses)
        subject = self._subject(plan)
        meaning = Meaning(event, plan, tense, subject, self._object(event, subject))
        changes: dict[str, object] = {}
        if not event.state:
            if self.random() < 0.45:
                changes["place"] = self.pick(list(PLACES[event.domain]))
            if self.random() < 0.25:
                changes["manner"] = self.pick(list(MANNERS))
            if self.random() < 0.15:
                changes["company"] = self._person(subject, own=True)
        when = "future" if plan.modal and tense == "present" else tense
        if not (event.state and tense != "present") and self.random() < (0.5 if changes else 0.9):
            changes["time"] = self.pick(list(TIMES[when]))
        if plan.opened:
            changes["opener"] = self.pick(list(OPENERS))
        if plan.link:
            changes["tail"] = self.pick(list(STATES))
        return replace(meaning, **changes)  # type: ignore[arg-type]

    def _subject(self, plan: Plan) -> Thing:
        if self.random() < 0.35:
            return Thing(self.pick(PRONOUNS[1:] if plan.asked or plan.opened else PRONOUNS))
        return self._person(None)

    def _person(self, subject: Thing | None, *, own: bool = False) -> Thing:
        while True:
            noun = self.pick(NOUN_KINDS["kin" if own else self.pick(("kin", "kin", "staff", "name"))])
            if subject is not None and noun == subject.noun:
                continue
            if noun in NOUN_KINDS["name"]:
                return Thing(noun)
            if noun in NOUN_KINDS["staff"]:
                return Thing(noun, "the")
            return Thing(noun, "own" if own else self.pick(("my", "my", "our", "your")))

    def _object(self, event: Event, subject: Thing) -> Thing:
        while (noun := self.pick(event.arguments[self.held])) == subject.noun:
            pass
        determiner = self.pick(event.determiners)
        if noun in NOUN_KINDS["name"]:
            return Thing(noun)
        if noun in NOUN_KINDS["kin"] or noun in NOUN_KINDS["staff"]:
            return Thing(noun, "own" if noun in NOUN_KINDS["kin"] else "the")
        entry = NOUNS[noun]
        often = {"a": 0.15, "the": 0.2, "own": 0.1, "this": 0.2, "generic": 1.0}.get(determiner, 1.0)
        options = NOUN_ADJECTIVES.get(noun)
        adjective = self.pick(options) if options and determiner != "generic" and self.random() < 0.3 else ""
        return Thing(noun, determiner, adjective, entry.countable and self.random() < often)
