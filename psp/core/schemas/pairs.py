"""The reports of the stages that make pairs."""

from __future__ import annotations

from typing import Annotated, Literal, TypedDict

from msgspec import Meta

from psp.core.schemas.types import (
    SOME,
    TEN,
    TWO,
    UNIQUE,
    Amount,
    Codes,
    CorpusName,
    Count,
    Format,
    Label,
    Positive,
    PositiveNumber,
    RankedBy,
    Settings,
    Several,
    Sha256,
    Text,
)


class FilterReport(TypedDict):
    """What the filters did to one corpus; seen is kept plus all dropped."""

    format: Format
    corpus: CorpusName
    languages: Codes
    filters: Annotated[dict[str, Settings], "settings of the filters that ran, by name; disabled filters are absent"]
    segmented: Annotated[dict[str, str], "the segmenter of each segmented language, such as jieba for zh"]
    lower_case: Annotated[bool, "whether the pairs kept are lower-cased"]
    normalisation: Annotated[str | None, "the normalisation of the pairs kept; null: none"]
    repaired: Annotated[dict[str, int], "pairs whose entities or tags were repaired before the filters, by kind"]
    seen: Annotated[Count, "pairs read"]
    kept: Annotated[Count, "pairs kept"]
    dropped: Annotated[dict[str, Positive], "pairs dropped, by the first reason found"]


class RankBound(TypedDict):
    tenth: Annotated[int, Meta(ge=1, le=10), "its number; 1 has the lowest values"]
    pairs: Annotated[Count, "pairs in it"]
    low: Annotated[float | None, "the lowest value in it; null if it is empty"]
    high: Annotated[float | None, "the highest value in it; null if it is empty"]


Bounds = Annotated[list[RankBound], TEN, "all deciles, the lowest values first"]


class RankReport(TypedDict):
    """The pairs of one corpus ranked by a value, of which some deciles are kept."""

    format: Format
    corpus: CorpusName
    by: RankedBy
    tenths: Annotated[list[Annotated[int, Meta(ge=1, le=10)]], SOME, UNIQUE, "the deciles kept, in ascending order"]
    seen: Annotated[Count, "pairs read"]
    kept: Annotated[Count, "pairs kept"]
    bounds: Bounds


class DedupeReport(TypedDict):
    """Deduplication and capping of one corpus; seen is duplicates plus capped plus kept."""

    format: Format
    corpus: CorpusName
    seen: Annotated[Count, "pairs read"]
    duplicates: Annotated[Count, "pairs dropped because an earlier one is the same, ignoring case"]
    capped: Annotated[Count, "distinct pairs dropped by the corpus's cap"]
    kept: Annotated[Count, "pairs kept"]


_Read = TypedDict("_Read", {"in": Annotated[Count, "pairs read"]})  # a keyword of Python


class MixCounts(_Read):
    duplicates: Annotated[Count, "pairs dropped because an earlier corpus has the same pair, ignoring case"]
    heldout: Annotated[Count, "pairs held out for validation"]
    heldout_neighbours: Annotated[Count, "pairs dropped because they share a side with a held-out pair"]
    kept: Annotated[Count, "training pairs"]


class MixCorpus(MixCounts):
    label: Label


class MixReport(TypedDict):
    """What happened to each corpus in mixing; in is the sum of the other counts."""

    format: Format
    heldout_asked: Annotated[Count, "pairs to hold out; a small corpus gives fewer"]
    corpora: Annotated[
        list[MixCorpus], SOME, "counts by corpus; the third column of a mixed pair file holds indices into this list"
    ]
    total: Annotated[MixCounts, "the same counts over all corpora"]


class NeardupCounts(_Read):
    same_key: Annotated[Count, "pairs dropped because an earlier one has the same letters and digits, ignoring case"]
    similar: Annotated[Count, "other pairs dropped because an earlier one is similar"]
    kept: Annotated[Count, "pairs kept"]


class NeardupCorpus(NeardupCounts):
    label: Label


class NeardupReport(TypedDict):
    """Near-duplicates of earlier pairs, dropped; in is same_key plus similar plus kept."""

    format: Format
    threshold: Annotated[float, Meta(le=1, gt=0), "minimum estimated Jaccard similarity of near-duplicates"]
    signatures: Annotated[Text, "the MinHash implementation and its version; another may give other estimates"]
    slots: Annotated[Positive, "slots per signature; the estimate is the share of equal slots"]
    shingle: Annotated[Positive, "letters and digits per shingle"]
    bands: Annotated[Positive, "bands per signature; only rows that share a band are compared"]
    band_slots: Annotated[Positive, "slots per band"]
    window: Annotated[
        Positive, "each row is compared with at most this many earlier rows that share a band, the nearest ones"
    ]
    corpora: Annotated[list[NeardupCorpus], SOME, "counts by corpus, in the order of mix.json"]
    total: Annotated[NeardupCounts, "the same counts over all corpora"]


PairsOf = Annotated[Literal["cover", "all"], "which pairs of a group"]


class PivotSettings(TypedDict):
    """The block pivot of the config."""

    pairs: PairsOf
    max_group: Annotated[Several | None, "the largest group that is used; null for all"]
    encoder: Annotated[str | None, "what compared each sentence with its translation"]
    min_cosine: Annotated[float | None, "the lowest cosine to its translation of a sentence that is used"]


class PivotTranslations(TypedDict):
    compared: Annotated[Count, "how many"]
    kept: Annotated[Count, "those whose cosine was large enough"]


class PivotPair(TypedDict):
    source: Annotated[str, "one sentence"]
    target: Annotated[str, "the other"]
    shared: Annotated[str, "their shared translation"]
    corpora: Annotated[list[str], "the corpora that they are from"]


class PivotCounts(TypedDict):
    read: Annotated[dict[str, Count], "pairs of bitext read, by corpus"]
    no_key: Annotated[Count, "pairs passed over, whose shared side has neither letters nor digits"]
    keys: Annotated[Count, "distinct shared sides, by their letters and digits"]
    groups: Annotated[Count, "shared sides with sentences to pair, too large groups not counted"]
    too_large: Annotated[Count, "groups left out because they are larger than max_group"]
    sizes: Annotated[dict[str, Count], "groups by their number of sentences, those too large included"]
    sentences: Annotated[Count, "distinct sentences in the groups"]
    pairs: Annotated[Count, "pairs mined, before the filters"]
    by_corpus: Annotated[dict[str, Count], "pairs with a sentence of each corpus"]


class MinedReport(PivotCounts):
    """Pairs mined from bitext, sentences that share a translation."""

    through: Annotated[Text, "the language of the shared translation"]
    settings: PivotSettings
    translations: Annotated[
        PivotTranslations | None,
        "distinct translations whose cosine was computed, since others share them; null without min_cosine",
    ]
    sample: Annotated[list[PivotPair], "some of the pairs, chosen by a seed"]


class PivotReport(MinedReport):
    """Pairs mined from bitext, sentences that share a translation."""

    format: Format
    languages: Annotated[list[str], TWO, "the languages of the two sides; the same twice for paraphrases"]


class TranslationSettings(TypedDict, total=False):
    """Its settings, without those that change no translation: of a command, or of a search."""

    command: Annotated[Text, "the shell command"]
    scores: Annotated[Literal["none", "column"], "column: it writes scores"]
    beam: Annotated[Positive, "hypotheses kept at each step"]
    length_penalty: Annotated[Amount, "power of the length in the comparison of hypotheses"]
    sampling: Annotated[Count, "0: beam search; else subwords among which one is drawn"]
    seed: Annotated[Positive, "seed of sampling"]
    temperature: Annotated[PositiveNumber, "temperature of sampling"]
    max_tokens: Annotated[Positive, "subwords after which a line is cut"]
    compute_type: Annotated[Text, "the weights in memory, as CTranslate2 names them"]
    device: Annotated[Literal["cpu", "cuda"], "where it ran"]
    source_prefix: Annotated[list[str], "subwords before each source"]
    target_prefix: Annotated[list[str], "subwords that each translation begins with"]


class BacktranslateTranslator(TypedDict):
    """The translator."""

    name: Annotated[Text, "its name in the config"]
    kind: Annotated[Literal["command", "ctranslate2"], "how it is run"]
    settings: TranslationSettings
    files: Annotated[dict[str, Sha256], "SHA-256 of each of its files"]


class BacktranslateEncoder(TypedDict):
    """The encoder that scored the pairs."""

    name: Annotated[Text, "as in the config"]
    files: Annotated[dict[str, Sha256], "SHA-256 of each of its files; none of an encoder in a package"]


class BacktranslateSource(TypedDict):
    corpus: Annotated[Text, "the corpus and its languages"]
    sha256: Annotated[Sha256, "SHA-256 of the file"]
    column: Annotated[Literal[0, 1], "the side that was translated: 0 the first, 1 the second"]
    lines: Annotated[Count, "its pairs"]


class BacktranslateCounts(TypedDict):
    lines: Annotated[Count, "lines translated"]
    empty: Annotated[Count, "lines without a translation, which are left out"]
    copies: Annotated[Count, "translations that are the line itself"]
    overlong: Annotated[
        Count, "translations that were cut off, or have more than three times the source's words plus ten"
    ]
    cut: Annotated[Count, "lines longer than the translator takes, which are cut"]
    kept: Annotated[Count, "pairs written"]


class TranslatedReport(TypedDict):
    through: Annotated[Text, "the language of the side that was translated"]
    translator: BacktranslateTranslator
    encoder: BacktranslateEncoder
    sample: Annotated[Positive | None, "the largest number of lines that are translated; null for all"]
    corpora: Annotated[dict[str, BacktranslateCounts], "counts, by corpus"]


class BacktranslateReport(TranslatedReport):
    """One side of bitext translated into the language of the other."""

    format: Format
    languages: Annotated[list[str], TWO, "the language of both sides, twice"]
    sources: Annotated[list[BacktranslateSource], SOME, "the filtered bitext"]
    seed: Annotated[Count, "of the choice of lines"]
    block_lines: Annotated[Positive, "lines translated and written at a time"]


class SentencepieceReport(TypedDict):
    """How the sentencepiece model was trained."""

    format: Format
    sentences: Annotated[Positive, "sentences trained on, both sides counted"]
    asked: Annotated[Positive, "pieces requested"]
    vocab_size: Annotated[Positive, "actual number of pieces; fewer than requested if the text does not support more"]
    character_coverage: Annotated[float, Meta(le=1, gt=0), "share of the text's characters that have a piece"]
    sha256: Annotated[Sha256, "SHA-256 of sentencepiece.model"]
    skipped_long: Annotated[Count, "sentences skipped because they are too long for sentencepiece"]


class VocabularySplit(TypedDict, total=False):
    split: Annotated[Literal["letters", "whitespace"], "how text is split, of a kind with that choice"]


class VocabularyReport(VocabularySplit):
    """How a vocabulary of tokens that are collected from the pairs was made."""

    format: Format
    kind: Annotated[str, "the kind of tokenizer, and so what an entry is"]
    asked: Annotated[Positive, "the maximum number of entries"]
    min_count: Annotated[Positive, "the minimum number of occurrences of an entry"]
    entries: Annotated[Positive, "actual number of entries, without the unknown one"]
    sentences: Annotated[Positive, "sentences counted, both sides"]
    tokens: Annotated[Positive, "tokens in these sentences"]
    distinct: Annotated[Positive, "distinct tokens in these sentences"]
    covered: Annotated[Positive, "tokens in these sentences that have an entry; the others are unknown"]
    sha256: Annotated[Sha256, "SHA-256 of vocabulary.txt"]


class SampleCorpus(TypedDict):
    label: Label
    bounds: Bounds


SampleCorpora = Annotated[list[SampleCorpus], "the corpora, each ranked by itself; empty without a ranking"]


class Sample(TypedDict):
    name: Annotated[Text, "its name, all or such as score-10, and that of its file"]
    pairs: Annotated[Count, "distinct pairs in it"]


class SampleReport(TypedDict):
    """Samples of a model's pairs, for the study of its deciles."""

    format: Format
    by: Annotated[RankedBy | None, "what ranks, as in the config's block rank; null for a sample of all pairs"]
    corpora: SampleCorpora
    samples: Annotated[list[Sample], SOME, "the samples; of a ranking ten, the lowest values first"]
