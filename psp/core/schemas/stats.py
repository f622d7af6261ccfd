"""Statistics of corpora of pairs."""

from __future__ import annotations

from typing import Annotated, NotRequired, TypedDict

from msgspec import Meta

from psp.core.schemas.types import SOME, TWO, Amount, Cosine, Count, Format, Positive, Share, Text

#: For each annotator, how many pairs have label 1, 2 and 3.
Labels = list[Annotated[list[Count], Meta(min_length=3, max_length=3)]]


class StatsSettings(TypedDict):
    """How they were measured."""

    pairs: Annotated[Positive, "the largest number of distinct pairs in a corpus's sample"]
    seed: Annotated[Count, "the seed of the draws"]
    ranges: Annotated[list[float], Meta(min_length=2), "the ends of the ranges of scores"]
    sheet: Annotated[Positive, "pairs of each range on the sheet for annotators"]


class StatsMoments(TypedDict):
    mean: Annotated[float, "mean"]
    std: Annotated[Amount, "standard deviation (population)"]


class StatsIdfFrom(TypedDict):
    """Where these sentences are counted."""

    file: Annotated[Text | None, "a file; null for the sample's own side"]
    sentences: Annotated[Positive, "how many"]


class StatsSide(TypedDict):
    language: Annotated[Text | None, "the config's code"]
    words: Annotated[StatsMoments | None, "words of a sentence, punctuation marks included"]
    characters: Annotated[StatsMoments | None, "characters of a sentence"]
    bytes: Annotated[StatsMoments | None, "bytes of a sentence in UTF-8"]
    idf: Annotated[
        StatsMoments | None, "of a sentence: the mean over its words of ln(sentences / sentences with the word)"
    ]
    idf_from: StatsIdfFrom
    tokens: Annotated[Count, "words of the sample"]
    types: Annotated[Count, "distinct ones, in lower case"]
    entropy: Annotated[Amount, "unigram entropy in nats"]


class StatsParses(TypedDict):
    file: Annotated[Text, "the file with the trees"]
    types: Annotated[Count, "different top two levels"]
    entropy: Annotated[Amount, "their entropy in nats"]


class StatsPair(TypedDict):
    source: Annotated[Text, "the reference"]
    target: Annotated[Text, "the translation"]
    score: NotRequired[Annotated[float, "its score"]]


class StatsRange(TypedDict):
    above: Annotated[float, "its lower end, which it does not hold"]
    to: Annotated[float, "its upper end, which it holds"]
    pairs: Annotated[Count, "pairs of the corpus in it"]
    share: Annotated[Share, "their share of all pairs"]
    sampled: Annotated[Count, "those of the sample"]
    overlap: Annotated[StatsMoments | None, "the trigram overlap of these"]
    samples: Annotated[list[StatsPair], "pairs of the range at random"]


class StatsHistogram(TypedDict):
    below: Annotated[Count, "pairs at or below the lower end of the first range"]
    above: Annotated[Count, "pairs above the last"]
    ranges: Annotated[list[StatsRange], SOME, "the ranges"]


class StatsLabelled(TypedDict):
    paraphrase: Annotated[Labels, "whether both mean the same"]
    fluency: Annotated[Labels, "how fluent the translation is"]


class StatsAgreement(TypedDict):
    pairs: Annotated[Count, "pairs that both have labelled"]
    agree: Annotated[Share | None, "share with the same label; null without pairs"]
    kappa: Annotated[Cosine | None, "Cohen's kappa; null without pairs, and where both gave all pairs the same label"]


class StatsAgreements(TypedDict):
    annotators: Annotated[list[Text], TWO, "which"]
    paraphrase: Annotated[StatsAgreement, "on whether both mean the same"]
    fluency: Annotated[StatsAgreement, "on the fluency of the translation"]


class StatsLabels(TypedDict):
    annotators: Annotated[list[Text], "the names of their sheets"]
    ranges: Annotated[list[StatsLabelled], "as in the histogram; without scores one for all pairs"]
    agreement: Annotated[list[StatsAgreements], "of each two annotators"]


class StatsMissing(TypedDict, total=False):
    """Why a figure is missing."""

    score: Annotated[Text, "why there is no score"]
    overlap: Annotated[Text, "why there is no overlap"]
    parses: Annotated[Text, "why there are no parse trees"]
    histogram: Annotated[Text, "why there is no histogram"]


class StatsCorpus(TypedDict):
    label: Annotated[Text, "corpus and languages, such as Europarl.en-fr, or a file"]
    languages: Annotated[
        Annotated[list[Text], TWO] | None, "of source and target; null if not given: both sides are in one language"
    ]
    rows: Annotated[Count, "lines of the file"]
    bad_rows: Annotated[Count, "those that are not pairs"]
    empty: Annotated[Count, "pairs with a side without text"]
    sampled: Annotated[Positive, "distinct pairs in the sample, over which all means are taken"]
    sides: Annotated[
        list[StatsSide],
        Meta(min_length=1, max_length=2),
        "source (the references) and target (the translations); of text one",
    ]
    score: Annotated[StatsMoments | None, "the paraphrase score of the sample"]
    overlap: Annotated[StatsMoments | None, "trigram overlap of the sample's pairs"]
    parses: Annotated[StatsParses | None, "parse trees of the references"]
    histogram: Annotated[StatsHistogram | None, "pairs by range of scores, copies included"]
    samples: Annotated[list[StatsPair], "pairs at random; none where the histogram has some"]
    labels: Annotated[StatsLabels | None, "what annotators say; null without a filled sheet"]
    missing: StatsMissing


class StatsReport(TypedDict):
    """Statistics of corpora of pairs, and people's judgements of the pairs."""

    format: Format
    model: Annotated[Text | None, "the model's name; null for files by themselves"]
    settings: StatsSettings
    corpora: Annotated[list[StatsCorpus], "the corpora"]
