"""French: conjugation, agreement, the verb group, and what changes where words meet (elision, contraction)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

# infinitive: present of je tu il nous vous ils; future stem; participle
_IRREGULAR = """
être: suis es est sommes êtes sont; ser; été
avoir: ai as a avons avez ont; aur; eu
aller: vais vas va allons allez vont; ir; allé
prendre: prends prends prend prenons prenez prennent; prendr; pris
mettre: mets mets met mettons mettez mettent; mettr; mis
boire: bois bois boit buvons buvez boivent; boir; bu
lire: lis lis lit lisons lisez lisent; lir; lu
écrire: écris écris écrit écrivons écrivez écrivent; écrir; écrit
servir: sers sers sert servons servez servent; servir; servi
ouvrir: ouvre ouvres ouvre ouvrons ouvrez ouvrent; ouvrir; ouvert
découvrir: découvre découvres découvre découvrons découvrez découvrent; découvrir; découvert
connaître: connais connais connaît connaissons connaissez connaissent; connaîtr; connu
pouvoir: peux peux peut pouvons pouvez peuvent; pourr; pu
vouloir: veux veux veut voulons voulez veulent; voudr; voulu
devoir: dois dois doit devons devez doivent; devr; dû
conduire: conduis conduis conduit conduisons conduisez conduisent; conduir; conduit
traduire: traduis traduis traduit traduisons traduisez traduisent; traduir; traduit
construire: construis construis construit construisons construisez construisent; construir; construit
peindre: peins peins peint peignons peignez peignent; peindr; peint
"""
_FAMILIES = {"apprendre": ("ap", "prendre"), "comprendre": ("com", "prendre"), "promettre": ("pro", "mettre"),
             "repeindre": ("re", "peindre")}  # fmt: skip
_GRAVE = {"acheter", "ramener", "lever"}
_ENDS = {"er": ("e", "es", "e", "ons", "ez", "ent"), "ir": ("is", "is", "it", "issons", "issez", "issent"),
         "re": ("s", "s", "", "ons", "ez", "ent")}  # fmt: skip
_FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
_IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")

Forms = tuple[tuple[str, ...], str, str]


@cache
def forms(verb: str) -> Forms:
    """Present (six persons), future stem, masculine participle of an infinitive."""
    for line in _IRREGULAR.strip().split("\n"):
        known, forms_ = line.split(": ")
        if known == verb:
            present, future, participle = forms_.split("; ")
            return tuple(present.split()), future, participle
    if verb in _FAMILIES:
        prefix, base = _FAMILIES[verb]
        present_, future, participle = forms(base)
        return tuple(prefix + form for form in present_), prefix + future, prefix + participle
    stem, group = verb[:-2], verb[-2:]
    if group != "er":
        plain = tuple(stem + end for end in _ENDS[group])
        return plain, verb.removesuffix("e"), stem + ("i" if group == "ir" else "u")
    strong, future = stem, verb
    if verb in _GRAVE:
        at = stem.rindex("e")
        strong = f"{stem[:at]}è{stem[at + 1 :]}"
        future = strong + "er"
    elif verb in ("appeler", "jeter"):
        strong = stem + stem[-1]
        future = strong + "er"
    elif verb.endswith("yer"):
        strong = stem[:-1] + "i"
        future = "enverr" if verb == "envoyer" else strong + "er"
    elif match := re.fullmatch(r"(.*)é([^aeiouyé]+)", stem):
        strong = f"{match[1]}è{match[2]}"
    weak = stem + "e" if stem.endswith("g") else stem[:-1] + "ç" if stem.endswith("c") else stem
    stems = (strong, strong, strong, weak, stem, strong)
    return tuple(s + e for s, e in zip(stems, _ENDS["er"], strict=True)), future, stem + "é"


def conjugate(verb: str, tense: str, person: int) -> str:
    """One finite form; ``person`` 0 to 5; tenses present, imperfect, future, conditional."""
    present, future, _ = forms(verb)
    if tense == "present":
        return present[person]
    if tense in ("future", "conditional"):
        return future + (_FUTURE if tense == "future" else _IMPERFECT)[person]
    stem = "ét" if verb == "être" else present[3].removesuffix("ons")
    if person in (3, 4):  # mangeais but mangions, commençais but commencions
        stem = stem[:-1] if stem.endswith("ge") else stem[:-1] + "c" if stem.endswith("ç") else stem
    return stem + _IMPERFECT[person]


@dataclass(frozen=True, slots=True)
class Subject:
    """Who acts: the words, the person (0 to 5), gender, number, and the pronoun that stands for them."""

    text: str
    person: int
    gender: str
    plural: bool
    pronoun: str


def predicate(subject: Subject, chain: tuple[str, ...], tense: str, *, negative: bool = False) -> str:
    """Subject and verbs in their order: "elle n'a pas acheté"; ``past`` is the passé composé.

    The first verb of the chain is conjugated, with ``~`` in the imperfect and with ``?`` in the conditional; ``+``
    marks an adjective or noun behind être and avoir that stays as it is.
    """
    head, _, rest = chain[0].lstrip("~?").partition(" ")
    tense = {"~": "imperfect", "?": "conditional"}.get(chain[0][0], tense)
    participle = ""
    if tense == "past":
        finite, participle = conjugate("avoir", "present", subject.person), forms(head)[2]
    else:
        finite = conjugate(head, tense, subject.person)
    no = ("ne", "pas") if negative else ("", "")
    return " ".join(filter(None, [subject.text, no[0], finite, no[1], participle, rest, *chain[1:]]))


_VOWEL = r"(?:[aeiouyàâéèêëîïôûœAEIOUÉ]|h(?!aut|âte|aie|uit|aricot|ors\b))"
_ELIDED = re.compile(rf"\b([jmtsnldc]|qu|puisqu)(?:e|(?<=l)a) (?=(?!onze|oui\b|yaourt){_VOWEL})", re.IGNORECASE)
_CONTRACTIONS = {("de", "le"): "du ", ("de", "les"): "des ", ("à", "le"): "au ", ("à", "les"): "aux "}


def join(text: str) -> str:
    """Elide and contract where words meet: "de le" -> "du", "je ai" -> "j'ai", "ma amie" -> "mon amie"."""
    text = re.sub(rf"\bce (?={_VOWEL})", "cet ", text)
    text = re.sub(rf"\b([mts])a (?={_VOWEL})", r"\1on ", text)
    text = re.sub(r"\bsi (?=ils?\b)", "s'", _ELIDED.sub(r"\1'", text))
    contracted = r"\b(de|à) (les?) (?=\w)"
    return re.sub(
        contracted, lambda match: _CONTRACTIONS[match[1].lower(), match[2].lower()], text, flags=re.IGNORECASE
    )


def finish(text: str, end: str) -> str:
    """Join what meets, start with a capital and end with ``end``."""
    text = join(text)
    return text[0].upper() + text[1:] + end


def starts_with_vowel(word: str) -> bool:
    """Whether a word asks for elision, liaison and the forms bel, nouvel, vieil."""
    return re.match(_VOWEL, word) is not None


def plural(word: str) -> str:
    """The plural of a noun or an adjective without an irregular one; of two words, that of the first."""
    first, space, rest = word.partition(" ")
    end = "" if first.endswith(("s", "x", "z")) else "x" if first.endswith(("eau", "eu")) else "s"
    return first + end + space + rest
