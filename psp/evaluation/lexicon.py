"""Make a lexicon (:mod:`psp.pairs.lexicon`), and score it on the word sets of a model's tasks.

A lexicon is scored like any system, with the PMI of two words in place of a cosine. With smoothing, every pair of words
has one; without, as in the paper's formula, only words seen across the sides of a pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, cast

import numpy as np
import numpy.typing as npt

from psp.core.files import write_json
from psp.evaluation import bootstrap
from psp.evaluation.scorers import Floats
from psp.evaluation.tasks import BootstrapSpec, make
from psp.evaluation.tasks.word_similarity import ALL, COVERED, WordSimilarity
from psp.pairs.lexicon.build import PairCounts, make_lexicon
from psp.pairs.lexicon.sentences import SentenceSource

if TYPE_CHECKING:
    from psp.evaluation.task_files import Conditions, Figure


class LexiconSettings(TypedDict):
    """The block lexicon of the config."""

    min_count: int  # the lowest count of a pair of words that is listed
    smoothing: float  # what is added to counts and to those of chance
    stop_top: int  # the most frequent words left out
    within_length: int | None  # the most words of a side; null for any number
    min_score: float | None  # the lowest score of a pair; null if scores are not looked at


class LexiconCorpus(TypedDict):
    label: str
    read: int  # pairs read
    low_score: int  # those left out for their score
    too_long: int  # others left out for their length
    kept: int  # pairs that words were counted in


class LexiconFigures(TypedDict):
    """The score."""

    spearman: Figure  # Spearman's correlation with people's scores, times 100, and its interval


class LexiconFurther(TypedDict):
    """What else is counted."""

    covered: int  # pairs of the set that are seen


class LexiconPart(TypedDict):
    items: int  # pairs of words
    figures: LexiconFigures
    further: LexiconFurther


Measure = Literal["cross", "adjusted", "cross_unsmoothed", "adjusted_unsmoothed"]


PartOfSet = Literal["all", "covered"]


class LexiconReport(TypedDict):
    """How a lexicon was made from a model's pairs, and its scores on word sets."""

    format: int
    model: str
    languages: list[str]
    settings: LexiconSettings
    corpora: list[LexiconCorpus]  # the corpora that were read
    pairs: int  # pairs of sentences that words were counted in, over all corpora
    words: list[int]  # words of each side that occur min_count times, or are in a word set
    entries: int  # pairs of words in lexicon.tsv
    left_out: list[str]  # corpora of the model that hold other pairs, or none
    conditions: Conditions
    # the scores on each word set, by its task; none for a translation lexicon
    scores: dict[str, dict[Measure, dict[PartOfSet, LexiconPart]]]


FORMAT: Final = 1


class PairScorer:
    """A system that knows only the similarity of certain pairs of words.

    Args:
        similarity: that of each pair, in either order of its words.
        seen: the pairs that it covers; for the others it only has a guess.
    """

    def __init__(self, similarity: Mapping[tuple[str, str], float], seen: set[tuple[str, str]]) -> None:
        self._similarity, self._seen = similarity, seen

    def pairwise(self, a: Sequence[str], b: Sequence[str]) -> Floats:
        return np.array([self._similarity[pair] for pair in zip(a, b, strict=True)], np.float64)

    def cross(self, a: Sequence[str], b: Sequence[str]) -> Floats:
        return np.array([[self._similarity[one, other] for other in b] for one in a], np.float64).reshape(
            len(a), len(b)
        )

    def covered(self, a: Sequence[str], b: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Which pairs are seen, bool (n,)."""
        return np.array([pair in self._seen for pair in zip(a, b, strict=True)], bool)


def write_lexicon(
    sources: Sequence[SentenceSource],
    out: Path,
    report: Path | None,
    *,
    languages: Sequence[str],
    settings: Mapping[str, Any],
    tasks: Mapping[str, Mapping[str, Any]],
    resamples: int,
    seed: int,
    model: str | None = None,
    left_out: Sequence[str] = (),
) -> LexiconReport:
    """Write a lexicon and its report.

    Args:
        sources: the corpora, all in these languages.
        out: the lexicon (:mod:`psp.pairs.lexicon.build`).
        report: JSON with settings, counts and scores; None for none. The same is returned.
        languages: of the two sides; the same twice for paraphrases.
        settings: the block ``lexicon``.
        tasks: entries as under ``evaluate.tasks``; those with ``task: word_similarity`` are scored, only
            for paraphrases: word sets compare words of one language.
        resamples, seed: of the bootstrap.
        model: the model's name.
        left_out: its corpora that are not used, since they hold the other kind of pairs.

    Raises:
        ConfigError, DataError: as :func:`psp.pairs.lexicon.build.make_lexicon`; or a task's entry or file is
            wrong.
    """
    paraphrases = languages[0] == languages[1]
    sets: dict[str, WordSimilarity] = {}
    for name, entry in tasks.items() if paraphrases else ():
        task = make(entry, f"evaluate.tasks.{name}")
        if isinstance(task, WordSimilarity):
            sets[name] = task
    # The files are read before counting, which may take hours.
    asked = sorted({pair for task in sets.values() for pair in task.pairs})
    summary, counts = make_lexicon(sources, out, paraphrases=paraphrases, settings=settings, asked=asked)
    scorers = _scorers(asked, counts, settings["smoothing"]) if sets else {}
    result: dict[str, Any] = {
        "format": FORMAT,
        **({} if model is None else {"model": model}),
        "languages": list(languages),
        "settings": {key: value for key, value in settings.items() if key != "languages"},
        **summary,
        "left_out": list(left_out),
        "conditions": {"confidence": bootstrap.CONFIDENCE, "resamples": resamples, "seed": seed},
        "scores": {
            name: {
                by: {
                    part: one.report
                    for part, one in task.score(scorer, BootstrapSpec(resamples, seed, name)).items()
                    if part in parts
                }
                for by, (scorer, parts) in scorers.items()
            }
            for name, task in sets.items()
        },
    }
    if report is not None:
        write_json(report, result)
    return cast("LexiconReport", result)


def _scorers(
    asked: Sequence[tuple[str, str]], counts: PairCounts, smoothing: float
) -> dict[str, tuple[PairScorer, tuple[str, ...]]]:
    """The lexicon's measures of a pair of words, and the parts of a set that each can be scored on."""
    across = counts.joint.across > 0
    seen = {pair for pair, one in zip(asked, across.tolist(), strict=True) if one}

    def scorer(values: Floats) -> PairScorer:
        return PairScorer(dict(zip(asked, values.tolist(), strict=True)), seen)

    every, some = (ALL, COVERED), (COVERED,)
    return {
        "cross": (scorer(counts.cross(smoothing)), every),
        "adjusted": (scorer(counts.adjusted(smoothing)), every),
        "cross_unsmoothed": (scorer(np.where(across, counts.cross(0), 0.0)), some),
        "adjusted_unsmoothed": (scorer(np.where(across, counts.adjusted(0), 0.0)), some),
    }
