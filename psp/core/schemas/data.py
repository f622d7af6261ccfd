"""What a model was trained on."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from msgspec import Meta

from psp.core.schemas.pairs import MinedReport, TranslatedReport
from psp.core.schemas.types import (
    SOME,
    UNIQUE,
    Amount,
    Codes,
    CorpusName,
    Count,
    Format,
    Label,
    ModelName,
    Positive,
    RankedBy,
    Recipe,
    Settings,
    Sha256,
    Share,
    Text,
)

Read = Annotated[Count, "pairs read"]
Kept = Annotated[Count, "pairs trained on"]
Samples = Annotated[
    list[Annotated[list[str], SOME]],
    "a random sample of the dropped pairs, each as source, target and, if there is one, score",
]
OtherDeciles = Annotated[Count, "pairs left out because they are in other deciles"]


class DataWarningCorpus(TypedDict):
    label: Label
    dropped: Annotated[Positive, "pairs the filter dropped"]
    read: Read
    samples: Samples


class DataWarning(TypedDict):
    filter: Annotated[Text, "the filter"]
    keep: Annotated[Text, "what to write in the config to keep most of these pairs"]
    corpora: Annotated[list[DataWarningCorpus], SOME, "the corpora, largest dropped share first"]


class DataWarnings(TypedDict):
    """What to check in the data."""

    pairs: Kept
    least: Annotated[Count, "warn of fewer training pairs (mix.warn_pairs in the config)"]
    filters: Annotated[
        list[DataWarning],
        "filters that dropped more than warn_share of a corpus, the one that dropped most pairs first",
    ]


class DataSource(TypedDict):
    """The file that was read."""

    address: Annotated[Text, "the mirror it came from, or the path of the user's own file"]
    bytes: Annotated[Count, "size in bytes"]
    sha256: Annotated[Sha256, "SHA-256 of the file; of several of one's own, as if they were one"]
    pinned: Annotated[bool, "whether the config pinned the checksum"]


class DataLicence(TypedDict):
    """Its licence."""

    declared: Annotated[str | None, "the SPDX id declared in the config; null if none"]
    text: Annotated[str | None, "the first lines of the archive's LICENSE, or else its README; null if it has neither"]


class DataDropped(TypedDict):
    filter: Annotated[str | None, "the filter; `row` if the row was not a pair, null if a side was empty"]
    reason: Annotated[Text, "the reason, in a few words"]
    pairs: Annotated[Positive, "pairs dropped for this reason"]
    samples: Samples


class DataRanked(TypedDict):
    """The deciles that were kept, only if the corpus was ranked."""

    by: RankedBy
    tenths: Annotated[list[Annotated[int, Meta(ge=1, le=10)]], SOME, UNIQUE, "the deciles kept"]
    other_tenths: OtherDeciles


class DataPieces(TypedDict):
    """Pieces in the store, by side, without unknown ones."""

    source: Annotated[Count, "pieces of the source side"]
    target: Annotated[Count, "pieces of the target side"]


class DataMeanPieces(TypedDict):
    """Mean pieces per sentence, by side."""

    source: Annotated[Amount | None, "source side; null without pairs"]
    target: Annotated[Amount | None, "target side; null without pairs"]


class DataCounts(TypedDict):
    read: Read
    deduplicated: Annotated[
        dict[str, Count],
        Meta(extra_json_schema={"required": ["duplicates", "capped"]}),
        "pairs dropped by deduplication after the filters, by cause, as in the dedupe report",
    ]
    mixed: Annotated[
        dict[str, Count],
        Meta(extra_json_schema={"required": ["duplicates", "heldout", "heldout_neighbours"]}),
        "pairs dropped or held out in mixing, by cause, as in mix.json",
    ]
    near_duplicates: Annotated[
        dict[str, Count], "near-duplicates dropped from the mixture, by cause; empty if that stage is off"
    ]
    kept: Kept
    pieces: DataPieces
    mean_pieces: DataMeanPieces


class DataCorpus(DataCounts):
    label: Label
    corpus: CorpusName
    languages: Codes
    kind: Annotated[Text, "the kind of corpus, such as opus"]
    mined: NotRequired[Annotated[MinedReport, "how pairs were mined from bitext"]]
    translated: NotRequired[Annotated[TranslatedReport, "how one side of bitext was translated"]]
    version: Annotated[str | None, "the release; null for the user's own file"]
    source: DataSource
    licence: DataLicence
    filters: Annotated[dict[str, Settings], "settings of the filters that ran, by name"]
    warn_share: Annotated[Share, "warn of filters that drop a larger share of the corpus"]
    dropped: Annotated[
        list[DataDropped],
        "pairs dropped by the filters, most frequent reason first; each counts under the first reason found",
    ]
    ranked: NotRequired[DataRanked]


class DataTotalRanked(TypedDict):
    """Only if a corpus was ranked."""

    other_tenths: OtherDeciles


class DataTotal(DataCounts):
    """The same counts over all corpora."""

    dropped: Annotated[Count, "pairs dropped by the filters"]
    ranked: NotRequired[DataTotalRanked]


class DataReport(TypedDict):
    """What a model was trained on; read is kept plus everything the stages removed."""

    format: Format
    model: ModelName
    languages: Annotated[list[str], SOME, "codes of the model's languages"]
    recipe: Annotated[Recipe, "the recipe, which gives the values of unset config keys"]
    tokenizer: NotRequired[
        Annotated[Text, "the kind of tokenizer whose pieces are counted, if it is not sentencepiece, such as word"]
    ]
    warnings: DataWarnings
    corpora: Annotated[list[DataCorpus], SOME, "the corpora, in the order of the config"]
    total: DataTotal
