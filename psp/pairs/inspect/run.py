"""Inspect the corpora of a model: from their files to one report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from psp.core.progress import Progress
from psp.corpora import open_corpus
from psp.corpora.kinds import of_kind
from psp.pairs.filters.language import LanguageFilter
from psp.pairs.inspect import content, findings
from psp.pairs.inspect.alignment import AlignedWords, Fit
from psp.pairs.inspect.reading import ReadCounts, Sampled, TestCounter, TestSentences, read
from psp.text.segment import Segmenter

if TYPE_CHECKING:
    from psp.core.schemas.inspect import InspectReport

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
        What schema ``inspect`` describes. The same for the same input.

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
