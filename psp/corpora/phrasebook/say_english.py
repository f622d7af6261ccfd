"""Meanings said in English."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from psp.corpora.phrasebook import english
from psp.corpora.phrasebook.english import Subject
from psp.corpora.phrasebook.lexicon import (
    ADJECTIVES,
    COMPLEMENTS,
    CONDITIONS,
    FREQUENCIES,
    MANNERS,
    NOUNS,
    OPENERS,
    PLACES,
    PURPOSES,
    RELATIONS,
    STATES,
    TIMES,
    synonyms,
)
from psp.corpora.phrasebook.meaning import Meaning, Thing
from psp.corpora.phrasebook.templates import AGES, AMOUNTS, MODALS
from psp.corpora.phrasebook.words import LINKS

NUMBERS = ("", "one", "two", "three", "four", "five", "six")
PRONOUNS = {
    "I": Subject("I", 1, False, "my"),
    "you": Subject("you", 2, False, "your"),
    "he": Subject("he", 3, False, "his"),
    "she": Subject("she", 3, False, "her"),
    "we": Subject("we", 1, True, "our"),
    "they": Subject("they", 3, True, "their"),
    "it": Subject("it", 3, False, "its"),
    "who": Subject("who", 3, False, "their"),
}
OPENED = ("that", "if", "whether", "reckon", "maybe", "perhaps")  # no comma after these
LINK_WORDS = {synonyms(line)[0]: synonyms(line.split(" = ")[0]) for line in LINKS.strip().split("\n")}


class Speaker:
    """Says meanings, choosing among wordings by ``rng``."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def pick(self, options: Sequence[str]) -> str:
        return options[int(self.rng.random() * len(options))]

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def one(self, noun: str) -> str:
        """A singular name of a noun."""
        return self.pick([singular for singular, _ in NOUNS[noun].english])

    def noun(self, thing: Thing, own: str, *, denied: bool = False) -> tuple[str, bool]:
        """The noun phrase and whether it is plural; ``own`` is the subject's possessive."""
        name = thing.noun
        if name[0] == "@":
            return self.pick(COMPLEMENTS[name[1:]].english), False
        if name in AMOUNTS:
            return name, True
        if name in AGES:
            return (f"{name} old" if self.chance(0.7) else name.removesuffix(" years")), False
        entry = NOUNS[name]
        plural = thing.plural if entry.countable else entry.number in ("plural", "en-plural")
        word = self.pick([forms[thing.plural] for forms in entry.english])
        if thing.adjective:
            word = f"{self.pick(ADJECTIVES[thing.adjective].english)} {word}"
        single = entry.countable and not plural
        match thing.determiner:
            case "":
                lead = ""
            case "a":
                lead = "a" if single else "any" if denied else self.pick(("some", "")) if plural else "some"
            case "own":
                lead = own
            case "body":
                lead = own
            case "this":
                lead = "these" if plural else "this"
            case "number":
                lead = NUMBERS[thing.number]
            case "many":
                lead = self.pick(("many", "a lot of", "lots of"))
            case "generic":
                lead = ""
            case "kin":
                lead = f"my {self.one(thing.owner)}'s"
            case word_itself:
                lead = word_itself
        return (f"{lead} {word}" if lead else word), plural

    def subject(self, thing: Thing) -> Subject:
        if thing.noun in PRONOUNS:
            return PRONOUNS[thing.noun]
        text, plural = self.noun(thing, "its")
        feminine = thing.noun in NOUNS and NOUNS[thing.noun].french[0][2] == "f"
        return Subject(text, 3, plural, "their" if plural else "her" if feminine else "his")

    def place(self, meaning: Meaning) -> str:
        relation, found, building = meaning.place.partition(":")
        if found:
            return f"{self.pick(RELATIONS[relation].english)} the {self.one(building)}"
        text = self.pick(PLACES[meaning.place].english)
        rest = text.partition(" ")[2]
        if not meaning.event.going or not rest:
            return text
        return rest if rest == "home" else f"to {rest}"

    def pronoun(self, meaning: Meaning, subject: Subject) -> Subject:
        """The subject of a second clause about the same person."""
        if meaning.subject.noun in PRONOUNS:
            return PRONOUNS["they"] if meaning.subject.noun == "who" else subject
        name = "they" if subject.plural else "she" if subject.own == "her" else "he"
        return PRONOUNS[name]

    def complements(self, meaning: Meaning, subject: Subject, denied: bool) -> list[str]:
        """What follows the verb: objects, manner, company, place."""
        words = []
        thing = self.noun(meaning.object, subject.own, denied=denied)[0] if meaning.object else ""
        if meaning.other and meaning.event.other:
            other = self.noun(meaning.other, subject.own)[0]
            joint = meaning.event.other[2]
            if "dative" in meaning.event.flags and self.chance(0.5):
                words += [other, thing]
            else:
                words += [thing, joint, other]
        else:
            words.append(thing)
        if meaning.manner:
            words.append(self.pick((MANNERS.get(meaning.manner) or TIMES[meaning.manner]).english))
        if meaning.company:
            words += [self.pick(("with", "with", "together with")), self.noun(meaning.company, subject.own)[0]]
        if meaning.place:
            words.append(self.place(meaning))
        return words

    def tail(self, meaning: Meaning, subject: Subject) -> str:
        link = meaning.plan.link
        if link == "to":
            return f" {self.pick(LINK_WORDS['to'])} {self.pick(PURPOSES[meaning.tail].english)}"
        join = self.pick(LINK_WORDS[link])
        who = self.pronoun(meaning, subject)
        tense = "past" if meaning.tense == "past" else "present"
        state = english.predicate(who, (self.pick(STATES[meaning.tail].english),), tense, self.rng)
        return f"{',' if link == 'but' else ''} {join} {state}"

    def say(self, meaning: Meaning) -> str:
        """One sentence."""
        plan, event = meaning.plan, meaning.event
        verb = self.pick(event.english)
        if "exists" in event.flags:
            assert meaning.object is not None
            _, plural = self.noun(meaning.object, "")
            subject = Subject("there", 3, plural, "its")
        else:
            subject = self.subject(meaning.subject)
        verb = verb.replace("POSS", subject.own)
        chain: tuple[str, ...] = (verb,)
        if plan.modal:
            chain = (self.pick(MODALS[plan.modal, meaning.tense].english), verb)
        if self._passive(meaning) and self.chance(0.4):
            return self._say_passive(meaning, subject, verb)
        words = self.complements(meaning, subject, plan.negative)
        time = self.pick(TIMES[meaning.time].english) if meaning.time else ""
        adverb = self.pick(FREQUENCIES[meaning.frequency].english) if meaning.frequency else ""
        if plan.mood in ("command", "request", "proposal"):
            return self._say_command(meaning, verb, [*words, time])
        tense = meaning.tense
        if tense == "now":
            tense = "present" if verb.startswith("be ") or event.kind == "state" else "progressive"
        elif tense == "future" and event.kind != "state" and self.chance(0.35):
            tense = "going"
        if plan.aspect == "never":
            adverb = "never"
        elif plan.aspect in ("already", "just"):
            adverb = plan.aspect
        asked = plan.mood in ("ask", "where", "when", "why")
        time_first = plan.mood == "statement" and not plan.opener and bool(time) and self.chance(0.3)
        core = english.predicate(subject, chain, tense, self.rng, negative=plan.negative, asked=asked, adverb=adverb)
        text = " ".join(word for word in [core, *words, "" if time_first else time] if word)
        if plan.aspect == "yet":
            text += " yet"
        if time_first:
            text = f"{time}{self.pick((',', ''))} {text}"
        if plan.link == "if":
            condition = self.pick(CONDITIONS[meaning.tail].english)
            text = f"{condition}, {text}" if self.chance(0.4) and not time_first else f"{text} {condition}"
        elif plan.link:
            text += self.tail(meaning, subject)
        if plan.opener:
            opener = self.pick(OPENERS[plan.opener].english)
            comma = "" if opener.endswith(OPENED) else ","
            if self.chance(0.35):
                opener = opener.removesuffix(" that")
            text = f"{opener}{comma} {text}"
        if asked and plan.mood != "ask":
            text = f"{plan.mood} {text}"
        return english.finish(text, "?" if asked or plan.mood == "who" else ".")

    @staticmethod
    def _passive(meaning: Meaning) -> bool:
        return (
            "passive" in meaning.event.flags
            and meaning.plan.name == "plain"
            and meaning.tense == "past"
            and meaning.object is not None
            and meaning.object.determiner in ("the", "this", "kin")
            and meaning.subject.noun not in PRONOUNS
            and not meaning.company
        )

    def _say_passive(self, meaning: Meaning, agent: Subject, verb: str) -> str:
        assert meaning.object is not None
        text, plural = self.noun(meaning.object, agent.own)
        head, _, particle = verb.partition(" ")
        words = [text, "were" if plural else "was", english.past(head)[1], particle]
        if meaning.other and meaning.event.other:
            words += [meaning.event.other[2], self.noun(meaning.other, agent.own)[0]]
        words += ["by", agent.text]
        if meaning.manner:
            words.append(self.pick(MANNERS[meaning.manner].english))
        if meaning.place:
            words.append(self.place(meaning))
        if meaning.time:
            words.append(self.pick(TIMES[meaning.time].english))
        return english.finish(" ".join(word for word in words if word), ".")

    def _say_command(self, meaning: Meaning, verb: str, words: list[str]) -> str:
        rest = " ".join(word for word in [verb, *words] if word)
        if meaning.plan.mood == "request":
            lead = self.pick(("could you", "can you", "would you"))
            return english.finish(f"{lead} {rest}", self.pick((", please?", "?")))
        if meaning.plan.mood == "proposal":
            lead = self.pick(("let's", "why don't we", "how about we"))
            return english.finish(f"{lead} {rest}", "." if lead == "let's" else "?")
        if meaning.plan.negative:
            rest = self.pick(("do not ", "don't ")) + rest
        if self.chance(0.4):
            return english.finish(f"please {rest}", ".")
        return english.finish(rest, self.pick((", please.", ".", "!")))
