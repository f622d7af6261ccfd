"""Results computed from scores."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

from msgspec import Meta

from psp.core.schemas.pairs import (
    BacktranslateReport,
    DedupeReport,
    FilterReport,
    MixReport,
    NeardupReport,
    PivotReport,
    RankReport,
    SentencepieceReport,
    VocabularyReport,
)
from psp.core.schemas.scores import Conditions, Difference, Figure, ScoredTasks, ScoreName, Scores, SkippedSets
from psp.core.schemas.training import TRANSFORMER, TrainJson
from psp.core.schemas.types import (
    SOME,
    TWO,
    UNIQUE,
    Amount,
    Cosine,
    Count,
    Dtype,
    Format,
    Label,
    ModelName,
    Positive,
    PositiveNumber,
    Recipe,
    Several,
    Share,
    Text,
    add_keywords,
)


class Decontaminated(TypedDict):
    """Pairs kept out of training because they occur in a test or development set."""

    enabled: Annotated[bool, "whether the filter was on"]
    mode: Annotated[Literal["side", "pair"], "what must match, one side any test sentence or both sides one test pair"]
    sets: NotRequired[Annotated[list[str], "which sets' sentences are kept out (all but tasks, where it is missing)"]]
    pairs: Annotated[Count, "pairs dropped from all corpora; data.filter counts them by corpus and set"]


class DataStages(TypedDict, total=False):
    """Counts of the data stages."""

    filter: Required[Annotated[list[FilterReport], SOME, "the counts of the filters, by corpus"]]
    rank: Annotated[list[RankReport], SOME, "the deciles kept of each corpus that is ranked; only if some are"]
    dedupe: Required[Annotated[list[DedupeReport], SOME, "the counts of deduplication, by corpus"]]
    mix: Required[Annotated[MixReport, "the counts of mixing"]]
    mined: Annotated[
        list[PivotReport], SOME, "how pairs were mined from bitext, by corpus, without the samples; only if some were"
    ]
    translated: Annotated[list[BacktranslateReport], SOME, "how bitext was translated, by corpus; only if some was"]
    near_duplicates: Annotated[NeardupReport, "the counts of near-duplicate removal, if it is on"]


class CombinedPart(TypedDict):
    model: ModelName
    weight: Annotated[PositiveNumber, "its weight in a cosine"]
    scores: Annotated[dict[ScoreName, float | None], "its scores (correlations x 100, errors in %); null if undefined"]
    differences: Annotated[dict[ScoreName, Difference], "its scores minus the combination's"]


class BetweenParts(TypedDict):
    models: Annotated[list[str], TWO, "the two parts"]
    sets: Annotated[Count, "data sets on which both have a correlation"]
    mean_absolute_difference: Annotated[
        Amount | None, "mean absolute difference of their Pearson correlations x 100; null without such a set"
    ]


class Evaluation(Scores, total=False):
    """A trained model's scores on every test set in its languages, and how the model was made."""

    format: Required[Annotated[Literal[1, 2], "the version of this format"]]
    model: Required[ModelName]
    languages: Annotated[list[str], SOME, UNIQUE, "codes of the model's languages"]
    recipe: Annotated[Recipe, "the recipe of its settings"]
    differences: Annotated[
        dict[str, Any], "every setting that differs from the recipe's, by its dotted config key, such as train.epochs"
    ]
    unpinned: Annotated[list[str], UNIQUE, "downloads without a pinned checksum, by path under results/downloads"]
    decontaminated: Decontaminated
    data: DataStages
    subword: Annotated[SentencepieceReport, "the contents of sentencepiece.json"]
    vocabulary: Annotated[
        VocabularyReport, "instead of subword, if the vocabulary is collected from the pairs, that of vocabulary.json"
    ]
    parts: Annotated[list[CombinedPart], Meta(min_length=2), "of a combination, the models that it joins"]
    between_parts: Annotated[
        list[BetweenParts], "of a combination, how much each two of its parts differ on the STS data sets of all years"
    ]
    train: Annotated[TrainJson, "the contents of train.json"]


#: Keys with the report on a model's tokenizer, one of which every model has that is trained with one of its own.
TOKENIZER_REPORTS = ("subword", "vocabulary")

add_keywords(
    Evaluation,
    # The workflow adds all keys from languages to train; evaluate_model alone adds none of them.
    dependentRequired={
        "languages": ["recipe"], "recipe": ["differences"], "differences": ["unpinned"],
        "unpinned": ["decontaminated"], "decontaminated": ["data"], "train": ["languages"],
        **{report: ["train"] for report in TOKENIZER_REPORTS},
        "parts": ["between_parts"], "between_parts": ["parts"],
    },
    anyOf=[{"required": ["tasks"]}, {"required": ["sts", "semeval2017", "stsb", "tatoeba", "files"]}],
    if_={"required": ["data"], "properties": {"train": {"not": TRANSFORMER}}},
    then={"oneOf": [{"required": [report]} for report in TOKENIZER_REPORTS]},
)  # fmt: skip


class Comparison(TypedDict):
    """A trained model and other systems, on the same test sets and bootstrap resamples."""

    format: Annotated[Literal[3, 4], "the version of this format"]
    model: ModelName
    systems: Annotated[
        dict[str, Scores],
        Meta(extra_json_schema={"required": ["trained"]}),
        "the scores of each system by its name in the config, laid out as in eval.json",
    ]
    differences: Annotated[dict[str, dict[ScoreName, Difference]], "for each other system its scores minus the model's"]
    tasks: Annotated[
        dict[str, dict[str, dict[str, Annotated[dict[str, Difference], SOME]]]],
        "for each task of compare.tasks, and each other system, its scores minus the model's",
    ]


class QuantizedTable(TypedDict):
    dtype: Annotated[Dtype, "number format of the embedding matrix"]
    dim: Annotated[Positive, "length of a vector; the first dimensions are kept"]
    scale: Annotated[
        Literal["row", "dimension"] | None,
        "int8 has a scale per row or dimension, whichever gives the smaller squared error; null for floats",
    ]
    bytes: Annotated[Positive, "size of the embedding matrix, scales included"]
    scores: Annotated[ScoredTasks, "the scores, as in eval.json, without parts of parts"]


class QuantizedSmaller(QuantizedTable):
    differences: Annotated[
        dict[
            Annotated[
                str,
                Meta(pattern=r"^(sts|semeval2017/.+|stsb/(dev|test)|files/.+|tatoeba/(eng-[a-z]{3}|[a-z]{3}-eng))$"),
            ],
            Difference,
        ],
        "each main score minus the full model's (sts: mean Pearson); for error rates, higher is worse",
    ]


class QuantizedReport(TypedDict):
    """A trained model's scores with smaller embedding matrices, and the loss of each."""

    format: Annotated[Literal[1, 2], "the version of this format"]
    model: ModelName
    conditions: Annotated[Conditions, "how the intervals were computed"]
    whole: Annotated[QuantizedTable, "the model as trained"]
    smaller: Annotated[list[QuantizedSmaller], "smaller versions of the model, longest vectors first"]
    skipped: SkippedSets


class ExamplePair(TypedDict):
    set: Annotated[Text, "the test set"]
    a: Annotated[str, "the first sentence"]
    b: Annotated[str, "the second"]
    gold: Annotated[float, "people's score"]
    similarity: Annotated[Cosine, "cosine"]
    gold_rank: Annotated[Share, "by people's scores"]
    rank: Annotated[Share, "by the model's"]


class WrongExample(TypedDict):
    query: Annotated[str, "the sentence"]
    translation: Annotated[str, "its translation"]
    similarity: Annotated[Cosine, "of the two"]
    found: Annotated[str, "its nearest neighbour"]
    found_similarity: Annotated[Cosine, "of the query and that"]


class RightExample(TypedDict):
    query: Annotated[str, "the sentence"]
    translation: Annotated[str, "its translation"]
    similarity: Annotated[Cosine, "cosine"]


class RetrievalExamples(TypedDict):
    wrong: Annotated[
        list[WrongExample], "queries whose nearest neighbour is no translation, the most confident errors first"
    ]
    right: Annotated[list[RightExample], "queries whose translation was found, drawn at random"]


class NeighbourExample(TypedDict):
    query: Annotated[str, "a sentence drawn at random"]
    found: Annotated[str, "its nearest neighbour"]
    similarity: Annotated[Cosine, "cosine"]


class FoundExamples(TypedDict):
    overrated: Annotated[
        list[ExamplePair], "STS pairs that the model ranks above people, the largest differences first"
    ]
    underrated: Annotated[list[ExamplePair], "STS pairs that it ranks below people"]
    retrieval: Annotated[
        dict[Annotated[str, Meta(pattern=r"^(eng-[a-z]{3}|[a-z]{3}-eng)$")], RetrievalExamples],
        "sentences of Tatoeba's sets, by direction",
    ]
    neighbours: Annotated[
        list[NeighbourExample], "without Tatoeba's sets, nearest neighbours among sentences of the STS sets"
    ]


class Examples(FoundExamples):
    """Sentences of the test sets that a model gets right and wrong, for people to read."""

    format: Format
    model: ModelName


class VariantsMachine(TypedDict):
    """The machine that wrote this file, usually also the one used for training."""

    processor: Annotated[Text, "name of the processor"]
    cores: Annotated[Positive, "cores available to the job"]
    versions: Annotated[
        dict[str, Text], Meta(extra_json_schema={"required": ["psp"]}), "versions of psp and of its numerical libraries"
    ]


class VariantsSummary(TypedDict):
    values: Annotated[list[Annotated[float, Meta(ge=-200)] | None], SOME, "the figure for each seed"]
    mean: Annotated[Annotated[float, Meta(ge=-200)] | None, "their mean; null if any is null"]
    deviation: Annotated[Amount | None, "their sample standard deviation; null if any is null, or for a single seed"]


class VariantReport(TypedDict):
    name: Annotated[
        str,
        Meta(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$"),
        "the variant's name, and that of its folder in results/<model>/variants",
    ]
    recipe: Annotated[Recipe, "the recipe of its settings"]
    settings: Annotated[dict[str, Any], "the settings that differ from the model's own"]
    seeds: Annotated[list[Count], SOME, UNIQUE, "the seeds it was trained with"]
    threads: Annotated[list[Positive], SOME, "training threads for each seed"]
    figures: Annotated[
        dict[ScoreName, VariantsSummary],
        "its scores and cost by name, such as sts (mean Pearson of 2012-2016) or seconds (of training)",
    ]
    differences: Annotated[
        dict[ScoreName, Difference], "the means of its scores minus those of the model's own settings (none for those)"
    ]


class VariantsSystem(TypedDict):
    figures: Annotated[dict[ScoreName, Annotated[float, Meta(ge=-200)] | None], "its scores by name"]
    differences: Annotated[dict[ScoreName, Difference], "its scores minus the means of the model's own settings"]


class VariantsReport(TypedDict):
    """Training runs of a model with other settings and several seeds on the same pairs, with scores and cost."""

    format: Annotated[Literal[2], "the version of this format"]
    model: ModelName
    machine: VariantsMachine
    variants: Annotated[
        list[VariantReport], SOME, "the model's own settings first, then the config's variants in their order"
    ]
    systems: Annotated[
        dict[str, VariantsSystem], "the systems that the model is compared with, named as in compare.json"
    ]


class LexiconSettings(TypedDict):
    """The block lexicon of the config."""

    min_count: Annotated[Positive, "the lowest count of a pair of words that is listed"]
    smoothing: Annotated[PositiveNumber, "what is added to counts and to those of chance"]
    stop_top: Annotated[Count, "the most frequent words left out"]
    within_length: Annotated[Positive | None, "the most words of a side; null for any number"]
    min_score: Annotated[float | None, "the lowest score of a pair; null if scores are not looked at"]


class LexiconCorpus(TypedDict):
    label: Label
    read: Annotated[Count, "pairs read"]
    low_score: Annotated[Count, "those left out for their score"]
    too_long: Annotated[Count, "others left out for their length"]
    kept: Annotated[Count, "pairs that words were counted in"]


class LexiconFigures(TypedDict):
    """The score."""

    spearman: Annotated[Figure, "Spearman's correlation with people's scores, times 100, and its interval"]


class LexiconFurther(TypedDict):
    """What else is counted."""

    covered: Annotated[Count, "pairs of the set that are seen"]


class LexiconPart(TypedDict):
    items: Annotated[Positive, "pairs of words"]
    figures: LexiconFigures
    further: LexiconFurther


#: By PMI across sentences, by the adjusted PMI, and both without smoothing.
Measure = Literal["cross", "adjusted", "cross_unsmoothed", "adjusted_unsmoothed"]
#: All pairs of the set, and those whose words are seen across the sides of a pair.
PartOfSet = Literal["all", "covered"]


Measured = dict[Measure, dict[PartOfSet, LexiconPart]]


class LexiconReport(TypedDict):
    """How a lexicon was made from a model's pairs, and its scores on word sets."""

    format: Format
    model: ModelName
    languages: Annotated[list[Text], TWO, "the languages of the two sides; the same twice for paraphrases"]
    settings: LexiconSettings
    corpora: Annotated[list[LexiconCorpus], SOME, "the corpora that were read"]
    pairs: Annotated[Positive, "pairs of sentences that words were counted in, over all corpora"]
    words: Annotated[list[Count], TWO, "words of each side that occur min_count times, or are in a word set"]
    entries: Annotated[Positive, "pairs of words in lexicon.tsv"]
    left_out: Annotated[list[Text], "corpora of the model that hold other pairs, or none"]
    conditions: Conditions
    scores: Annotated[
        dict[str, Measured],
        "the scores on each word set, by its task; none for a translation lexicon",
    ]


class DevelopmentReport(TypedDict):
    """What was left out of a user's own development set because the model is evaluated on it."""

    format: Format
    pairs: Annotated[Positive, "pairs of the set"]
    kept: Annotated[Several, "pairs without a sentence of an evaluated set, in development.tsv"]
    dropped: Annotated[dict[str, Positive], "pairs left out, by the first evaluated set that has a sentence of theirs"]
