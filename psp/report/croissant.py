"""The data card: what a model was trained on, as Croissant 1.1 (MLCommons; JSON-LD, a profile of schema.org's Dataset).

It describes the corpora's archives, by checksum, and how pairs were chosen from them; the text itself is not part of a
release. It contains no date, so the same data gives the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from psp.corpora.kinds import of_kind
from psp.models.card_data import public_address, together
from psp.models.licence import NONE, Licence, normalised
from psp.report.data import why
from psp.text.languages import NAMES
from psp.text.markup import plain

CONFORMS_TO = "http://mlcommons.org/croissant/1.1"
#: The media types of archives, by the end of a name.
_FORMATS = {".zip": "application/zip", ".gz": "application/gzip", ".zst": "application/zstd"}
_SPDX = "https://spdx.org/licenses/"
#: Croissant's own terms, whether or not they are used below: a reader expects the whole context.
_OWN = """
arrayShape citeAs column containedIn equivalentProperty extract field fileProperty fileObject fileSet format includes
isArray isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate
separator source subField transform
"""
_CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{term: f"cr:{term}" for term in _OWN.split()},
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
}


def croissant(data: Mapping[str, Any]) -> dict[str, Any]:
    """The data card of a model, as a JSON document.

    Args:
        data: data.json.

    Raises:
        PspError: license-expression is missing.
    """
    languages = [NAMES.get(code, code) for code in data["languages"]]
    corpora, total = data["corpora"], data["total"]
    return {
        "@context": dict(_CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": f"{data['model']}-training-data",
        "description": (
            f"The pairs of sentences that the sentence-embedding model {data['model']} was trained on: "
            f"{total['kept']:,} of {total['read']:,} pairs in {', '.join(languages)}, from {len(corpora)} "
            f"{'corpora' if len(corpora) != 1 else 'corpus'}. The corpora are described here, not passed on."
        ),
        "license": _licence(together(data)),
        "inLanguage": list(data["languages"]),
        "keywords": ["sentence embeddings", "bitext", "paraphrases"],
        "distribution": [_file(number, corpus) for number, corpus in enumerate(corpora)],
        "rai:dataPreprocessingProtocol": [_counts(corpus) for corpus in corpora],
    }


def _licence(licence: Licence) -> str:
    """The SPDX page of a listed licence; else the expression, or that there is none."""
    names = licence.ids
    single = names == [licence.expression] and not re.search(r"LicenseRef-| WITH ", str(licence))
    return f"{_SPDX}{licence.expression}.html" if single and not licence.undeclared else plain(str(licence))


def _file(number: int, corpus: Mapping[str, Any]) -> dict[str, Any]:
    source, licence = corpus["source"], corpus["licence"]
    name = plain(corpus["label"])
    # An id may not contain white space; it is numbered if another label may give the same id.
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
    own_id = name if safe == name else f"{number}-{safe}"
    endings = [end for end in PurePosixPath(source["address"]).suffixes[-2:] if re.fullmatch(r"\.[a-z0-9]{1,5}", end)]
    declared = normalised(licence["declared"]) if licence["declared"] else NONE
    facts = [f"{plain(corpus['corpus'])}, {'-'.join(corpus['languages'])}"]
    if corpus["version"] is not None:
        facts.append(f"release {plain(corpus['version'])}")
    facts.append(f"licence {declared}")
    if licence["text"]:
        facts.append(f'the archive says of its licence: "{plain(licence["text"])}"')
    address = public_address(source["address"])
    if address is None:
        # The address is a path on someone's machine.
        address = own_id + "".join(endings)
        facts.append("not on the web, identified by its checksum")
    return {
        "@type": "cr:FileObject",
        "@id": own_id,
        "name": name,
        "description": "; ".join(facts),
        "contentUrl": address,
        "contentSize": f"{source['bytes']} B",
        "encodingFormat": _FORMATS.get(endings[-1] if endings else "", "text/plain"),
        "sha256": source["sha256"],
    }


def _counts(corpus: Mapping[str, Any]) -> str:
    """What was removed from a corpus, stage by stage."""
    counts = [(why(entry), entry["pairs"]) for entry in corpus["dropped"]]
    for stage in ("deduplicated", "mixed", "near_duplicates"):
        counts += [(name.replace("_", " "), count) for name, count in corpus[stage].items()]
    dropped = ", ".join(f"{plain(what)} {count:,}" for what, count in counts if count)
    what = "sentences" if of_kind(corpus["kind"]).is_text else "pairs"
    read = f"{plain(corpus['label'])}: {corpus['read']:,} {what} read"
    return f"{read}, {corpus['kept']:,} kept" + (f"; not kept: {dropped}" if dropped else "")
