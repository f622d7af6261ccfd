"""Meanings said in English and in French, each with a choice of wordings."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

from phrasebook import english, french
from phrasebook.lexicon import ADJECTIVES, MANNERS, MODALS, NOUNS, OPENERS, PLACES, STATES, TIMES, french_adjective
from phrasebook.meaning import Meaning, Thing

_ENGLISH = {
    pronoun: english.Subject(pronoun, person, plural, own, pronoun)
    for pronoun, person, plural, own in (
        ("I", 1, False, "my"), ("you", 2, False, "your"), ("he", 3, False, "his"), ("she", 3, False, "her"),
        ("we", 1, True, "our"), ("they", 3, True, "their"),
    )
}  # fmt: skip
_FRENCH = {
    pronoun: french.Subject(said, person, gender, plural, said)
    for pronoun, said, person, gender, plural in (
        ("I", "je", 0, "m", False), ("you", "vous", 4, "m", False), ("he", "il", 2, "m", False),
        ("she", "elle", 2, "f", False), ("we", "nous", 3, "m", True), ("they", "ils", 5, "m", True),
    )
}  # fmt: skip
NOBODY = _FRENCH["he"]
#: Possessives of each person, and other determiners: before a masculine, a feminine, a plural noun.
_OWN = (("mon", "ma", "mes"), ("ton", "ta", "tes"), ("son", "sa", "ses"), ("notre", "notre", "nos"),
        ("votre", "votre", "vos"), ("leur", "leur", "leurs"))  # fmt: skip
_DETERMINERS = {"my": _OWN[0], "your": _OWN[4], "our": _OWN[3], "the": ("le", "la", "les"),
                "generic": ("le", "la", "les"), "this": ("ce", "cette", "ces")}  # fmt: skip
_LINKS = {"because": (("because", "since", "as"), ("parce que", "car", "puisque")),
          "but": (("but", "even though", "although"), ("mais", "même si"))}  # fmt: skip
T = TypeVar("T")


class _Speaker:
    """Chooses among wordings by ``rng``."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.rng.random() * len(options))]

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def phrases(self, meaning: Meaning, side: int) -> tuple[str, str, str]:
        """Manner, place and time in the language of that number."""
        manner = self.pick(MANNERS[meaning.manner][side]) if meaning.manner else ""
        place = self.pick(PLACES[meaning.event.domain][meaning.place][side]) if meaning.place else ""
        known = {name: phrase for times in TIMES.values() for name, phrase in times.items()}
        return manner, place, self.pick(known[meaning.time][side]) if meaning.time else ""

    def assembled(
        self, meaning: Meaning, core: str, rest: list[str], time: str, tail: str, opener: str, ends: str
    ) -> str:
        """A sentence of its parts: the time may stand first, an opener does."""
        plan = meaning.plan
        first = bool(time) and not (plan.asked or opener) and self.chance(0.3)
        text = " ".join(filter(None, [core, *rest, "" if first else time])) + tail
        if first:
            return f"{time}{ends} {text}"
        return f"{opener} {text}" if opener else text


class English(_Speaker):
    """Says meanings in English."""

    def noun(self, thing: Thing, own: str, *, denied: bool = False) -> str:
        """The noun phrase; ``own`` is the subject's possessive."""
        entry = NOUNS[thing.noun]
        word = self.pick(entry.english)[thing.plural]
        if thing.adjective:
            word = f"{self.pick(ADJECTIVES[thing.adjective][0])} {word}"
        match thing.determiner:
            case "a":
                several = not entry.countable or thing.plural
                lead = ("any" if denied else self.pick(("some", "")) if thing.plural else "some") if several else "a"
            case "own":
                lead = own
            case "this":
                lead = "these" if thing.plural else "this"
            case "generic":
                lead = ""
            case other:
                lead = other
        return f"{lead} {word}".strip()

    def subject(self, thing: Thing) -> english.Subject:
        if thing.noun in _ENGLISH:
            return _ENGLISH[thing.noun]
        own, pronoun = ("her", "she") if NOUNS[thing.noun].french[0][2] == "f" else ("his", "he")
        return english.Subject(self.noun(thing, ""), 3, False, own, pronoun)

    def say(self, meaning: Meaning) -> str:
        """One sentence."""
        plan, subject = meaning.plan, self.subject(meaning.subject)
        verb = self.pick(meaning.event.english)
        if plan.modal:
            verb = f"{self.pick(MODALS[plan.modal, meaning.tense].english)} {verb}"
        core = english.predicate(subject, verb, meaning.tense, self.rng, negative=plan.negative, asked=plan.asked)
        manner, place, time = self.phrases(meaning, 0)
        company = (
            meaning.company and f"{self.pick(('with', 'together with'))} {self.noun(meaning.company, subject.own)}"
        )
        rest = [self.noun(meaning.object, subject.own, denied=plan.negative), manner, company or "", place]
        tail = opener = ""
        if plan.link:
            who = english.Subject(subject.pronoun, subject.person, subject.plural, "", "")
            tense = "past" if meaning.tense == "past" else "present"
            state = english.predicate(who, self.pick(STATES[meaning.tail].english), tense, self.rng)
            tail = f"{',' if plan.link == 'but' else ''} {self.pick(_LINKS[plan.link][0])} {state}"
        if plan.opened:
            opener = self.pick(OPENERS[meaning.opener].english)
            opener = opener if opener.endswith("that") else f"{opener},"
            opener = opener.removesuffix(" that") if self.chance(0.35) else opener
        text = self.assembled(meaning, core, rest, time, tail, opener, self.pick((",", "")))
        return english.finish(text, "?" if plan.asked else ".")


class French(_Speaker):
    """Says meanings in French."""

    def noun(self, thing: Thing, owner: french.Subject, *, denied: bool = False) -> str:
        """The noun phrase; ``owner`` is whom "own" means."""
        entry = NOUNS[thing.noun]
        one, many, gender = self.pick(entry.french)
        word, before = (many if thing.plural else one), False
        if thing.adjective:
            adjective = self.pick(ADJECTIVES[thing.adjective][1])
            before, form = adjective.before, gender + ("p" if thing.plural else "s")
            vowel = before and form == "ms" and french.starts_with_vowel(word)
            said = adjective.forms["mv" if vowel else form]
            word = f"{said} {word}" if before else f"{word} {said}"
        column = 2 if thing.plural else 1 if gender == "f" else 0
        match thing.determiner:
            case "":
                lead = ""
            case "a" if denied:
                lead = "de"
            case "a" if thing.plural:
                lead = "de" if before else "des"
            case "a" if not entry.countable:
                lead = ("de le", "de la")[column]
            case "a":
                lead = ("un", "une")[column]
            case "own":
                lead = _OWN[owner.person][column]
            case other:
                lead = _DETERMINERS[other][column]
        return f"{lead} {word}".strip()

    def subject(self, thing: Thing) -> french.Subject:
        if thing.noun in _FRENCH:
            found = _FRENCH[thing.noun]
            return french.Subject("tu", 1, "m", False, "tu") if found.person == 4 and self.chance(0.35) else found
        gender = NOUNS[thing.noun].french[0][2]
        text = self.noun(thing, NOBODY)
        return french.Subject(text, 2, gender, False, "elle" if gender == "f" else "il")

    def state(self, meaning: Meaning, subject: french.Subject) -> str:
        """The second clause."""
        verb, _, rest = self.pick(STATES[meaning.tail].french).partition(" ")
        if rest.startswith("@"):
            rest = french_adjective(rest[1:]).forms[subject.gender + ("p" if subject.plural else "s")]
        finite = french.conjugate(verb, "imperfect" if meaning.tense == "past" else "present", subject.person)
        return f"{subject.pronoun} {finite} {rest}"

    def say(self, meaning: Meaning) -> str:
        """One sentence."""
        plan, subject = meaning.plan, self.subject(meaning.subject)
        chain: tuple[str, ...] = (self.pick(meaning.event.french),)
        tense = meaning.tense
        if plan.modal:
            chain = (self.pick(MODALS[plan.modal, tense].french), *chain)
        elif tense == "future" and self.chance(0.35):
            chain, tense = ("aller", *chain), "present"
        elif tense == "past" and meaning.event.state:
            chain = ("~" + chain[0],)
        core = french.predicate(subject, chain, tense, negative=plan.negative)
        if plan.asked:
            core = f"est-ce que {core}"
        manner, place, time = self.phrases(meaning, 1)
        company = meaning.company and f"{self.pick(('avec', 'en compagnie de'))} {self.noun(meaning.company, subject)}"
        rest = [self.noun(meaning.object, subject, denied=plan.negative), manner, company or "", place]
        tail = f" {self.pick(_LINKS[plan.link][1])} {self.state(meaning, subject)}" if plan.link else ""
        tail = f",{tail}" if tail and not tail.startswith(" parce") else tail
        opener = self.pick(OPENERS[meaning.opener].french) if plan.opened else ""
        opener = opener if opener.endswith("que") or not opener else f"{opener},"
        text = self.assembled(meaning, core, rest, time, tail, opener, ",")
        return french.finish(text, " ?" if plan.asked else ".")
