"""The inspection of a model's corpora before training."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from psp.core.schemas.types import TWO, Amount, Count, Format, Label, ModelName, Positive, PositiveNumber, Share, Text

Quantiles = Annotated[list[Count], Meta(max_length=5), "at 5, 25, 50, 75 and 95%; empty if there are no pairs"]
Cosines = Annotated[list[float], Meta(min_length=5, max_length=5), "at 5, 25, 50, 75 and 95%"]
FindingKind = Literal[
    "words", "beside", "ratio", "blocks", "similarity", "label", "language", "filter", "numbers", "vowels", "copies",
    "tests", "duplicates", "empty", "bad_rows", "pairs"
]  # fmt: skip


class InspectSettings(TypedDict):
    """How the corpora were inspected."""

    pairs: Annotated[Positive, "the largest number of pairs in a corpus's sample"]
    encoder: Annotated[str | None, "what computes the similarity of pairs"]
    encoded: Annotated[Positive | None, "pairs of a corpus that it embeds"]
    seed: Annotated[Count, "the seed of the samples"]


class InspectPair(TypedDict):
    row: Annotated[Positive, "its number among the corpus's pairs"]
    source: Annotated[str, "at most its first 300 characters"]
    target: Annotated[str, "at most its first 300 characters"]
    before: NotRequired[Annotated[str, "the target of the pair before"]]
    after: NotRequired[Annotated[str, "the target of the pair after"]]
    reason: NotRequired[Annotated[Text, "why a filter would drop it"]]


class InspectFinding(TypedDict):
    kind: Annotated[FindingKind, "what was found"]
    corpus: Annotated[str | None, "where; null for the whole model"]
    value: Annotated[Amount | None, "the figure; null where nothing is counted"]
    limit: Annotated[Amount | None, "the threshold that it exceeded"]
    text: Annotated[Text, "the finding as a sentence"]
    samples: Annotated[list[InspectPair], "pairs to look at"]


class InspectCharacters(TypedDict):
    """Lengths in characters."""

    quantiles: Annotated[Quantiles, "characters of a text (of all)"]
    histogram: Annotated[
        list[Count],
        Meta(min_length=8, max_length=8),
        "texts of 0 to 9, 10 to 19, 20 to 39, 40 to 79 characters, and so on; 640 and more",
    ]


class InspectShare(TypedDict):
    name: Annotated[Text, "what"]
    share: Annotated[Share, "how much of it"]


class InspectLabels(TypedDict):
    """The languages that lid.176 finds in the longer texts."""

    label: Annotated[str | None, "lid.176's label of the language; null if it has none"]
    texts: Annotated[Count, "texts of the sample with 20 letters or more"]
    own: Annotated[Share | None, "share of them with that label, or that of a variety"]
    found: Annotated[list[InspectShare], "shares of their labels"]


class InspectSide(TypedDict):
    language: Annotated[Text, "the config's code"]
    words: Annotated[Quantiles, "words of a text, after segmentation (of the sample)"]
    characters: InspectCharacters
    digits: Annotated[Share, "share of the characters that are digits"]
    scripts: Annotated[list[InspectShare], "shares of the letters by script"]
    labels: InspectLabels
    vowelled: Annotated[Share | None, "share of the Arabic texts that have vowel marks; null without such texts"]
    duplicates: Annotated[Share, "share of the texts that an earlier one equals"]
    repeated: Annotated[
        Share, "share of pairs in which this side is that of the pair before, and the other side is not"
    ]


class InspectNumbers(TypedDict):
    """Numbers, as runs of digits."""

    pairs: Annotated[Count, "pairs of the sample with numbers on both sides"]
    same: Annotated[Share | None, "share of them with the same numbers"]


class InspectRatios(TypedDict):
    """The ratio of the two lengths."""

    pairs: Annotated[Count, "pairs with a side of 20 characters or more"]
    usual: Annotated[PositiveNumber, "their median ratio, characters of the target over those of the source"]
    beyond: Annotated[Share, "those with a length ratio beyond three times the median"]
    samples: Annotated[list[InspectPair], "some of these"]


class InspectRun(TypedDict):
    line: Annotated[Positive, "its first line"]
    lines: Annotated[Positive, "how many lines it has"]


class InspectBlocks(TypedDict):
    """The order of the lines."""

    count: Annotated[Count, "blocks of 50 lines whose lengths vary"]
    off: Annotated[Count, "those whose lengths fit better if the target is moved"]
    moves: Annotated[dict[str, Positive], "how many of them by the lines moved, -3 to 3"]
    run: Annotated[InspectRun | None, "the longest stretch of them"]
    samples: Annotated[list[InspectPair], "pairs within it"]


class InspectWords(TypedDict):
    pairs: Annotated[Count, "pairs compared"]
    own: Annotated[Share, "share whose own target fits better than one of another pair"]
    doubtful: Annotated[Share, "share that fits no better than pairs put together at random"]
    before: Annotated[Share, "share that the target before fits better by half"]
    after: Annotated[Share, "share that the target after fits better by half"]
    worst: Annotated[list[InspectPair], "those that fit worst"]


class InspectSimilarity(TypedDict):
    encoder: Annotated[Text, "its name"]
    pairs: Annotated[Count, "pairs embedded"]
    own: Annotated[Cosines, "cosines of pairs"]
    exchanged: Annotated[Cosines, "cosines of sources with other pairs' targets"]
    alike: Annotated[Share, "share of pairs with a cosine below the largest twentieth of the exchanged ones"]


class InspectPairs(TypedDict):
    copies: Annotated[Share, "share of the sample with equal sides"]
    numbers: InspectNumbers
    ratios: InspectRatios
    blocks: InspectBlocks
    words: Annotated[InspectWords | None, "null where there are too few pairs to learn which words match"]
    similarity: Annotated[InspectSimilarity | None, "null without an encoder"]


class InspectTest(TypedDict):
    set: Annotated[Text, "its name"]
    sentences: Annotated[Count, "its distinct sentences"]
    found: Annotated[Count, "those that are a side of a pair"]
    pairs: Annotated[Count, "the pairs with one"]
    removed: Annotated[bool, "whether the filter decontaminate drops them"]


class InspectFilter(TypedDict):
    name: Annotated[Text, "the filter"]
    on: Annotated[bool, "whether the config switches it on; others run to show what they would do"]
    taken: Annotated[Share | None, "share that it would drop; null if it was not run"]
    why: Annotated[str | None, "why it was not run"]
    reasons: Annotated[list[InspectShare], "by reason"]
    samples: Annotated[list[InspectPair], "some of what it would drop"]


class InspectCorpus(TypedDict):
    label: Label
    kind: Annotated[Text, "its format, one of psp.corpora.kinds"]
    languages: Annotated[list[Text], TWO, "of source and target"]
    rows: Annotated[Count, "lines of the file"]
    bad_rows: Annotated[Count, "those that are not pairs"]
    empty: Annotated[Count, "pairs with an empty side"]
    sampled: Annotated[Count, "pairs of the sample"]
    kept: Annotated[Share, "share of the sample that the filters that are on would keep"]
    duplicates: Annotated[
        Share, "share of the pairs that an earlier one equals, ignoring case; an estimate in large corpora"
    ]
    sides: Annotated[list[InspectSide], Meta(min_length=1, max_length=2), "source and target; of text one"]
    pairs: Annotated[InspectPairs | None, "how well the two sides match; null for text"]
    tests: Annotated[list[InspectTest], "what each test and development set shares with the corpus"]
    warn_share: Annotated[Share, "filters that drop more are a finding"]
    filters: Annotated[list[InspectFilter], "what each filter alone would drop of the sample"]
    samples: Annotated[list[InspectPair], "random pairs"]


class InspectReport(TypedDict):
    """What a model's corpora contain, and what to look at before training."""

    format: Format
    model: ModelName
    settings: InspectSettings
    warn_pairs: Annotated[Count, "fewer pairs to train on are a finding (mix.warn_pairs)"]
    corpora: Annotated[list[InspectCorpus], "the corpora that are read from files"]
    findings: Annotated[list[InspectFinding], "what to look at, the costliest first"]
