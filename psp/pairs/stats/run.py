"""The statistics of corpora: from their files to one report and a sheet for annotators."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from psp.core.errors import DataError
from psp.corpora import open_corpus
from psp.pairs.stats.annotation_form import AnnotationForm, counts
from psp.pairs.stats.measures import (
    MeasuredSentences,
    Values,
    entropy,
    frequencies_of,
    moments,
    overlaps,
    side,
    tokens_of,
)
from psp.pairs.stats.sample import Pair, Reading, range_of, read, written
from psp.text.segment import Segmenter

#: Why a figure is missing.
NO_SCORES = "the pairs have no scores"
TWO_LANGUAGES = "the sides are in two languages"
COPIES = "the corpus is text: each sentence is paired with itself"
NO_TREES = "no parse trees were given"


@dataclass(frozen=True)
class DescribedCorpus:
    """A corpus to measure.

    Attributes:
        label: its name.
        languages: of its sides, equal for paraphrases; None if not given: it then holds paraphrases.
        file: a pair file.
        own: it is a user's own, which may be packed and may have bad rows; otherwise one of the workflow.
        text: it holds sentences, each paired with itself.
        parses: a file with a tree for the reference of each line.
    """

    label: str
    languages: tuple[str, str] | None
    file: Path
    own: bool = False
    text: bool = False
    parses: Path | None = None

    @property
    def paraphrases(self) -> bool:
        """Whether both sides are in one language."""
        return self.languages is None or self.languages[0] == self.languages[1]


def describe(
    corpora: Sequence[DescribedCorpus],
    *,
    model: str | None,
    pairs: int,
    ranges: Sequence[float],
    samples: int,
    sheet: int,
    seed: int,
    idf_from: Mapping[str, Path] | None = None,
    forms: Sequence[AnnotationForm] = (),
    segmenters: Mapping[str, Segmenter] | None = None,
    by_range: bool = False,
) -> tuple[dict[str, Any], list[Pair]]:
    """Measure corpora, independent of the order of their pairs.

    Args:
        corpora: at least one.
        model: the model that they belong to; None for files by themselves.
        pairs: distinct pairs of each corpus in the sample.
        ranges: the ends of the ranges of scores, ascending.
        samples: pairs of each range in the report.
        sheet: pairs of each range for annotators.
        seed: seed of the draws.
        idf_from: files of sentences to take the IDF from, by language; for sides without one, by an empty text.
        forms: filled ones.
        segmenters: by language, of text that is not segmented yet.
        by_range: ranges were requested, so a corpus without scores is an error.

    Returns:
        The content of stats.json; and the pairs for annotators.

    Raises:
        DataError: a file cannot be read or does not fit; the message names the file and, if any, the line.
    """
    segmenters = segmenters or {}
    sought = frozenset(number for one in forms for number in one.labels)
    entries: list[dict[str, Any]] = []
    sides: list[tuple[dict[str, Any], MeasuredSentences]] = []
    judged: dict[str, Pair] = {}
    drawn: list[Pair] = []
    for corpus in corpora:
        reading = read(
            open_corpus("local", corpus.file) if corpus.own else written(corpus.file),
            corpus.file,
            size=pairs,
            ends=ranges,
            of_range=max(samples, sheet),
            seed=seed,
            parses=corpus.parses,
            sought=sought,
        )
        if by_range:
            _check_scores(corpus, reading, ranges)
        entry, sentences = _described(corpus, reading, segmenters, ranges, samples, forms)
        entries.append(entry)
        sides += zip(entry["sides"], sentences, strict=True)
        judged |= reading.found
        drawn += [pair for some in reading.drawn for pair in some[:sheet]]
    for filled in forms:
        if unknown := next((one for one in filled.labels if one not in judged), None):
            raise DataError(f"no pair of these corpora has the id {unknown}; name the sheet's own corpora", filled.path)
    _add_idf(sides, idf_from or {}, segmenters)
    settings = {"pairs": pairs, "seed": seed, "ranges": list(map(float, ranges)), "sheet": sheet}
    return {"format": 1, "model": model, "settings": settings, "corpora": entries}, drawn


def _check_scores(corpus: DescribedCorpus, reading: Reading, ranges: Sequence[float]) -> None:
    if not reading.scored:
        raise DataError(
            "has no scores, so its pairs have no ranges of scores; add a third column, or leave out --ranges",
            corpus.file,
        )
    if not sum(reading.counts[1:-1]):
        raise DataError(
            f"no pair has a score above {ranges[0]:g} and up to {ranges[-1]:g}; name other --ranges", corpus.file
        )


def _add_idf(
    sides: Sequence[tuple[dict[str, Any], MeasuredSentences]],
    idf_from: Mapping[str, Path],
    segmenters: Mapping[str, Segmenter],
) -> None:
    """Add their IDF to the figures of sides: from a file of their language, read once for all of them, or their own."""
    wanted: defaultdict[str, set[str]] = defaultdict(set)
    for figures, sentences in sides:
        wanted[figures["language"] or ""].update(sentences.types)
    counted = {
        language: frequencies_of(idf_from[language], frozenset(types), segmenters.get(language), language)
        for language, types in wanted.items()
        if language in idf_from
    }
    for figures, sentences in sides:
        known = counted.get(language := figures["language"] or "")
        figures["idf"] = moments(sentences.idf(known))
        figures["idf_from"] = {
            "file": idf_from[language].name if known else None,
            "sentences": known.sentences if known else len(sentences.lengths),
        }


def _described(
    corpus: DescribedCorpus,
    reading: Reading,
    segmenters: Mapping[str, Segmenter],
    ranges: Sequence[float],
    samples: int,
    forms: Sequence[AnnotationForm],
) -> tuple[dict[str, Any], list[MeasuredSentences]]:
    """The report's entry for one corpus, but for its IDF; and the sentences of its sides."""
    sample, reading.sample = reading.sample, []  # which is freed, 100 MB for each 100,000 pairs
    languages = corpus.languages or ("", "")
    texts = [[pair.source for pair in sample], [pair.target for pair in sample]][: 1 if corpus.text else 2]
    tokens = [
        tokens_of(some, segmenters.get(language), language) for some, language in zip(texts, languages, strict=False)
    ]
    sentences = list(map(MeasuredSentences, tokens))
    shared = overlaps(*tokens) if corpus.paraphrases and not corpus.text else None
    scores = np.array([pair.score for pair in sample], np.float64) if reading.scored else None
    tops = Counter(pair.tree for pair in sample if pair.tree is not None)
    missing = {
        "score": None if reading.scored else NO_SCORES,
        "overlap": COPIES if corpus.text else None if corpus.paraphrases else TWO_LANGUAGES,
        "parses": None if corpus.parses else NO_TREES,
        "histogram": None if reading.scored else NO_SCORES,
    }
    entry = {
        "label": corpus.label,
        "languages": list(corpus.languages) if corpus.languages else None,
        "rows": reading.rows,
        "bad_rows": reading.bad_rows,
        "empty": reading.empty,
        "sampled": len(sample),
        "sides": [
            {"language": language or None, **side(some, own)}
            for language, some, own in zip(languages, texts, sentences, strict=False)
        ],
        "score": None if scores is None else moments(scores),
        "overlap": None if shared is None else moments(shared),
        "parses": None
        if corpus.parses is None
        else {"file": corpus.parses.name, "types": len(tops), "entropy": entropy(list(tops.values()))},
        "histogram": None if scores is None else _histogram(reading, ranges, scores, shared, samples),
        "samples": [_shown(pair) for pair in reading.drawn[0][:samples]] if scores is None else [],
        "labels": _labels(reading, ranges, forms) if forms else None,
        "missing": {figure: why for figure, why in missing.items() if why},
    }
    return entry, sentences


def _histogram(
    reading: Reading, ends: Sequence[float], scores: Values, shared: Values | None, samples: int
) -> dict[str, Any]:
    """Pairs by range of scores: their share of the whole corpus, and their overlap in the sample."""
    total, where = sum(reading.counts), range_of(ends, scores)
    return {
        "below": reading.counts[0],
        "above": reading.counts[-1],
        "ranges": [
            {
                "above": float(ends[number]),
                "to": float(ends[number + 1]),
                "pairs": reading.counts[number + 1],
                "share": reading.counts[number + 1] / total,
                "sampled": int((where == number + 1).sum()),
                "overlap": None if shared is None else moments(shared[where == number + 1]),
                "samples": [_shown(pair) for pair in drawn[:samples]],
            }
            for number, drawn in enumerate(reading.drawn)
        ],
    }  # fmt: skip


def _shown(pair: Pair) -> dict[str, Any]:
    return {"source": pair.source, "target": pair.target, **({} if pair.score is None else {"score": pair.score})}


def _labels(reading: Reading, ends: Sequence[float], forms: Sequence[AnnotationForm]) -> dict[str, Any]:
    """The labels of this corpus's pairs. Pairs with a score outside all ranges are in no range."""
    if not reading.scored:
        return counts(forms, dict.fromkeys(reading.found, 0), 1)
    number = len(ends) - 1
    ranges = {one: int(range_of(ends, [pair.score or 0.0])[0]) - 1 for one, pair in reading.found.items()}
    return counts(forms, {one: place for one, place in ranges.items() if 0 <= place < number}, number)
