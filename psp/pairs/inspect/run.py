"""Inspect the corpora of a model: from their files to one report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, cast

from psp.core.progress import Progress
from psp.corpora import open_corpus
from psp.corpora.kinds import of_kind
from psp.pairs.filters.language import LanguageFilter
from psp.pairs.inspect import content, findings
from psp.pairs.inspect.alignment import AlignedWords, Fit
from psp.pairs.inspect.reading import ReadCounts, Sampled, TestCounter, TestSentences, read
from psp.text.segment import Segmenter

FindingKind = Literal[
    "words", "beside", "ratio", "blocks", "similarity", "label", "language", "filter", "numbers", "vowels",
    "copies", "tests", "duplicates", "empty", "bad_rows", "pairs"
]  # fmt: skip


class InspectSettings(TypedDict):
    """How the corpora were inspected."""

    pairs: int  # the largest number of pairs in a corpus's sample
    encoder: str | None  # what computes the similarity of pairs
    encoded: int | None  # pairs of a corpus that it embeds
    seed: int  # the seed of the samples


class InspectPair(TypedDict):
    row: int  # its number among the corpus's pairs
    source: str  # at most its first 300 characters
    target: str  # at most its first 300 characters
    before: NotRequired[str]  # the target of the pair before
    after: NotRequired[str]  # the target of the pair after
    reason: NotRequired[str]  # why a filter would drop it


class InspectFinding(TypedDict):
    kind: FindingKind  # what was found
    corpus: str | None
    value: float | None  # the figure; null where nothing is counted
    limit: float | None  # the threshold that it exceeded
    text: str  # the finding as a sentence
    samples: list[InspectPair]  # pairs to look at


class InspectCharacters(TypedDict):
    """Lengths in characters."""

    quantiles: list[int]  # characters of a text (of all)
    histogram: list[int]  # texts of 0 to 9, 10 to 19, 20 to 39, 40 to 79 characters, and so on; 640 and more


class InspectShare(TypedDict):
    name: str  # what
    share: float  # how much of it


class InspectLabels(TypedDict):
    """The languages that lid.176 finds in the longer texts."""

    label: str | None
    texts: int  # texts of the sample with 20 letters or more
    own: float | None  # share of them with that label, or that of a variety
    found: list[InspectShare]  # shares of their labels


class InspectSide(TypedDict):
    language: str  # the config's code
    words: list[int]  # words of a text, after segmentation (of the sample)
    characters: InspectCharacters
    digits: float  # share of the characters that are digits
    scripts: list[InspectShare]  # shares of the letters by script
    labels: InspectLabels
    vowelled: float | None  # share of the Arabic texts that have vowel marks; null without such texts
    duplicates: float  # share of the texts that an earlier one equals
    repeated: float  # share of pairs in which this side is that of the pair before, and the other side is not


class InspectNumbers(TypedDict):
    """Numbers, as runs of digits."""

    pairs: int  # pairs of the sample with numbers on both sides
    same: float | None  # share of them with the same numbers


class InspectRatios(TypedDict):
    """The ratio of the two lengths."""

    pairs: int  # pairs with a side of 20 characters or more
    usual: float  # their median ratio, characters of the target over those of the source
    beyond: float  # those with a length ratio beyond three times the median
    samples: list[InspectPair]  # some of these


class InspectRun(TypedDict):
    line: int  # its first line
    lines: int  # how many lines it has


class InspectBlocks(TypedDict):
    """The order of the lines."""

    count: int  # blocks of 50 lines whose lengths vary
    off: int  # those whose lengths fit better if the target is moved
    moves: dict[str, int]  # how many of them by the lines moved, -3 to 3
    run: InspectRun | None  # the longest stretch of them
    samples: list[InspectPair]  # pairs within it


class InspectWords(TypedDict):
    pairs: int  # pairs compared
    own: float  # share whose own target fits better than one of another pair
    doubtful: float  # share that fits no better than pairs put together at random
    before: float  # share that the target before fits better by half
    after: float  # share that the target after fits better by half
    worst: list[InspectPair]  # those that fit worst


class InspectSimilarity(TypedDict):
    encoder: str  # its name
    pairs: int  # pairs embedded
    own: list[float]  # cosines of pairs
    exchanged: list[float]  # cosines of sources with other pairs' targets
    alike: float  # share of pairs with a cosine below the largest twentieth of the exchanged ones


class InspectPairs(TypedDict):
    copies: float  # share of the sample with equal sides
    numbers: InspectNumbers
    ratios: InspectRatios
    blocks: InspectBlocks
    words: InspectWords | None  # null where there are too few pairs to learn which words match
    similarity: InspectSimilarity | None  # null without an encoder


class InspectTest(TypedDict):
    set: str  # its name
    sentences: int  # its distinct sentences
    found: int  # those that are a side of a pair
    pairs: int  # the pairs with one
    removed: bool  # whether the filter decontaminate drops them


class InspectFilter(TypedDict):
    name: str  # the filter
    on: bool  # whether the config switches it on; others run to show what they would do
    taken: float | None  # share that it would drop; null if it was not run
    why: str | None  # why it was not run
    reasons: list[InspectShare]  # by reason
    samples: list[InspectPair]  # some of what it would drop


class InspectCorpus(TypedDict):
    label: str
    kind: str  # its format, one of psp.corpora.kinds
    languages: list[str]
    rows: int  # lines of the file
    bad_rows: int  # those that are not pairs
    empty: int  # pairs with an empty side
    sampled: int  # pairs of the sample
    kept: float  # share of the sample that the filters that are on would keep
    duplicates: float  # share of the pairs that an earlier one equals, ignoring case; an estimate in large corpora
    sides: list[InspectSide]  # source and target; of text one
    pairs: InspectPairs | None  # how well the two sides match; null for text
    tests: list[InspectTest]  # what each test and development set shares with the corpus
    warn_share: float  # filters that drop more are a finding
    filters: list[InspectFilter]  # what each filter alone would drop of the sample
    samples: list[InspectPair]  # random pairs


class InspectReport(TypedDict):
    """What a model's corpora contain, and what to look at before training."""

    format: int
    model: str
    settings: InspectSettings
    warn_pairs: int  # fewer pairs to train on are a finding (mix.warn_pairs)
    corpora: list[InspectCorpus]  # the corpora that are read from files
    findings: list[InspectFinding]  # what to look at, the costliest first


#: Length ratios beyond this many times the median are counted.
BEYOND = 3


@dataclass(frozen=True)
class InspectedCorpus:
    """One corpus to inspect; the attributes are those of :class:`psp.config.corpus_entries.CorpusSpec`."""

    label: str
    opus: str
    kind: str
    languages: tuple[str, str]
    names: tuple[str, str]
    filters: Mapping[str, Any]
    file: Path


def inspect(
    model: str,
    corpora: Sequence[InspectedCorpus],
    *,
    pairs: int,
    samples: int,
    lid: Path | str,
    tests: Mapping[str, Sequence[tuple[str, str, str]]],
    segmenters: Mapping[str, Segmenter],
    seed: int,
    warn_pairs: int,
    encoder: str | None = None,
    encoded: int = 0,
) -> InspectReport:
    """Inspect a model's corpora.

    Args:
        model: its name.
        corpora: all that are read from files.
        pairs: pairs of each corpus in the sample.
        samples: pairs of each corpus in the report.
        lid: fastText's lid.176.
        tests: by the names that the filter ``decontaminate`` has for them (``sets``), all sentences of the test sets,
            with the name of each set.
        segmenters: by language.
        seed: of the sample.
        warn_pairs: fewer pairs to train on are too few.
        encoder: computes how similar the sides of pairs are; None for none.
        encoded: pairs of each corpus that it embeds.

    Returns:
        The content of inspect.json. The same for the same input.

    Raises:
        DataError: a file cannot be read, or a filter fails on a pair.
        ConfigError: a filter's settings are wrong.
        PspError: a package is missing.
    """
    sentences = TestSentences([test for some in tests.values() for test in some])
    looked_at: list[_LookedAt] = []
    for corpus in corpora:
        counter = TestCounter(sentences)
        rows = open_corpus(
            corpus.kind, corpus.file, corpus.opus, corpus.names, max_bad_rows=corpus.filters["max_bad_rows"]
        )
        counts, sample = read(rows, size=pairs, seed=seed, what=corpus.label, tests=counter)
        # An empty side is counted, but is not a text.
        sample = [pair for pair in sample if pair.source and pair.target]
        looked_at.append(_LookedAt(corpus, counts, sample, counter.result()))
    described = []
    with Progress("inspecting", "corpora", len(corpora)) as bar:
        for one, fit in zip(looked_at, _fits(looked_at), strict=True):
            described.append(
                _described(one, fit, samples, lid=lid, tests=tests, segmenters=segmenters, similar=(encoder, encoded))
            )
            bar.add()
    report: dict[str, Any] = {
        "format": 1,
        "model": model,
        "settings": {"pairs": pairs, "encoder": encoder, "encoded": encoded if encoder else None, "seed": seed},
        "warn_pairs": warn_pairs,
        "corpora": described,
    }
    return cast("InspectReport", {**report, "findings": findings.find(report)})


class _LookedAt(NamedTuple):
    """A corpus after reading it."""

    corpus: InspectedCorpus
    counts: ReadCounts
    sample: list[Sampled]
    tests: list[dict[str, Any]]


def _described(
    one: _LookedAt,
    fit: Fit | None,
    samples: int,
    *,
    lid: Path | str,
    tests: Mapping[str, Sequence[tuple[str, str, str]]],
    segmenters: Mapping[str, Segmenter],
    similar: tuple[str | None, int],
) -> dict[str, Any]:
    """The report's entry for one corpus."""
    corpus, counts, sample = one.corpus, one.counts, one.sample
    text = of_kind(corpus.kind).is_text
    batch = content.batch_of(sample, corpus.languages, segmenters)
    decontaminate = corpus.filters["decontaminate"]
    own = [test for key, some in tests.items() if key in decontaminate["sets"] for test in some]
    removed = {name for name, *_ in own} if decontaminate["enabled"] else set()
    taken, kept = content.filtered(
        sample,
        batch,
        corpus.filters,
        corpus.languages,
        {"lid": lid, "tests": own},
        corpus=corpus.label,
        text=text,
    )
    encoder, encoded = similar
    compared = content.similarity(sample, batch, encoder, encoded) if encoder and sample and not text else None
    language = LanguageFilter({"enabled": True}, corpus.languages, {"lid": lid})
    columns = [("source", batch.source, batch.source_tokens), ("target", batch.target, batch.target_tokens)]
    sides = [
        {
            **content.side(texts, tokens, corpus.languages[place], language, batch.unspaced[place]),
            "characters": counts.lengths(place),
            "duplicates": counts.duplicates[name].share,
            "repeated": counts.repeated[place] / max(counts.pairs, 1),
        }
        for place, (name, texts, tokens) in enumerate(columns[:1] if text else columns)
    ]
    return {
        "label": corpus.label,
        "kind": corpus.kind,
        "languages": list(corpus.languages),
        "rows": counts.rows,
        "bad_rows": counts.bad_rows,
        "empty": counts.empty,
        "sampled": len(sample),
        "kept": kept,
        "duplicates": counts.duplicates["pair"].share,
        "sides": sides,
        "pairs": None if text else _pairs(counts, sample, fit, compared),
        "tests": [{**counted, "removed": counted["set"] in removed} for counted in one.tests],
        "warn_share": corpus.filters["warn_share"],
        "filters": taken,
        "samples": [content.shown(pair) if text else content.beside(pair) for pair in sample[:samples]],
    }


def _fits(corpora: Sequence[_LookedAt]) -> list[Fit | None]:
    """How well the words of each corpus's pairs fit, with counts over all corpora of two languages."""
    fits: list[Fit | None] = [None] * len(corpora)
    for languages in dict.fromkeys(one.corpus.languages for one in corpora):
        places = [
            place
            for place, one in enumerate(corpora)
            if one.corpus.languages == languages and not of_kind(one.corpus.kind).is_text
        ]
        words = AlignedWords([pair for place in places for pair in corpora[place].sample])
        for place in places:
            fits[place] = words.fit(corpora[place].sample)
    return fits


def _pairs(
    counts: ReadCounts, sample: Sequence[Sampled], fit: Fit | None, similarity: dict[str, Any] | None
) -> dict[str, Any]:
    """The checks of whether the sides of a corpus are translations."""
    beyond, telling = counts.beyond(BEYOND)
    blocks = counts.blocks
    line, lines = blocks.run
    far = [pair for pair in sample if counts.is_beyond(pair, BEYOND)]
    inside = sorted((pair for pair in sample if line <= pair.row < line + lines), key=lambda pair: pair.row)
    return {
        "copies": content.copies(sample),
        "numbers": content.agreement(sample),
        "ratios": {
            "pairs": telling,
            "usual": math.exp(counts.usual),
            "beyond": beyond,
            "samples": list(map(content.shown, far[: content.SHOWN])),
        },
        "blocks": {
            "count": blocks.blocks,
            "off": blocks.off,
            "moves": {str(move): count for move, count in sorted(blocks.moves.items())},
            "run": {"line": line, "lines": lines} if lines else None,
            "samples": list(map(content.beside, inside[: content.SHOWN])),
        },
        "words": fit
        and {
            **{name: getattr(fit, name) for name in ("pairs", "own", "doubtful", "before", "after")},
            "worst": [content.beside(sample[index]) for index in fit.worst[: content.SHOWN]],
        },
        "similarity": similarity,
    }
