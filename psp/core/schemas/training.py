"""How models were trained, and studies of training runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

from psp.core.schemas.pairs import SampleCorpora
from psp.core.schemas.types import (
    SOME,
    TEN,
    Amount,
    Count,
    Device,
    Format,
    Hundred,
    Label,
    ModelName,
    Positive,
    PositiveNumber,
    RankedBy,
    Several,
    Sha256,
    Text,
    add_keywords,
)

Identity = Annotated[Text, "a hash of the teacher's weights"]
TeacherDim = Annotated[Positive, "dimensions of the teacher's vectors"]
Score = Annotated[
    float,
    Meta(ge=-200, le=100),
    "the validation score: the mean over the sets of scored pairs minus the error, each with its weight; a null "
    "counts as 0; higher is better",
]
Pearson = Annotated[Hundred | None, "Pearson x 100 on the development STS set; null without one, or if undefined"]
Error = Annotated[
    Annotated[float, Meta(ge=0, le=100)] | None,
    "retrieval error in % on the held-out pairs, mean of both directions; null without them",
]
PointName = Annotated[
    str, Meta(pattern=r"^[a-z_]+=[^/,]+$"), "the point's name, and that of its folder in results/<model>/tune"
]
Point = Annotated[dict[str, Any], SOME, "the value for each key of the grid"]


class TeacherReport(TypedDict):
    """Which of a model's sentences a teacher has embedded."""

    format: Format
    encoder: Annotated[str | None, "the teacher, as in the config"]
    identity: Identity
    languages: Annotated[list[str], "the languages that the teacher knows"]
    precision: Annotated[Text, "what it computed in"]
    mean_cosine: Annotated[
        Annotated[float, Meta(ge=-1.01, le=1.01)], "mean cosine of two of its sentences, before centring"
    ]
    centred: Annotated[bool, "whether the mean was subtracted from its vectors"]
    dim: TeacherDim
    pairs: Annotated[Positive, "training pairs; a sentence of a text counts as one"]
    distinct: Annotated[Several, "distinct sentences in a language that the teacher knows"]
    sentences: Annotated[Several, "how many of them it has embedded"]
    among: Annotated[Count, "nearest sentences found for each; 0 if the loss is not one over neighbourhoods"]
    nearest_cosine: Annotated[
        Annotated[float, Meta(ge=-1.01, le=1.01)] | None,
        "mean cosine of a sentence to these, of a sample of 1,000; null if there are none",
    ]


class TrainTeacher(TypedDict):
    """The teacher that it learnt from, and the settings of the block teacher; absent without one."""

    identity: Identity
    dim: TeacherDim
    distinct: Annotated[Several, "distinct sentences in a language that the teacher knows"]
    taught: Annotated[Several, "how many of them it has embedded"]
    sha256: Annotated[Sha256, "SHA-256 of the file of its vectors"]


add_keywords(TrainTeacher, additionalProperties=True, required=["identity", "dim", "distinct", "taught", "sha256"])


class InitialisedFrom(TypedDict):
    pieces: Annotated[Positive, "pieces of the new vocabulary"]
    taken_over: Annotated[
        Positive, "pieces whose embeddings come from the other model, or from the file of word vectors"
    ]


class JudgedSetScore(TypedDict):
    """The score of the kept weights on a set of scored pairs."""

    metric: Annotated[Text, "the main metric of its kind of task"]
    value: Annotated[Hundred | None, "the metric, times 100; null if undefined, counting as 0"]
    standard_error: Annotated[Amount, "of the metric over other pairs of the kind, by the bootstrap"]
    items: Annotated[Positive, "its pairs"]
    weight: Annotated[PositiveNumber, "in the mean over the sets"]


class HeldoutRetrieval(TypedDict):
    """How often a held-out sentence retrieves a wrong one, held out or from the training pairs."""

    error: Annotated[float, Meta(ge=0, le=100), "in %, mean of both directions"]
    standard_error: Annotated[Amount, "of the error over other pairs of the kind, by the bootstrap"]
    items: Annotated[Positive, "held-out pairs"]
    candidates: Annotated[Count, "training pairs whose sentences are candidates beside the held-out ones"]
    weight: Annotated[Amount, "by which the error is multiplied before it is subtracted from the mean over the sets"]


class FinalValidation(TypedDict):
    """The score of the kept weights, by which settings are compared."""

    score: Score
    standard_error: Annotated[Amount, "of the score over other items of the kind, by the bootstrap"]
    sets: Annotated[dict[str, JudgedSetScore], "the sets of scored pairs, by name"]
    retrieval: Annotated[HeldoutRetrieval | None, "null without held-out pairs"]


class Validation(TypedDict):
    """A validation."""

    step: Annotated[Positive, "mini-batches so far"]
    epoch: Annotated[Positive, "the epoch, from 1"]
    pairs: Annotated[Several, "pairs seen so far"]
    score: Score
    pearson: Pearson
    error: Error
    pairs_sts: Annotated[Count, "pairs of the development STS set"]
    pairs_heldout: Annotated[Count, "held-out pairs"]
    sets: NotRequired[Annotated[dict[str, Hundred | None], "the metric of each further set of scored pairs, by name"]]
    averaged: NotRequired[
        Annotated[
            bool, "whether these are the averaged weights, validated after the last ones; only if weights are averaged"
        ]
    ]


TRANSFORMER = {"required": ["encoder"], "properties": {"encoder": {"const": "transformer"}}}


class TrainJson(TypedDict):
    """How a model was trained, a transformer or another, without times or rates."""

    format: Format
    settings: Annotated[
        dict[str, Any], "the settings, as in the block train or transformer of the config, and the seed"
    ]
    device: Device
    threads: Annotated[Positive, "the same number gives the same bytes"]
    steps: Annotated[Positive, "total mini-batches"]


add_keywords(
    TrainJson,
    additionalProperties=True,
    if_=TRANSFORMER,
    then={"$ref": "#/$defs/TransformerReport"},
    else_={"$ref": "#/$defs/TrainReport"},
)


class TrainLanguage(TypedDict):
    """A language pair, if languages are drawn in other proportions than their numbers of pairs."""

    pairs: Annotated[Count, "in the store"]
    drawn: Annotated[Count, "in an epoch"]


class TrainReport(TrainJson):
    """How a model was trained, without times or rates."""

    title: NotRequired[Annotated[str, "the objective's settings, briefly, for the title of a learning curve"]]
    encoder: NotRequired[
        Annotated[
            dict[str, Any],
            Meta(
                extra_json_schema={
                    "required": ["kind"],
                    "if": {"properties": {"kind": {"const": "joint"}}},
                    "then": {"$ref": "#/$defs/JointEncoderReport"},
                }
            ),
            "the kind of encoder, and its settings as in the config's block for it; absent for a mean",
        ]
    ]
    teacher: NotRequired[TrainTeacher]
    vocabulary: Annotated[Positive, "number of pieces, and of rows of the embedding matrix"]
    store_pairs: Annotated[Positive, "pairs in the store"]
    pairs_seen: Annotated[Several, "pairs in all mini-batches, each counted once per epoch"]
    languages: NotRequired[
        Annotated[
            dict[str, TrainLanguage], "by language pair, where they are drawn in other proportions than their numbers"
        ]
    ]
    epochs: Annotated[Positive, "passes over the pairs"]
    passed_over: Annotated[Count, "pairs skipped because each was alone in its mega-batch, at most one per epoch"]
    without_negative: Annotated[
        Count, "pairs without a loss term because every candidate negative was masked, counted per direction and epoch"
    ]
    initialised_from: Annotated[
        InitialisedFrom | None, "what init_from or init_vectors provided; null if all embeddings were drawn at random"
    ]
    init_encoder: NotRequired[Annotated[Text, "the encoder whose vectors of the pieces training started from"]]
    best: Annotated[
        Validation | None,
        "the validation whose weights were kept; null without development data, when the last weights are kept",
    ]
    development: Annotated[list[Validation], "every validation, in order; the rows of dev.csv"]
    final: NotRequired[Annotated[FinalValidation, "of the weights that were kept; absent without development data"]]


class JointEncoderPart(TypedDict):
    encoder: Annotated[dict[str, Any], "the kind of encoder, and its settings"]
    dim: Annotated[Positive, "dimensions of its vectors"]
    init: Annotated[Text, "how its embeddings were drawn at first"]
    init_scale: Annotated[PositiveNumber | None, "their scale; null for the initialisation's own"]
    init_smoothing: Annotated[PositiveNumber | None, "SIF's smoothing of them; null for none"]
    init_spelling: Annotated[dict[str, Any] | bool | float | None, "how far the spelling of pieces drew them"]
    init_from: Annotated[str | None, "the folder of the model whose embeddings it started from"]


class JointEncoderReport(TypedDict):
    """Encoders that were trained together."""

    kind: Annotated[Literal["joint"], "the kind"]
    join: Annotated[Literal["concat", "add"], "how their vectors are joined"]
    scaled: Annotated[bool, "whether they are scaled to length 1 and weighted before"]
    weights: Annotated[list[PositiveNumber], "their weights in a cosine, if they are scaled"]
    parts: Annotated[
        list[JointEncoderPart], Meta(min_length=2), "the encoders, and what each has of its own of the block train"
    ]


class TransformerTeacher(TypedDict):
    """The teacher whose vectors it learnt; absent without one."""

    encoder: Annotated[str | None, "the teacher, as in the config"]
    identity: Identity
    languages: Annotated[list[str] | None, "the languages that the teacher knows"]
    precision: Annotated[Text, "what it computed in"]
    dim: TeacherDim
    sentences: Annotated[Several, "distinct sentences that it has embedded"]
    untaught: Annotated[Count, "pairs left out because it has a vector of neither side"]
    sha256: Annotated[Sha256, "SHA-256 of the file of its vectors"]


class TransformerValidation(TypedDict):
    score: Score
    pearson: Pearson
    error: Error


class TransformerPass(TransformerValidation):
    step: Annotated[Positive, "mini-batches so far"]


class TransformerDevelopment(TypedDict):
    """The validation scores."""

    before: Annotated[TransformerValidation | None, "that of the base with its pooling; null without development data"]
    after: Annotated[list[TransformerPass], "that after each pass"]


class TransformerReport(TrainJson):
    """How a transformer was trained, without times or rates."""

    encoder: Annotated[Literal["transformer"], "the kind of encoder"]
    base: Annotated[Text, "what training began with"]
    dim: Annotated[Positive, "dimensions of a sentence's vector"]
    pairs: Annotated[Several, "training pairs"]
    teacher: NotRequired[TransformerTeacher]
    cut: Annotated[Count, "texts of both sides that had more than max_length tokens, the rest of which was not read"]
    loss: Annotated[float | None, "mean of the last rows of metrics.csv"]
    development: TransformerDevelopment


class TuneWinner(TypedDict):
    """The point with the highest score, the first if tied; used for training if `train.tune` is true."""

    name: PointName
    settings: Point
    score: Score


class TunePoint(TuneWinner):
    epoch: Annotated[Positive, "the epoch, from 1, in which the score was reached"]
    steps: Annotated[Positive, "total mini-batches"]
    largest_megabatch: Annotated[Positive, "mini-batches of the largest mega-batch"]


class TuneReport(TypedDict):
    """A grid search over training settings, and the point with the best validation score."""

    format: Format
    model: ModelName
    grid: Annotated[dict[str, Any], "the values tried for each key of the config's train block, in all combinations"]
    epochs: Annotated[Positive, "passes over the pairs for each point, unless epochs is in the grid"]
    anneal: Annotated[
        Count, "mini-batches after which the mega-batch grows by one, for each point, unless anneal is in the grid"
    ]
    points: Annotated[list[TunePoint], SOME, "all points, the grid's last key varying fastest"]
    winner: TuneWinner


class SeedSummary(TypedDict):
    """A score by seed."""

    values: Annotated[list[float], SOME, "the score of each seed"]
    mean: Annotated[float, "their mean"]
    deviation: Annotated[float | None, "their sample standard deviation; null for one seed"]


class SampleScores(TypedDict):
    """Scores of the trainings on a sample of pairs."""

    pairs: Annotated[Count, "distinct pairs that there are"]
    figures: Annotated[dict[str, SeedSummary], "Pearson x 100 by encoder"]
    mean: Annotated[SeedSummary, "the mean over the encoders"]


class Decile(SampleScores):
    tenth: Annotated[int, Meta(ge=1, le=10), "its number; 1 has the lowest values"]


class DecilesRanking(TypedDict):
    by: RankedBy
    corpora: SampleCorpora
    tenths: Annotated[list[Decile], TEN, "the deciles, the lowest values first"]


class StudyReport(TypedDict):
    """Trainings on samples of one size."""

    format: Format
    model: ModelName
    pairs: Annotated[Several, "pairs that each training has"]
    epochs: Annotated[Positive, "passes over these pairs"]
    seeds: Annotated[list[Count], SOME, "the training seeds"]
    encoders: Annotated[list[str], SOME, "the encoders"]
    development: Annotated[str, "the STS set that all are scored on, development data"]


class DecilesReport(StudyReport):
    """Trainings on each decile of a model's pairs by some values, with the same number of pairs, and on all."""

    all: Annotated[SampleScores, "a random sample of all pairs"]
    by: Annotated[list[DecilesRanking], SOME, "the rankings"]


class ByCorpusCorpus(SampleScores):
    label: Label


class ByCorpusReport(StudyReport):
    """Trainings on each corpus of a model, with the same number of pairs."""

    corpora: Annotated[list[ByCorpusCorpus], SOME, "the corpora, in the order of the config"]
