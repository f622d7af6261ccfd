"""Downloaded or generated corpora."""

from __future__ import annotations

from typing import Annotated, Literal, Required, TypedDict

from msgspec import Meta

from psp.core.schemas.types import SOME, Codes, Count, Format, Positive, Sha256, Text


class Download(TypedDict):
    """Where a file came from and what it is."""

    format: Format
    name: Annotated[Text, "the file's path under results/downloads"]
    address: Annotated[Text, "the mirror it came from, without passwords; (already here) for a file put there by hand"]
    bytes: Annotated[Positive, "size in bytes"]
    sha256: Annotated[Sha256, "SHA-256 of the file"]
    pinned: Annotated[bool, "whether the config pinned the checksum"]
    licence_declared: Annotated[str | None, "the licence declared in the config (SPDX); null if none"]
    licence_text: Annotated[
        str | None, "the beginning of a zip's LICENSE files, or else its READMEs; null if it has neither"
    ]
    date: Annotated[
        str, Meta(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$"), "when the file arrived (UTC, ISO 8601)"
    ]


#: Explained in phrasebook/noise.py.
NoiseKind = Literal[
    "good", "duplicate_exact", "duplicate_case", "wrong_language", "too_short", "too_long", "misaligned", "shared"
]  # fmt: skip


class TruthLine(TypedDict, total=False):
    line: Required[Annotated[Positive, "the line's number, from 1"]]
    original: Annotated[Positive, "the line it copies"]
    other: Annotated[Positive, "the line of the other corpus it copies"]
    side: Annotated[Literal["source", "target", "both"], "the side that is wrong"]
    language: Annotated[str, "code of the language the side is in"]


class TruthCorpus(TypedDict):
    version: Annotated[str, "the version in the archive's path"]
    lines: Annotated[Positive, "pairs, noise included; the sum of counts"]
    counts: Annotated[dict[NoiseKind, Count], Meta(extra_json_schema={"required": ["good"]}), "pairs of each kind"]
    noise: Annotated[dict[NoiseKind, list[TruthLine]], "the lines of each kind of noise"]


class TruthTatoeba(TypedDict):
    """The retrieval set."""

    pairs: Annotated[Positive, "number of pairs"]


class TruthSts(TypedDict):
    """The STS sets."""

    test: Annotated[Positive, "pairs of the test set"]
    dev: Annotated[Positive, "pairs of the development set"]


class Truth(TypedDict):
    """Which lines of the generated corpora are noise, and of which kind."""

    format: Format
    seed: Annotated[Count, "seed of the generator"]
    languages: Codes
    corpora: Annotated[dict[str, TruthCorpus], SOME, "the corpora by name"]
    tatoeba: TruthTatoeba
    sts: TruthSts
