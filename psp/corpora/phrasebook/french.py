"""French: conjugation, agreement, the verb group, and what changes where words meet (elision, contraction)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from psp.corpora.phrasebook.lexicon import french_adjective

# infinitive: present of je tu il nous vous ils; future stem; participle
_IRREGULAR = """
être: suis es est sommes êtes sont; ser; été
avoir: ai as a avons avez ont; aur; eu
aller: vais vas va allons allez vont; ir; allé
faire: fais fais fait faisons faites font; fer; fait
prendre: prends prends prend prenons prenez prennent; prendr; pris
mettre: mets mets met mettons mettez mettent; mettr; mis
boire: bois bois boit buvons buvez boivent; boir; bu
lire: lis lis lit lisons lisez lisent; lir; lu
écrire: écris écris écrit écrivons écrivez écrivent; écrir; écrit
voir: vois vois voit voyons voyez voient; verr; vu
dire: dis dis dit disons dites disent; dir; dit
venir: viens viens vient venons venez viennent; viendr; venu
partir: pars pars part partons partez partent; partir; parti
sentir: sens sens sent sentons sentez sentent; sentir; senti
sortir: sors sors sort sortons sortez sortent; sortir; sorti
dormir: dors dors dort dormons dormez dorment; dormir; dormi
servir: sers sers sert servons servez servent; servir; servi
ouvrir: ouvre ouvres ouvre ouvrons ouvrez ouvrent; ouvrir; ouvert
offrir: offre offres offre offrons offrez offrent; offrir; offert
découvrir: découvre découvres découvre découvrons découvrez découvrent; découvrir; découvert
savoir: sais sais sait savons savez savent; saur; su
pouvoir: peux peux peut pouvons pouvez peuvent; pourr; pu
vouloir: veux veux veut voulons voulez veulent; voudr; voulu
devoir: dois dois doit devons devez doivent; devr; dû
concevoir: conçois conçois conçoit concevons concevez conçoivent; concevr; conçu
recevoir: reçois reçois reçoit recevons recevez reçoivent; recevr; reçu
conduire: conduis conduis conduit conduisons conduisez conduisent; conduir; conduit
courir: cours cours court courons courez courent; courr; couru
pleuvoir: pleus pleus pleut pleuvons pleuvez pleuvent; pleuvr; plu
peindre: peins peins peint peignons peignez peignent; peindr; peint
éteindre: éteins éteins éteint éteignons éteignez éteignent; éteindr; éteint
valoir: vaux vaux vaut valons valez valent; vaudr; valu
poursuivre: poursuis poursuis poursuit poursuivons poursuivez poursuivent; poursuivr; poursuivi
vivre: vis vis vit vivons vivez vivent; vivr; vécu
battre: bats bats bat battons battez battent; battr; battu
traduire: traduis traduis traduit traduisons traduisez traduisent; traduir; traduit
rejoindre: rejoins rejoins rejoint rejoignons rejoignez rejoignent; rejoindr; rejoint
"""
_FAMILIES = {"apprendre": ("ap", "prendre"), "comprendre": ("com", "prendre"), "permettre": ("per", "mettre"),
             "promettre": ("pro", "mettre"), "remettre": ("re", "mettre"), "parvenir": ("par", "venir"),
             "prévenir": ("pré", "venir"), "revenir": ("re", "venir"), "repeindre": ("re", "peindre"),
             "défaire": ("dé", "faire"), "surprendre": ("sur", "prendre"),
             "endormir": ("en", "dormir"), "souvenir": ("sou", "venir")}  # fmt: skip
ETRE = {"aller", "venir", "revenir", "arriver", "partir", "rentrer", "rester", "tomber", "retourner", "parvenir",
        "sortir"}  # fmt: skip
GRAVE = {"acheter", "lever", "peler", "emmener", "promener", "ramener", "achever", "amener", "geler", "enlever"}
CLITICS = ("me", "te", "se", "nous", "vous", "se")
_PRESENT_ER = ("e", "es", "e", "ons", "ez", "ent")
_PRESENT_IR = ("is", "is", "it", "issons", "issez", "issent")
_PRESENT_RE = ("s", "s", "", "ons", "ez", "ent")
_FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
_IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")

Forms = tuple[tuple[str, ...], str, str]


def _irregular() -> dict[str, Forms]:
    table = {}
    for line in _IRREGULAR.strip().split("\n"):
        verb, forms = line.split(": ")
        present, future, participle = forms.split("; ")
        table[verb] = (tuple(present.split()), future, participle)
    return table


IRREGULAR = _irregular()


@cache
def forms(verb: str) -> Forms:
    """Present (six persons), future stem, masculine participle of an infinitive."""
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb in _FAMILIES:
        prefix, base = _FAMILIES[verb]
        present, future, participle = IRREGULAR[base]
        return tuple(prefix + form for form in present), prefix + future, prefix + participle
    if verb.endswith("er"):
        return _first_group(verb)
    stem = verb[:-2]
    if verb.endswith("ir"):
        return tuple(stem + end for end in _PRESENT_IR), verb, stem + "i"
    return tuple(stem + end for end in _PRESENT_RE), verb[:-1], stem + "u"


def _first_group(verb: str) -> Forms:
    stem = strong = verb[:-2]
    future = verb
    if verb in GRAVE:
        at = stem.rindex("e")
        strong = stem[:at] + "è" + stem[at + 1 :]
        future = strong + "er"
    elif verb in ("appeler", "rappeler", "jeter", "rejeter"):
        strong = stem + stem[-1]
        future = strong + "er"
    elif verb.endswith("yer"):
        strong = stem[:-1] + "i"
        future = verb.replace("envoyer", "enverr") if verb.endswith("envoyer") else strong + "er"
    elif match := re.fullmatch(r"(.*)é([^aeiouyé]+)", stem):
        strong = f"{match[1]}è{match[2]}"
    weak = stem + "e" if stem.endswith("g") else stem[:-1] + "ç" if stem.endswith("c") else stem
    stems = (strong, strong, strong, weak, stem, strong)
    return tuple(s + e for s, e in zip(stems, _PRESENT_ER, strict=True)), future, stem + "é"


def conjugate(verb: str, tense: str, person: int) -> str:
    """One finite form; ``person`` 0 to 5; tenses present, imperfect, future, conditional."""
    present, future, _ = forms(verb)
    if tense == "present":
        return present[person]
    if tense == "future":
        return future + _FUTURE[person]
    if tense == "conditional":
        return future + _IMPERFECT[person]
    stem = "ét" if verb == "être" else present[3].removesuffix("ons")
    if person in (3, 4):  # mangeais but mangions, commençais but commencions
        stem = stem[:-1] if stem.endswith("ge") else stem[:-1] + "c" if stem.endswith("ç") else stem
    return stem + _IMPERFECT[person]


def agree(participle: str, gender: str, plural: bool) -> str:
    if gender == "f":
        participle += "e"
    return participle + "s" if plural and not participle.endswith("s") else participle


@dataclass(frozen=True, slots=True)
class Subject:
    """Who acts: the words, the person (0 to 5), gender, number, and the pronoun that stands for them."""

    text: str
    person: int
    gender: str
    plural: bool
    pronoun: str


@lru_cache(maxsize=4096)
def parse(phrase: str) -> tuple[bool, str, str, str]:
    """("se mettre à") -> reflexive, fixed clitic, head, rest."""
    reflexive = phrase.startswith(("se ", "s'"))
    if reflexive:
        phrase = phrase[3:] if phrase.startswith("se ") else phrase[2:]
    clitic = ""
    if phrase.startswith("y "):
        clitic, phrase = "y", phrase[2:]
    head, _, rest = phrase.partition(" ")
    return reflexive, clitic, head, rest


_AGREEING = re.compile(r"@([^\s,]+)")


@lru_cache(maxsize=4096)
def agreeing(rest: str, gender: str, plural: bool) -> str:
    """Put each ``@adjective`` of ``rest`` into the subject's gender and number."""
    if "@" not in rest:
        return rest
    key = gender + ("p" if plural else "s")
    return _AGREEING.sub(lambda match: french_adjective(match[1]).forms["ms" if key == "ms" else key], rest)


def infinitive(phrase: str, subject: Subject) -> str:
    """The infinitive with the reflexive pronoun of ``subject``: "nous promener"."""
    reflexive, clitic, head, rest = parse(phrase)
    words = [CLITICS[subject.person] if reflexive else "", clitic, head, agreeing(rest, subject.gender, subject.plural)]
    return " ".join(word for word in words if word)


def predicate(
    subject: Subject,
    chain: tuple[str, ...],
    tense: str,
    *,
    negation: str = "",
    invert: bool = False,
    adverb: str = "",
) -> str:
    """Subject and verbs in their order: "elle n'a pas souvent acheté", "a-t-elle acheté".

    ``tense``: present, imperfect, future, conditional or past (the passé composé); ``negation``: "", "pas", "jamais",
    "pas encore". ``invert`` puts the pronoun behind the verb, after a subject that is not itself a pronoun.
    """
    reflexive, clitic, head, rest = parse(chain[0])
    rest = agreeing(rest, subject.gender, subject.plural)
    if tense == "past":
        essence = reflexive or head in ETRE
        finite = conjugate("être" if essence else "avoir", "present", subject.person)
        participle = forms(head)[2]
        verb = agree(participle, subject.gender, subject.plural) if essence else participle
    else:
        finite, verb = conjugate(head, tense, subject.person), ""
    inner = CLITICS[subject.person] if reflexive else ""
    if invert:
        joint = "-t-" if finite[-1] in "ae" and subject.person == 2 else "-"
        finite = f"{finite}{joint}{subject.pronoun}"
    words = [
        "" if invert and subject.text == subject.pronoun else subject.text,
        "ne" if negation else "",
        inner,
        clitic,
        finite,
        negation,
        adverb,
        verb,
        rest,
        *(infinitive(phrase, subject) for phrase in chain[1:]),
    ]
    return " ".join(word for word in words if word)


def imperative(phrase: str, person: int, negative: bool, subject: Subject) -> str:
    """The command to ``person`` (1 tu, 3 nous, 4 vous)."""
    reflexive, _, head, rest = parse(phrase)
    form = forms(head)[0][person]
    if person == 1 and form.endswith(("es", "as")) and head != "avoir":
        form = form[:-1]
    rest = agreeing(rest, subject.gender, subject.plural)
    if negative:
        words = ["ne", CLITICS[person] if reflexive else "", form, "pas", rest]
    else:
        words = [form + ("-" + ("toi" if person == 1 else CLITICS[person]) if reflexive else ""), rest]
    return " ".join(word for word in words if word)


_VOWEL = r"(?:[aeiouyàâéèêëîïôûœAEIOUÉ]|h(?!aut|âte|aie|uit|onte|ollande|ockey|amburger|aricot|ors\b))"
_ELIDED = re.compile(
    rf"\b([jmtsnldc]|qu|lorsqu|jusqu|puisqu)(?:e|(?<=l)a) (?=(?!onze|oui\b|yaourt){_VOWEL}|y\b)", re.IGNORECASE
)
_DEMONSTRATIVE = re.compile(rf"\bce (?={_VOWEL})")
_POSSESSIVE = re.compile(rf"\b([mts])a (?={_VOWEL})")
_IF = re.compile(r"\bsi (?=ils?\b)")
_CONTRACTED = re.compile(r"\b(de|à) (les?) (?=\w)", re.IGNORECASE)
_CONTRACTIONS = {("de", "le"): "du ", ("de", "les"): "des ", ("à", "le"): "au ", ("à", "les"): "aux "}


def join(text: str) -> str:
    """Elide and contract where words meet: "de le" -> "du", "je ai" -> "j'ai", "ma amie" -> "mon amie"."""
    text = _DEMONSTRATIVE.sub("cet ", text)
    text = _POSSESSIVE.sub(r"\1on ", text)
    text = _ELIDED.sub(r"\1'", text)
    text = _IF.sub("s'", text)
    return _CONTRACTED.sub(lambda match: _CONTRACTIONS[match[1].lower(), match[2].lower()], text)


def finish(text: str, end: str) -> str:
    text = join(text)
    return text[0].upper() + text[1:] + end


_PARTITIVE = re.compile(r" (?:du|de la|des|une?) (?!plus)")


def deny(verb: str) -> str:
    """The article inside a denied verb phrase: "faire du jogging" -> "faire de jogging"."""
    return _PARTITIVE.sub(" de ", verb.replace(" de l'", " d'"), count=1)


def starts_with_vowel(word: str) -> bool:
    """Whether a word asks for elision, liaison and the forms bel, nouvel, vieil."""
    return re.match(_VOWEL, word) is not None


def preposition(verb: str) -> str:
    """The preposition at the end of a verb phrase, with what stands before it: "s'occuper de" -> "s'occuper de"."""
    return verb if verb.endswith((" de", " à", " dans", " pour", " sur", " avec", " en", " que", " après")) else ""
