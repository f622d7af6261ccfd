"""Meanings said in French."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from psp.corpora.phrasebook import french
from psp.corpora.phrasebook.french import Subject
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
from psp.corpora.phrasebook.lexicon import NUMBERS as WORDS
from psp.corpora.phrasebook.meaning import Meaning, Thing
from psp.corpora.phrasebook.templates import AGES, AMOUNTS, MODALS
from psp.corpora.phrasebook.words import LINKS

NUMBERS = ("", *(WORDS[name].french[0] for name in ("one", "two", "three", "four", "five", "six")))
# The possessives of each person: before a masculine, a feminine, a plural noun.
OWN = (
    ("mon", "ma", "mes"),
    ("ton", "ta", "tes"),
    ("son", "sa", "ses"),
    ("notre", "notre", "nos"),
    ("votre", "votre", "vos"),
    ("leur", "leur", "leurs"),
)
DETERMINERS = {"my": OWN[0], "your": OWN[4], "our": OWN[3], "the": ("le", "la", "les"), "this": ("ce", "cette", "ces")}
PERSONS = {"he": (2, "m", False, "il"), "she": (2, "f", False, "elle"), "we": (3, "m", True, "nous"),
           "they": (5, "m", True, "ils"), "it": (2, "m", False, "il"), "who": (2, "m", False, "qui")}  # fmt: skip
ASKING = {"where": "où", "when": "quand", "why": "pourquoi"}
LINK_WORDS = {synonyms(line)[0]: synonyms(line.split(" = ")[1]) for line in LINKS.strip().split("\n")}


class Speaker:
    """Says meanings, choosing among wordings by ``rng``."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def pick(self, options: Sequence[str]) -> str:
        return options[int(self.rng.random() * len(options))]

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def noun(self, thing: Thing, owner: Subject, *, denied: bool = False, after: str = "") -> tuple[str, str, bool]:
        """The noun phrase, its gender and whether it is plural.

        ``owner`` is whom "own" means; ``after`` is what stands before it: behind "de" the partitive vanishes.
        """
        name = thing.noun
        if name[0] == "@":
            options = COMPLEMENTS[name[1:]].french
            forms = options[int(self.rng.random() * len(options))].forms
            return forms[owner.gender + ("p" if owner.plural else "s")], "m", False
        if name in AMOUNTS:
            return f"{WORDS[name.removesuffix(' euros')].french[0]} euros", "m", True
        if name in AGES:
            return f"{WORDS[name.removesuffix(' years')].french[0]} ans", "m", True
        entry = NOUNS[name]
        one, many, gender = entry.french[int(self.rng.random() * len(entry.french))]
        plural = thing.plural if entry.countable else entry.number in ("plural", "fr-plural")
        word = many if plural else one
        before = False
        if thing.adjective:
            options = ADJECTIVES[thing.adjective].french
            adjective = options[int(self.rng.random() * len(options))]
            before = adjective.before
            form = gender + ("p" if plural else "s")
            if before:
                vowel = form == "ms" and french.starts_with_vowel(word)
                word = f"{adjective.forms['mv' if vowel else form]} {word}"
            else:
                word = f"{word} {adjective.forms[form]}"
        column = 2 if plural else 1 if gender == "f" else 0
        match thing.determiner:
            case "":
                lead = ""
            case "a":
                mass = plural or not (entry.countable or entry.number == "en-plural")
                if after.endswith((" de", " d'")) and mass:
                    lead = ""
                elif denied and not after:
                    lead = "de"
                elif plural:
                    lead = "de" if before else "des"
                elif mass:
                    lead = "de la" if gender == "f" else "de le"
                else:
                    lead = "une" if gender == "f" else "un"
            case "own":
                lead = OWN[owner.person][column]
            case "number":
                lead = NUMBERS[thing.number]
            case "many":
                lead = "beaucoup de"
            case "generic" | "body" | "kin":
                lead = DETERMINERS["the"][column]
            case other:
                lead = DETERMINERS[other][column]
        if thing.determiner == "kin":
            kin, _, kin_gender = self.any_of(thing.owner)
            return f"{lead} {word} de {OWN[0][1 if kin_gender == 'f' else 0]} {kin}", gender, plural
        return (f"{lead} {word}" if lead else word), gender, plural

    def any_of(self, noun: str) -> tuple[str, str, str]:
        options = NOUNS[noun].french
        return options[int(self.rng.random() * len(options))]

    def subject(self, thing: Thing) -> Subject:
        name = thing.noun
        if name == "I":
            return Subject("je", 0, self.pick("mf"), False, "je")
        if name == "you":
            return Subject("tu", 1, "m", False, "tu") if self.chance(0.35) else Subject("vous", 4, "m", False, "vous")
        if name in PERSONS:
            person, gender, plural, pronoun = PERSONS[name]
            return Subject(pronoun, person, gender, plural, pronoun)
        text, gender, plural = self.noun(thing, Subject("", 2, "m", False, "il"))
        pronoun = {"ms": "il", "fs": "elle", "mp": "ils", "fp": "elles"}[gender + ("p" if plural else "s")]
        return Subject(text, 5 if plural else 2, gender, plural, pronoun)

    def place(self, meaning: Meaning) -> str:
        relation, found, building = meaning.place.partition(":")
        if not found:
            return self.pick(PLACES[meaning.place].french)
        word, _, gender = self.any_of(building)
        return f"{self.pick(RELATIONS[relation].french)} {'la' if gender == 'f' else 'le'} {word}"

    def complements(self, meaning: Meaning, subject: Subject, verb: str, denied: bool) -> list[str]:
        """What follows the verb: objects, manner, company, place. ``verb`` may end in a preposition."""
        words = []
        if meaning.object:
            after = french.preposition(verb)
            words.append(self.noun(meaning.object, subject, denied=denied, after=after)[0])
        if meaning.other and meaning.event.other:
            words += [meaning.event.other[3], self.noun(meaning.other, subject)[0]]
        if meaning.manner:
            words.append(self.pick((MANNERS.get(meaning.manner) or TIMES[meaning.manner]).french))
        if meaning.company:
            words += [self.pick(("avec", "avec", "en compagnie de")), self.noun(meaning.company, subject)[0]]
        if meaning.place:
            words.append(self.place(meaning))
        return words

    def tail(self, meaning: Meaning, subject: Subject) -> str:
        link = meaning.plan.link
        if link == "to":
            purpose = french.infinitive(self.pick(PURPOSES[meaning.tail].french), subject)
            return f" {self.pick(LINK_WORDS['to'])} {purpose}"
        join = self.pick(LINK_WORDS[link])
        pronoun = replace(subject, text=subject.pronoun)
        tense = "imperfect" if meaning.tense == "past" else "present"
        state = french.predicate(pronoun, (self.pick(STATES[meaning.tail].french),), tense)
        return f"{'' if join.startswith('parce') else ','} {join} {state}"

    def tense(self, meaning: Meaning, verb: str, chain: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
        """The finite tense and the chain of verbs, for a meaning's tense and aspect."""
        event, plan = meaning.event, meaning.plan
        if plan.modal:
            modal = self.pick(MODALS[plan.modal, meaning.tense].french)
            named = {"~": "imperfect", "?": "conditional"}.get(modal[0])
            tense = named or ("past" if meaning.tense == "past" else "present")
            return tense, (modal.lstrip("~?"), verb)
        if plan.aspect == "just":
            return "present", ("venir de", verb)
        if plan.aspect in ("already", "yet"):
            return "past", chain
        match meaning.tense:
            case "past":
                weather = event.kind == "dummy" and verb.startswith(("y ", "faire"))
                return ("imperfect" if event.kind == "state" or weather else "past"), chain
            case "future":
                return ("present", ("aller", verb)) if self.chance(0.35) else ("future", chain)
            case "now":
                progressive = event.kind == "act" and not plan.negative and self.chance(0.3)
                return "present", (("être en train de", verb) if progressive else chain)
        return "present", chain

    def say(self, meaning: Meaning) -> str:
        """One sentence."""
        plan = meaning.plan
        verb = self.pick(meaning.event.french)
        subject = self.subject(meaning.subject)
        if self._passive(meaning, verb) and self.chance(0.4):
            return self._say_passive(meaning, subject, verb)
        denied = plan.negative or plan.aspect == "never"
        if denied:
            verb = french.deny(verb)
        words = self.complements(meaning, subject, verb, denied)
        time = self.pick(TIMES[meaning.time].french) if meaning.time else ""
        if plan.mood in ("command", "request", "proposal"):
            return self._say_command(meaning, subject, verb, [*words, time])
        tense, chain = self.tense(meaning, verb, (verb,))
        adverb = self.pick(FREQUENCIES[meaning.frequency].french) if meaning.frequency else ""
        negation = "pas" if plan.negative else ""
        if plan.aspect == "already":
            adverb = "déjà"
        elif plan.aspect == "yet":
            negation = "pas encore"
        elif plan.aspect == "never":
            negation = "jamais"
        asked = plan.mood in ("ask", "where", "when", "why")
        invert = asked and subject.person != 0 and self.chance(0.45)
        time_first = plan.mood == "statement" and not plan.opener and bool(time) and self.chance(0.3)
        core = french.predicate(subject, chain, tense, negation=negation, invert=invert, adverb=adverb)
        text = " ".join(word for word in [core, *words, "" if time_first else time] if word)
        if time_first:
            text = f"{time}, {text}"
        if plan.link == "if":
            condition = self.pick(CONDITIONS[meaning.tail].french)
            text = f"{condition}, {text}" if self.chance(0.4) and not time_first else f"{text} {condition}"
        elif plan.link:
            text += self.tail(meaning, subject)
        if plan.opener:
            opener = french.agreeing(self.pick(OPENERS[plan.opener].french), self.pick("mf"), False)
            text = f"{opener}{'' if opener.endswith(('que', 'si', 'dire')) else ','} {text}"
        if asked:
            question = ASKING.get(plan.mood, "")
            text = text if invert else f"est-ce que {text}"
            text = f"{question} {text}".strip()
        return french.finish(text, " ?" if asked or plan.mood == "who" else ".")

    @staticmethod
    def _passive(meaning: Meaning, verb: str) -> bool:
        return (
            "passive" in meaning.event.flags
            and meaning.plan.name == "plain"
            and meaning.tense == "past"
            and meaning.object is not None
            and meaning.object.determiner in ("the", "this", "kin")
            and meaning.subject.noun not in ("I", "you", *PERSONS)
            and not meaning.company
            and " " not in verb
        )

    def _say_passive(self, meaning: Meaning, agent: Subject, verb: str) -> str:
        assert meaning.object is not None
        text, gender, plural = self.noun(meaning.object, agent)
        patient = Subject(text, 5 if plural else 2, gender, plural, "")
        participle = french.agree(french.forms(verb)[2], gender, plural)
        words = [french.predicate(patient, ("être",), "past"), participle]
        if meaning.other and meaning.event.other:
            words += [meaning.event.other[3], self.noun(meaning.other, agent)[0]]
        words += ["par", agent.text]
        if meaning.manner:
            words.append(self.pick(MANNERS[meaning.manner].french))
        if meaning.place:
            words.append(self.place(meaning))
        if meaning.time:
            words.append(self.pick(TIMES[meaning.time].french))
        return french.finish(" ".join(word for word in words if word), ".")

    def _say_command(self, meaning: Meaning, subject: Subject, verb: str, words: list[str]) -> str:
        rest = " ".join(word for word in words if word)
        formal = subject.person == 4
        please = "s'il vous plaît" if formal else "s'il te plaît"
        plan = meaning.plan
        if plan.mood == "request":
            lead = self.pick(("pourriez-vous", "pouvez-vous")) if formal else self.pick(("peux-tu", "pourrais-tu"))
            text = f"{lead} {french.infinitive(verb, subject)} {rest}".strip()
            return french.finish(text, self.pick((f", {please} ?", " ?")))
        if plan.mood == "proposal":
            if self.chance(0.5):
                return french.finish(f"{french.imperative(verb, 3, False, subject)} {rest}".strip(), ".")
            hint = french.predicate(subject, (verb,), "imperfect")
            return french.finish(f"et si {hint} {rest}".strip(), " ?")
        if formal and self.chance(0.25):
            text = f"veuillez{' ne pas' if plan.negative else ''} {french.infinitive(verb, subject)} {rest}"
            return french.finish(text.strip(), ".")
        text = f"{french.imperative(verb, subject.person, plan.negative, subject)} {rest}".strip()
        return french.finish(text, self.pick((f", {please}.", ".", " !")))
