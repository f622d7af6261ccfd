"""Languages: their codes, LASER's codes for the Tatoeba test sets, OPUS's names for them, and their English names.

The config names a language by its ISO 639-1 code or, if it has none, by the code of its Tatoeba test set (mostly
ISO 639-3). LASER's sets name the individual languages of a macrolanguage: ``zh`` is ``cmn`` (Mandarin), ``fa`` is
``pes``, ``ms`` is ``zsm``, ``lv`` is ``lvs``, ``sw`` is ``swh``, ``no`` is ``nob``.

OPUS has no single name for a language: corpora use their own (OpenSubtitles ``zh_cn``, GlobalVoices ``zhs``).

The tables are our own: langcodes 3.5 with its data takes 31 MB, gives 3 of LASER's 112 sets another code and 12
another name ("Bangla", "Standard Latvian"), and knows none of the rest: names in OPUS, labels of lid.176 and py3langid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from psp.core.errors import ConfigError

#: What a language's code looks like in a config.
CODE = "^[a-z]{2,3}$"

# ISO 639-1 code (or "-"), the code in LASER's file names, English name: all 112 sets of LASER's data/tatoeba/v1.
_TABLE = """
af afr Afrikaans
am amh Amharic
-  ang Old English
ar ara Arabic
-  arq Algerian Arabic
-  arz Egyptian Arabic
-  ast Asturian
-  awa Awadhi
az aze Azerbaijani
be bel Belarusian
bn ben Bengali
-  ber Berber
bs bos Bosnian
br bre Breton
bg bul Bulgarian
ca cat Catalan
-  cbk Chavacano
-  ceb Cebuano
cs ces Czech
ch cha Chamorro
zh cmn Mandarin Chinese
kw cor Cornish
-  csb Kashubian
cy cym Welsh
da dan Danish
de deu German
-  dsb Lower Sorbian
-  dtp Central Dusun
el ell Greek
eo epo Esperanto
et est Estonian
eu eus Basque
fo fao Faroese
fi fin Finnish
fr fra French
fy fry West Frisian
gd gla Scottish Gaelic
ga gle Irish
gl glg Galician
-  gsw Swiss German
he heb Hebrew
hi hin Hindi
hr hrv Croatian
-  hsb Upper Sorbian
hu hun Hungarian
hy hye Armenian
io ido Ido
ie ile Interlingue
ia ina Interlingua
id ind Indonesian
is isl Icelandic
it ita Italian
jv jav Javanese
ja jpn Japanese
-  kab Kabyle
ka kat Georgian
kk kaz Kazakh
km khm Khmer
ko kor Korean
ku kur Kurdish
-  kzj Coastal Kadazan
la lat Latin
-  lfn Lingua Franca Nova
lt lit Lithuanian
lv lvs Latvian
ml mal Malayalam
mr mar Marathi
-  max North Moluccan Malay
-  mhr Meadow Mari
mk mkd Macedonian
mn mon Mongolian
-  nds Low German
nl nld Dutch
nn nno Norwegian Nynorsk
nb nob Norwegian Bokmål
-  nov Novial
oc oci Occitan
-  orv Old East Slavic
-  pam Kapampangan
fa pes Persian
-  pms Piedmontese
pl pol Polish
pt por Portuguese
ro ron Romanian
ru rus Russian
sk slk Slovak
sl slv Slovenian
es spa Spanish
sq sqi Albanian
sr srp Serbian
sv swe Swedish
-  swg Swabian
sw swh Swahili
ta tam Tamil
tt tat Tatar
te tel Telugu
tl tgl Tagalog
th tha Thai
tk tuk Turkmen
tr tur Turkish
-  tzl Talossan
ug uig Uyghur
uk ukr Ukrainian
ur urd Urdu
uz uzb Uzbek
vi vie Vietnamese
-  war Waray
-  wuu Wu Chinese
xh xho Xhosa
yi yid Yiddish
-  yue Cantonese
ms zsm Malay
"""

_ROWS = [tuple(line.split(maxsplit=2)) for line in _TABLE.strip().split("\n")]

#: Config code of a language -> the three-letter code of its Tatoeba test set.
TATOEBA: dict[str, str] = {code if short == "-" else short: code for short, code, _ in _ROWS} | {"no": "nob"}

#: Config code of a language -> its name in English.
NAMES: dict[str, str] = {"en": "English", "no": "Norwegian"} | {
    code if short == "-" else short: name for short, code, name in _ROWS
}


# ISO 639-3 codes of the languages of ISO 639-1 that have no Tatoeba set: a model may be in one of them, too.
_OTHERS = """
aa:aar ab:abk ae:ave ak:aka an:arg as:asm av:ava ay:aym ba:bak bi:bis bm:bam bo:bod ce:che co:cos cr:cre cu:chu cv:chv
dv:div dz:dzo ee:ewe en:eng ff:ful fj:fij gn:grn gu:guj gv:glv ha:hau ho:hmo ht:hat hz:her ig:ibo ii:iii ik:ipk iu:iku
kg:kon ki:kik kj:kua kl:kal kn:kan kr:kau ks:kas kv:kom ky:kir lb:ltz lg:lug li:lim ln:lin lo:lao lu:lub mg:mlg mh:mah
mi:mri mt:mlt my:mya na:nau nd:nde ne:nep ng:ndo nr:nbl nv:nav ny:nya oj:oji om:orm or:ori os:oss pa:pan pi:pli ps:pus
qu:que rm:roh rn:run rw:kin sa:san sc:srd sd:snd se:sme sg:sag si:sin sm:smo sn:sna so:som ss:ssw st:sot su:sun tg:tgk
ti:tir tn:tsn to:ton ts:tso tw:twi ty:tah ve:ven vo:vol wa:wln wo:wol yo:yor za:zha zu:zul
"""

#: Config code of a language, of all in ISO 639-1 -> its three-letter code: its Tatoeba set's, or else ISO 639-3.
ISO3: dict[str, str] = dict(pair.split(":") for pair in _OTHERS.split()) | TATOEBA


def name_of_set(iso3: str) -> str:
    """Name the language of a Tatoeba test set in English; return anything else, such as ``fra-eng``, unchanged."""
    return next((NAMES[code] for code, code_of_set in TATOEBA.items() if code_of_set == iso3), iso3)


#: What people write for a language though no language has this code: country codes, and withdrawn codes.
_MISTAKEN = {
    "al": "sq", "cn": "zh", "cz": "cs", "dk": "da", "gr": "el", "in": "id", "iw": "he", "ji": "yi", "jp": "ja",
    "kp": "ko", "mo": "ro", "sh": "sr", "sp": "es", "ua": "uk", "us": "en", "vn": "vi", "zh_yue": "yue",
}  # fmt: skip

# Names that OPUS's corpora use besides the code itself and the code of the Tatoeba test set; after the slash the names
# of other varieties or scripts, for corpora that have nothing else.
_OPUS_NAMES = {
    "ar": "ara",
    "de": "ger",
    "fa": "fas per fa_ir",
    "fr": "fre",
    "he": "heb iw",
    "ku": "kmr ku_latn",
    "nb": "no_nb nb_no / no",
    "no": "nb no_nb nb_no",
    "pt": "pt_pt / pt_br",
    "sr": "srp sr_cyrl / sr_latn sr@latin",
    "sw": "swa",
    "tl": "fil",
    "uz": "uz_latn",
    "zh": "zh_cn zhs zh_hans cmn_hans zho zh_sg / zh_tw zht zh_hant cmn_hant zh_hk",
}


def opus_names(language: str) -> dict[str, int]:
    """What OPUS's corpora call a language, in lower case (they write ``zh_cn`` and ``zh_CN``).

    Returns:
        name -> 0 for the language as people mean it, 1 for another variety or script of it. A neighbour is not among
        them (``zh_yue`` is Cantonese).
    """
    usual, _, other = _OPUS_NAMES.get(language, "").partition("/")
    names = [language, *usual.split(), TATOEBA.get(language, language)]
    return dict.fromkeys(names, 0) | dict.fromkeys(other.split(), 1)


# fastText's lid.176: its labels, most of them ISO 639-1 codes.
_IDENTIFIED = """
af als am an ar arz as ast av az azb ba bar bcl be bg bh bn bo bpy br bs bxr ca cbk ce ceb ckb co cs cv cy da de diq dsb
dty dv el eml en eo es et eu fa fi fr frr fy ga gd gl gn gom gu gv he hi hif hr hsb ht hu hy ia id ie ilo io is it ja
jbo jv ka kk km kn ko krc ku kv kw ky la lb lez li lmo lo lrc lt lv mai mg mhr min mk ml mn mr mrj ms mt mwl my myv mzn
nah nap nds ne new nl nn no oc or os pa pam pfl pl pms pnb ps pt qu rm ro ru rue sa sah sc scn sco sd sh si sk sl so sq
sr su sv sw ta te tg th tk tl tr tt tyv ug uk ur uz vec vep vi vls vo wa war wuu xal xmf yi yo yue zh
"""

#: The labels of fastText's lid.176.
LID_LABELS: frozenset[str] = frozenset(_IDENTIFIED.split())

# py3langid 0.4.0: its labels. They can be read only with its model, which takes half a second.
_SCORED = """
ace af am an ar ary arz as az ba bcl be bg bn br bs ca crh cs cy da de dz el en eo es et eu ext fa fi fo fr fuv fy ga
gcf gcr gd gl gom grc gu gug guw ha hbo he hi hr ht hu hy id ig is it ja jv ka kab kik kk km kn ko ku ky la lb lg lij
ln lo lt ltg lv mg mk ml mn mr ms mt my ne nl nn no nso oc om or pa pcm pl ps pt qu ro ru rw sa sdh se si sk sl sn so
sq sr st sv sw ta te tg th tk tl tr tt ug uk ur uz uzs vec vi vo wa wuu xh yo yue zh zu zxx
"""

#: The labels of py3langid; ``zxx`` marks text in no language.
SCORED_LABELS: frozenset[str] = frozenset(_SCORED.split())

# lid.176's label for our language codes, where the two differ.
_LABELS = {"cmn": "zh", "fil": "tl", "in": "id", "iw": "he", "ji": "yi", "nb": "no"}


def lid_label(language: str) -> str:
    """lid.176's label for one of our language codes (a region, as in ``pt_br``, makes no difference).

    Not in ``LID_LABELS`` where the model does not know the language.
    """
    code = language.lower().replace("-", "_").partition("_")[0]
    return _LABELS.get(code, code)


# Labels, of lid.176 or py3langid, that are one ISO 639-3 macrolanguage (Arabic, Azerbaijani, Serbo-Croatian, Kurdish,
# Latvian, Malay, Norwegian, Uzbek, Chinese).
_MACROLANGUAGES = (
    "ar ary arz", "az azb", "bs hr sh sr", "ckb ku sdh", "lv ltg", "id min ms", "nn no", "uz uzs", "wuu yue zh",
)  # fmt: skip


def varieties(label: str) -> frozenset[str]:
    """Labels of lid.176 and py3langid that name varieties of the same language, the label itself among them."""
    groups = (group.split() for group in _MACROLANGUAGES)
    return frozenset({label}.union(*(group for group in groups if label in group)))


def is_known(code: str) -> bool:
    """Whether a code is ISO 639-1, or that of a Tatoeba test set as the config writes it, or a label of lid.176.

    The thousands of other codes in ISO 639-3 are not known here, though models may be trained in them.
    """
    return code in ISO3 or code in LID_LABELS


def check_codes(codes: Iterable[str], where: str) -> None:
    """Check that languages are named as a config names them, as far as psp knows them.

    Args:
        where: for errors, such as ``models.zh.languages``.

    Raises:
        ConfigError: one is named otherwise: in upper case, with a country or script, by another code, or as OPUS does.
    """
    if problem := next(filter(None, map(wrong_code, codes)), None):
        raise ConfigError(f"{where}: {problem}")


def wrong_code(code: str) -> str | None:
    """Say why a code is not one by which a config names a language, and what to write; None if it may be one."""
    if meant := _usual(code):
        name = f" for {NAMES[meant]}" if meant in NAMES else ""
        of_opus = f"; OPUS's own name of it belongs in `corpora.<name>.names`, e.g. `names: {{{meant}: {code}}}`"
        return f"{code} is not psp's code{name}; write {meant}{'' if code.lower() == meant else of_opus}"
    if not re.fullmatch(CODE, code):
        return f"{code} is not an ISO 639 code of two or three letters, such as sw; write one"
    return None


def _usual(code: str) -> str | None:
    """The code that a config has for a language that is named otherwise; None if it is that code, or not known."""
    if is_known(code):
        return None
    plain = code.casefold().replace("-", "_")
    base = plain.partition("_")[0]
    for name in dict.fromkeys([plain, base]):
        if is_known(name):
            return name
        known_as = ((known, {NAMES[known].casefold(), *opus_names(known)}) for known in NAMES)
        meant = _MISTAKEN.get(name) or next((known for known, others in known_as if name in others), None)
        if meant := meant or next((known for known, three in ISO3.items() if three == name), None):
            return meant
    return None
