"""Scores: those of a task, and of all tasks together."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, Required, TypedDict

from msgspec import Meta

from psp.core.schemas.types import (
    SOME,
    TWO,
    Count,
    Hundred,
    Positive,
    Sha256,
    Text,
    add_keywords,
)

#: Of a score that models and variants are compared by: tatoeba alone is the mean of all languages, and
#: tatoeba/<language> of both directions; development is psp.evaluation.development's.
ScoreName = Annotated[
    str,
    Meta(
        pattern=r"^(sts(/spearman)?|semeval2017/.+|stsb/(dev|test)(/spearman)?|files/.+"
        r"|tatoeba(/([a-z]{3}|eng-[a-z]{3}|[a-z]{3}-eng))?|development/(score|pearson|error)"
        r"|pairs_seen|seconds|pairs_per_second)$"
    ),
]
Interval = Annotated[list[float], TWO]


class Conditions(TypedDict):
    """How the intervals were computed."""

    confidence: Annotated[float, Meta(gt=0, lt=1), "the confidence level of all intervals, 0.95"]
    resamples: Annotated[Positive, "bootstrap resamples for the interval of a correlation"]
    seed: Annotated[Count, "seed of the resamples"]


class Skipped(TypedDict):
    set: Annotated[Text, "the test set"]
    why: Annotated[Text, "the reason"]


SkippedSets = Annotated[list[Skipped], "what was not run, and why"]


class TaskFile(TypedDict):
    name: Annotated[Text, "the file's name, without its folder"]
    sha256: Annotated[Sha256, "its SHA-256"]


class Overlap(TypedDict):
    """What the set and the model's training pairs share (the same letters and digits, ignoring case)."""

    sentences: Annotated[Count, "distinct sentences of the set"]
    in_training: Annotated[Count, "those that are a side of a training pair"]
    pairs: Annotated[Count, "the training pairs with such a side"]


class Figure(TypedDict, total=False):
    value: Required[Annotated[Hundred | None, "the score; null if it is undefined"]]
    interval: Required[Annotated[Interval | None, "its 95% bootstrap interval; null if the score is undefined"]]
    why: Annotated[Text, "why the score is undefined"]
    items: Annotated[Count, "how many it is over, if not all of its part"]
    label: Annotated[Text, "its name in tables"]
    unit: Annotated[Literal["correlation x 100", "%"], "the unit of value and interval"]
    higher_is_better: Annotated[bool, "false for errors"]
    compared: Annotated[Literal[False], "systems are not compared by it"]


add_keywords(
    Figure,  # none without a reason
    if_={"properties": {"value": {"type": "null"}}},
    then={"required": ["why"]},
    else_={"properties": {"why": False}},
)


class PartScores(TypedDict, total=False):
    items: Required[Annotated[Positive, "number of items that the bootstrap draws from (pairs, queries, texts)"]]
    figures: Required[Annotated[dict[str, Figure], SOME, "each score; correlations times 100, shares in %"]]
    further: Required[Annotated[dict[str, Any], "what else is worth knowing, such as a threshold that was chosen"]]
    test: Annotated[Text, "what people call it; of the tasks of every model alone"]
    detail: Annotated[bool, "whether it is a part of another part, shown beside it but not compared"]
    mean_of: Annotated[list[str], SOME, "the parts whose mean it is"]
    development: Annotated[bool, "whether models are chosen by it, so that it is no test"]


Files = Annotated[
    list[TaskFile],
    SOME,
    "the files of the set, in the order in which they are read; scores on others cannot be subtracted",
]
TaskKind = Annotated[Text, "the kind of task, such as retrieval"]
UnknownLanguages = Annotated[list[str], SOME, "languages of the task that the model does not have"]
Why = Annotated[Text, "why a system cannot do the task; it has no parts then"]
Parts = Annotated[dict[str, PartScores], "the scores of each part of the set, such as a direction of retrieval"]
Sets = Annotated[
    dict[Annotated[str, Meta(pattern=r"^[a-z0-9]+/")], Annotated[str, Meta(pattern=r"^[0-9a-f]{16}$")]],
    "the checksum of each set's sentences and gold scores (psp.text.published_sets); not in files of before",
]


class ScoredTask(TypedDict, total=False):
    task: TaskKind
    settings: Annotated[dict[str, Any], "the task's settings but the paths"]
    files: Files
    overlap: Overlap
    unknown_languages: UnknownLanguages
    why: Why
    parts: Required[Parts]


class ScoredTasks(TypedDict, total=False):
    """The scores."""

    tasks: Annotated[
        dict[str, ScoredTask],
        "the scores on each task, those of every model first, in the order in which they are shown",
    ]


class Scores(ScoredTasks, total=False):
    conditions: Required[Conditions]
    sets: Sets
    skipped: Required[SkippedSets]


class Difference(TypedDict):
    difference: Annotated[
        float | None, "the difference (correlations x 100, shares in %); null if either score is undefined"
    ]
    interval: Annotated[
        Interval | None,
        "its 95% interval by the paired bootstrap; null if undefined, or if the items depend on the system",
    ]


class TaskScores(TypedDict):
    """A model's scores on one task."""

    format: Annotated[Literal[2, 3], "the version of this format"]
    model: Annotated[Text, "the name of the model, or of the system beside it, in the config"]
    name: Annotated[Text, "the task's name in the config"]
    task: TaskKind
    settings: Annotated[dict[str, Any], "the task's settings, defaults included"]
    files: Files
    conditions: Conditions
    overlap: NotRequired[Overlap]
    unknown_languages: NotRequired[UnknownLanguages]
    why: NotRequired[Why]
    sets: NotRequired[Sets]
    skipped: NotRequired[SkippedSets]
    parts: Parts
