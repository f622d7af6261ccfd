"""Templates: what can happen (events), put into the ways of saying that it does (plans).

A *template* is an event in a plan (statement, question, wish, command, "because", ...); a *combination* is an event
with its main argument. One in six of each is held out of training by a checksum of its name, so that the evaluation
sets, which use held-out templates with held-out combinations only, ask for words in company they were never seen in.
"""

from __future__ import annotations

import zlib
from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from psp.corpora.phrasebook import words
from psp.corpora.phrasebook.events import EVENTS as EVENT_TABLE
from psp.corpora.phrasebook.lexicon import (
    COMPLEMENT_KINDS,
    MANNER_KINDS,
    NOUN_KINDS,
    NOUNS,
    NUMBERS,
    OPENER_KINDS,
    PLACE_KINDS,
    PLACES,
    RELATIONS,
    synonyms,
)

HELD_OUT = 6  # one in so many templates, and one in so many combinations


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How an event is put into a sentence. ``name`` is unique and names the template's second half."""

    name: str
    mood: str = "statement"  # statement, ask, where, when, why, who, command, request, proposal
    tenses: tuple[str, ...] = ("past", "present", "now", "future")
    negative: bool = False
    modal: str = ""
    opener: str = ""
    link: str = ""  # because, but, to, if
    aspect: str = ""  # already, just, yet, never
    weight: int = 1
    kinds: tuple[str, ...] = ("act", "thing", "state", "dummy")


@dataclass(frozen=True, slots=True)
class Modal:
    english: tuple[str, ...]
    french: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """One line of the table of events."""

    key: str
    domain: str
    english: tuple[str, ...]
    french: tuple[str, ...]
    objects: tuple[str, ...]
    determiners: tuple[str, ...]
    subjects: tuple[str, ...]
    kind: str  # act, thing, state, dummy
    flags: frozenset[str]
    places: tuple[str, ...]
    going: bool
    manners: tuple[str, ...]
    other: tuple[tuple[str, ...], str, str, str] | None
    # (held out of training, not held out) each
    plans: tuple[tuple[Plan, ...], tuple[Plan, ...]]
    arguments: dict[bool, list[str]] = field(default_factory=lambda: {False: [], True: []})

    @property
    def concept(self) -> str:
        return self.english[0]

    @property
    def tenses(self) -> tuple[str, ...]:
        if self.kind == "state":
            return ("present",) if "lasting" in self.flags else ("past", "present")
        if self.kind == "thing" or self.flags & {"once", "clock"}:
            return ("past", "future") if "once" in self.flags else ("past", "present", "future")
        return ("past", "present", "future", "now")


def held_out(*names: str) -> bool:
    """Whether a template or combination is kept for evaluation: the same for every seed."""
    return zlib.crc32("|".join(names).encode()) % HELD_OUT == 0


def _modals() -> dict[tuple[str, str], Modal]:
    found = {}
    key = ("", "")
    for line in words.MODALS.strip().split("\n"):
        if line.startswith("["):
            name, tense = line.strip("[]").split()
            key = (name, tense)
        else:
            english, french = line.split(" = ")
            found[key] = Modal(synonyms(english), synonyms(french))
    return found


MODALS = _modals()


def _plans() -> list[Plan]:
    plans = [
        Plan("plain", weight=5),
        Plan("not", negative=True, weight=2),
        Plan("ask", mood="ask", weight=2),
        Plan("where", mood="where", tenses=("past", "future"), kinds=("act",)),
        Plan("when", mood="when", tenses=("past", "future"), kinds=("act", "thing")),
        Plan("why", mood="why", tenses=("past", "present", "now"), kinds=("act", "thing")),
        Plan("who", mood="who", tenses=("past", "future"), kinds=("act",)),
        Plan("because", link="because", weight=2, kinds=("act",)),
        Plan("but", link="but", tenses=("past", "present", "now"), kinds=("act",)),
        Plan("to", link="to", weight=2, kinds=("act",)),
        Plan("if", link="if", tenses=("future",), weight=2, kinds=("act",)),
        Plan("command", mood="command", tenses=("future",), weight=2, kinds=("act",)),
        Plan("not command", mood="command", negative=True, tenses=("future",), kinds=("act",)),
        Plan("request", mood="request", tenses=("future",), weight=2, kinds=("act",)),
        Plan("proposal", mood="proposal", tenses=("future",), kinds=("act",)),
        Plan("already", aspect="already", tenses=("perfect",), kinds=("act", "thing")),
        Plan("just", aspect="just", tenses=("perfect",), kinds=("act", "thing")),
        Plan("yet", aspect="yet", negative=True, tenses=("perfect",), kinds=("act", "thing")),
        Plan("never", aspect="never", tenses=("present",), kinds=("act",)),
    ]
    for name in dict.fromkeys(name for name, _ in MODALS):
        tenses = tuple(tense for known, tense in MODALS if known == name)
        plans.append(Plan(name, tenses=tenses, modal=name, kinds=("act",)))
    plans.append(Plan("not want", negative=True, tenses=("present", "past"), modal="want", kinds=("act",)))
    plans.append(Plan("not can", negative=True, tenses=("present", "past"), modal="can", kinds=("act",)))
    openers: dict[str, list[str]] = {}
    for tense, names in OPENER_KINDS.items():
        for name in names:
            openers.setdefault(name, []).append(tense)
    plans.extend(Plan(name, tenses=tuple(tenses), opener=name) for name, tenses in openers.items())
    return plans


PLANS = _plans()


def _resolve(tokens: Sequence[str], kinds: dict[str, list[str]], known: Container[str], *leads: str) -> tuple[str, ...]:
    """Kinds and names of concepts to concepts, each once, in order."""
    found: dict[str, None] = {}
    for token in tokens:
        name = token.replace("_", " ")
        names = [lead + name for lead in ("", *leads)]
        members = kinds.get(token) or [n for n in names if n in known][:1]
        if not members:
            raise ValueError(f"the table of events names {token!r}, which no table of words has")
        found.update(dict.fromkeys(members))
    return tuple(found)


AMOUNTS = tuple(f"{number} euros" for number in NUMBERS)[4:]
AGES = tuple(f"{number} years" for number in NUMBERS)[2:18]
NEAR = tuple(f"{relation}:{building}" for relation in RELATIONS for building in NOUN_KINDS["building"])


def _objects(tokens: list[str]) -> tuple[str, ...]:
    if tokens == ["-"]:
        return ()
    if tokens[0].startswith("@"):
        kind = tokens[0][1:]
        if kind in ("amount", "age"):
            return AMOUNTS if kind == "amount" else AGES
        return tuple(f"@{name}" for name in COMPLEMENT_KINDS[kind])
    return _resolve(tokens, NOUN_KINDS, NOUNS)


def _event(domain: str, line: str, number: int) -> Event:
    verbs, objects, determiners, *rest = [part.strip() for part in line.split(";")]
    english, french = verbs.split(" = ")
    options = " ".join(rest).split()
    flags = {option for option in options if "=" not in option}
    values = {name: value for name, _, value in (option.partition("=") for option in options) if value}
    kind = "dummy" if "dummy" in flags else "thing" if "thing" in flags else "state" if "state" in flags else "act"
    if kind == "thing" and "state" in flags:
        kind = "state"
    place = next((name for name in ("at", "at!", "to") if name in values), "")
    places: tuple[str, ...] = ()
    if values.get(place) == "@near":
        places = NEAR
    elif place:
        places = _resolve(values[place].split(","), PLACE_KINDS, PLACES, "at the ", "in the ", "on the ")
    if place in ("at!", "to"):
        flags.add("placed")
    other = None
    for name in ("other", "other!"):
        if name in values:
            kinds, determiner, *joints = values[name].split(":")
            nouns = () if kinds == "@same" else _resolve(kinds.split(","), NOUN_KINDS, NOUNS)
            other = (nouns, determiner, joints[0], joints[1])
            flags.add(name)
    things = "thing" in flags or "dummy" in flags or "exists" in flags
    subjects = _resolve(values["subj"].split(","), NOUN_KINDS, NOUNS) if "subj" in values else ()
    key = f"{domain} {number} {synonyms(english)[0]}"
    allowed = [plan for plan in PLANS if kind in plan.kinds]
    if things or kind == "state":
        allowed = [p for p in allowed if p.mood not in ("who", "command", "request", "proposal") and not p.link]
    if "placed" in flags or not places:
        allowed = [plan for plan in allowed if plan.mood != "where"]
    if "clock" in flags:
        allowed = [plan for plan in allowed if plan.mood != "when"]
    if subjects and not things:
        allowed = [plan for plan in allowed if plan.mood not in ("command", "request", "proposal")]
    event = Event(
        key, domain, synonyms(english), synonyms(french), _objects(objects.split()), tuple(determiners.split()),
        subjects, kind, frozenset(flags), places, place == "to",
        _resolve(values["m"].split(","), MANNER_KINDS, ()) if "m" in values else (), other, ((), ()),
    )  # fmt: skip
    usable = [plan for plan in allowed if plan_tenses(event, plan)]
    split: list[list[Plan]] = [[], []]
    for plan in usable:
        split[held_out(key, plan.name)].extend([plan] * plan.weight)
    return replace(event, plans=(tuple(split[0]), tuple(split[1])))


@cache
def _allowed_tenses(event_tenses: tuple[str, ...], plan_tenses: tuple[str, ...], free: bool) -> tuple[str, ...]:
    return tuple(tense for tense in plan_tenses if free or tense in event_tenses)


def plan_tenses(event: Event, plan: Plan) -> tuple[str, ...]:
    """The tenses in which an event may stand in a plan."""
    free = bool(plan.modal or plan.aspect in ("already", "just", "yet"))
    unwilled = "unwilled" in event.flags
    if plan.modal and (plan.modal == "fear") != unwilled:
        return ()  # nobody fears to buy bread or promises to miss a train
    if unwilled and (plan.link == "to" or plan.mood in ("request", "proposal") or plan.name == "command"):
        return ()
    if "once" in event.flags and plan.modal in ("like", "stop", "begin"):
        return ()  # these speak of habits
    if "clock" in event.flags and plan.aspect in ("already", "just", "yet"):
        return ()
    return _allowed_tenses(event.tenses, plan.tenses, free)


def _events() -> list[Event]:
    events: list[Event] = []
    domain = ""
    for line in map(" ".join, map(str.split, EVENT_TABLE.strip().split("\n"))):
        if line.startswith("["):
            domain = line.strip("[]")
        else:
            events.append(_event(domain, line, len(events)))
    trained: set[str] = set()
    for event in events:
        names = event.objects or (event.places if "placed" in event.flags else ()) or event.subjects
        for name in names:
            event.arguments[held_out(event.key, name)].append(name)
        if not event.arguments[False]:
            event.arguments[False], event.arguments[True] = event.arguments[True], []
        trained.update(event.arguments[False])
    for event in events:  # a word that training would never see asks for clairvoyance
        for name in [name for name in event.arguments[True] if name not in trained]:
            event.arguments[True].remove(name)
            event.arguments[False].append(name)
            trained.add(name)
    return events


EVENTS = _events()
HELD_EVENTS = [event for event in EVENTS if event.plans[1] and event.arguments[True]]
