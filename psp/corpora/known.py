"""Facts about OPUS corpora that its API does not provide: which to exclude, which to doubt, and their licences.

Source: each corpus's own description (info.yaml in its folder of OPUS's repository) unless noted otherwise.
"""

from __future__ import annotations

#: Corpora that are never suggested, by name in lower case, and why.
SKIPPED: dict[str, str] = {
    "tatoeba": "the Tatoeba test is drawn from it (the paper never trains on it)",
    "opus-100": "a sample of other OPUS corpora, including Tatoeba",
    "wmt-news": "WMT's news test sets",
    "tico-19": "a test set of translation",
    "flores": "a test set of translation",
    "ntrex": "a test set of translation",
    "xlent": "names of entities, not sentences",
    "linguatools-wikititles": "titles, not sentences",
    "wikititles": "titles, not sentences",
    "stanfordnlp-nmt": "tokenised copies of WMT's and IWSLT's data, including test sets",
    "jw300": "withdrawn by OPUS: its source forbids it",
    "multiparacrawl": "joined over English: neither side was translated from the other",
    "multiccaligned": "joined over English: neither side was translated from the other",
    "multihplt": "joined over English: neither side was translated from the other",
}

SYNTHETIC = "made by machine translation (a release whose name ends in 'syn')"

_MINED = "mined from the web: many pairs are not translations"

#: Corpora that are suggested with a warning and not switched on, by name in lower case, and why.
DOUBTFUL: dict[str, str] = {
    "ccaligned": _MINED,
    "ccmatrix": _MINED,
    "nllb": _MINED,
    "hplt": _MINED,
    "dochplt": _MINED,
    "paracrawl": _MINED,
    "paracrawl-bonus": _MINED,
    "jparacrawl": _MINED,
    "macocu": _MINED,
    "gourmet": _MINED,
    "giga-fren": _MINED,
    "samanantar": _MINED,
    "wikimatrix": "mined from Wikipedia: many pairs are not translations",
    "wikipedia": "mined from Wikipedia: many pairs are not translations",
    "wikimedia": "partly machine translation, corrected by hand",
}

#: SPDX ids of corpora that declare one, by name in lower case.
LICENCES: dict[str, str] = {
    "bible-uedin": "CC0-1.0",
    "globalvoices": "CC-BY-3.0",  # the LICENSE of its archives
    "gourmet": "CC0-1.0",
    "infopankki": "CC-BY-4.0",
    "mdn_web_docs": "CC-BY-SA-2.5",
    "mozilla-i10n": "MPL-2.0",
    "nllb": "ODC-By-1.0",
    "setimes": "CC-BY-SA-3.0",
    "tico-19": "CC0-1.0",
    "tildemodel": "CC-BY-4.0",
    "tldr-pages": "CC-BY-4.0",
    "wikimatrix": "CC-BY-SA-4.0",
    "wikimedia": "CC-BY-SA-4.0",
}

#: What corpora without an SPDX id say about their use, by name in lower case.
TERMS: dict[str, str] = {
    "books": "for personal, educational and research use",
    "opensubtitles": "asks for a link to opensubtitles.org",
    "qed": "for research only",
    "tanzil": "translations for non-commercial use",
    "ted2020": "TED's terms: CC-BY-NC-ND-4.0 for the talks",
}
