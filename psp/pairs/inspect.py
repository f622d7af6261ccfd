"""A look at corpora before training: the filters themselves on a sample of each, and what is wrong at first sight."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
import xxhash

from psp.config.blocks.filters import SCORES, LanguageBlock, needs_lid
from psp.core.errors import DataError
from psp.core.logs import Progress
from psp.corpora.rows import BadRow, Row, batches
from psp.pairs import data_warnings
from psp.pairs.filters import Batch, build
from psp.pairs.filters.decontaminate import DecontaminateFilter
from psp.pairs.filters.stage import FilterJob
from psp.text.language_scores import LanguageScores
from psp.text.languages import NAMES, SCORED_LABELS, lid_label, varieties
from psp.text.segment import Segmenter
from psp.text.words import clean_all

#: Pairs of each corpus that are looked at, and those shown of each reason.
PAIRS, EXAMPLES = 5000, 3
#: Shorter texts, in characters, tell little of their language.
TELLING = 20
#: Distinct pairs that are kept for counting duplicates; of larger corpora the share is an estimate.
MOST_KEYS = 1 << 17
#: Fewer texts than this make no finding.
LEAST = 50
#: What makes one: a smaller share of a side's texts in its language, and a larger one that was decoded wrongly.
OWN, MISREAD = 0.5, 0.01
#: And, by 5,000 pairs of each of 93 archives, English with eight languages: a smaller correlation of the two lengths
#: (0.78 or more; with a side shifted by a line from its middle on, mostly 0.4 to 0.7); or 5% of the pairs whose ratio
#: of lengths is beyond so many times the median (2; where passages stand beside parts of them, 4).
AGREEMENT, SPREAD = 0.7, 3
#: Texts of nearly one length have no correlation: the standard deviation of the logarithms that is enough.
VARIED = 0.25

# UTF-8 bytes that were read as Latin-1 or Windows-1252, so that "é" became "Ã©"; and the sign for lost characters.
_LATER = "[\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"
_MISREAD = re.compile(f"[\xc2-\xdf]{_LATER}|[\xe0-\xef]{_LATER}{{2}}|\ufffd")


class InspectedSide(TypedDict):
    language: str
    texts: int  # texts of 20 characters or more
    own: float | None  # share of these that py3langid finds to be in its language; null if it does not know this
    found: dict[str, float]  # the languages that it finds in most, with their shares, the largest first
    misread: int  # texts that were decoded wrongly once
    misread_texts: list[str]  # some of these


class InspectedCorpus(TypedDict):
    label: str
    rows: int
    duplicates: float  # share of the pairs that an earlier one equals, ignoring case
    seen: int  # rows of the sample, of which all that follows tells
    kept: int  # those that the filters keep
    dropped: dict[str, int]  # the others, by the first reason found
    examples: dict[str, list[list[str]]]  # some of these: their columns
    filters: dict[str, dict[str, Any]]  # settings of the filters that ran, by name
    warn_share: float  # filters that drop more are a finding
    sides: list[InspectedSide]  # source and target; of text one
    ratios: list[float]  # target's over source's characters: 5th, 50th and 95th percentile; empty for few or text
    agreement: float | None  # correlation of the logarithms of both sides' lengths; null if they vary little
    tests: dict[str, int]  # pairs with a sentence of a test set, by set, whether or not a filter drops them
    pairs: int  # by this sample, what the filters, duplicates and the cap leave of the corpus
    samples: list[str]  # some pairs


class Finding(TypedDict):
    text: str  # what to look at, and what to do
    samples: list[str]  # pairs, a line each


class InspectReport(TypedDict):
    """What a model's corpora hold."""

    format: int
    model: str
    corpora: list[InspectedCorpus]
    findings: list[Finding]
    notes: list[str]  # what was not looked for, and why


def sample(rows: Iterable[Row], size: int, seed: int, what: str) -> tuple[list[tuple[int, Row]], int, float]:
    """Read a corpus to its end, in memory that does not grow with it.

    Returns:
        Rows drawn at random with their numbers, in order; how many rows there are; and the share of duplicates.

    Raises:
        DataError: from the reader.
    """
    chance, number, limit = random.Random(seed), 0, 1 << 64
    drawn: list[tuple[int, Row]] = []
    keys = Counter[int]()
    with Progress(f"reading {what}", "pairs") as bar:
        for some in batches(rows, 10_000):
            for row in some:
                number += 1
                if len(drawn) < size:
                    drawn.append((number, row))
                elif (place := int(chance.random() * number)) < size:
                    drawn[place] = number, row
            pairs = (f"{row[0]}\t{row[1]}".lower().encode() for row in some if not isinstance(row, BadRow))
            keys.update(key for key in map(xxhash.xxh3_64_intdigest, pairs) if key < limit)
            while len(keys) > MOST_KEYS:
                limit //= 2
                keys = Counter({key: count for key, count in keys.items() if key < limit})
            bar.add(len(some))
    duplicates = 1 - len(keys) / keys.total() if keys else 0.0
    return sorted(drawn, key=lambda item: item[0]), number, duplicates


def runnable(settings: Mapping[str, Any], languages: tuple[str, str], lid: bool) -> tuple[dict[str, Any], list[str]]:
    """The block ``filters`` with what can run now, and a note on each filter that does not run as in training.

    Args:
        settings: the block.
        languages: of source and target.
        lid: whether lid.176's file is here.
    """
    language, similarity, notes = settings["language"], settings["similarity"], list[str]()
    if needs_lid(settings) and not lid:
        language = {**language, "method": "evidence", "identifier": SCORES}
        if LanguageBlock.problem(language, languages, None):
            language = {**language, "enabled": False}
        how = "with py3langid alone" if language["enabled"] else "not at all"
        notes.append(f"the language filter ran {how}: lid.176 is not downloaded yet")
    encoder = similarity["encoder"]
    if similarity["enabled"] and encoder.startswith("results/") and not Path(encoder).exists():
        similarity = {**similarity, "enabled": False}
        notes.append(f"the similarity filter did not run: {encoder} is not trained yet")
    return {**settings, "language": language, "similarity": similarity}, notes


def inspect_corpus(
    rows: Iterable[Row],
    *,
    label: str,
    languages: tuple[str, str],
    filters: Mapping[str, Any],
    resources: Mapping[str, Any],
    segmenters: Mapping[str, Segmenter],
    is_text: bool = False,
    cap: int | None = None,
    seed: int = 0,
) -> InspectedCorpus:
    """Look at one corpus.

    Args:
        rows: as its reader yields them.
        label: its name.
        languages: codes of source and target.
        filters: its block ``filters``; what it enables can run (:func:`runnable`).
        resources: as filters take them, always with ``tests``.
        segmenters: by language.
        is_text: whether it holds sentences, each of which is a pair with itself.
        cap: the maximum number of its pairs.
        seed: of the sample.

    Raises:
        DataError: it cannot be read, or a filter fails on a pair.
        ConfigError: a filter's settings are wrong.
    """
    numbered, rows_read, duplicates = sample(rows, PAIRS, seed, label)
    drawn = [row for _, row in numbered]
    judges = build(filters, languages, resources)
    job = FilterJob(label, languages, tuple(judges), dict(segmenters), False, filters["clean"], None, False)
    try:
        done = job(1, drawn)
    except DataError as error:  # its line is the sample's
        raise DataError(error.message, label, error.line and numbered[error.line - 1][0]) from error
    examples: dict[str, list[list[str]]] = {}
    for reason, columns in done.dropped:
        if len(some := examples.setdefault(reason, [])) < EXAMPLES:
            some.append(columns.split("\t"))
    pairs = [row for row in drawn if not isinstance(row, BadRow)]
    source, target = clean_all([row[0] for row in pairs]), clean_all([row[1] for row in pairs])
    tests = DecontaminateFilter({**filters["decontaminate"], "enabled": True}, languages, resources)
    found = Counter(filter(None, tests(Batch(source, target, source, target))))
    sizes = np.array([*zip(map(len, source), map(len, target), strict=True)], float).reshape(-1, 2)
    sizes = sizes[sizes.min(axis=1) > 0]
    logs = np.log(sizes)
    varied = not is_text and len(logs) >= LEAST and bool((logs.std(axis=0) > VARIED).all())
    left = round(rows_read * (1 - duplicates) * done.kept / max(len(drawn), 1))
    return {
        "label": label,
        "rows": rows_read,
        "duplicates": duplicates,
        "seen": len(drawn),
        "kept": done.kept,
        "dropped": dict(Counter(reason for reason, _ in done.dropped).most_common()),
        "examples": examples,
        "filters": {judge.name: judge.settings for judge in judges},
        "warn_share": filters["warn_share"],
        "sides": [_side(languages[0], source)] + ([] if is_text else [_side(languages[1], target)]),
        "ratios": np.quantile(sizes[:, 1] / sizes[:, 0], (0.05, 0.5, 0.95)).tolist()
        if len(sizes) >= LEAST and not is_text
        else [],
        "agreement": float(np.corrcoef(logs.T)[0, 1]) if varied else None,
        "tests": {name.partition(": ")[2]: count for name, count in found.most_common()},
        "pairs": left if cap is None else min(left, cap),
        "samples": [f"{source[row]} | {target[row]}" for row in range(0, len(pairs), len(pairs) // EXAMPLES + 1)],
    }


def _side(language: str, texts: Sequence[str]) -> InspectedSide:
    scores, own = LanguageScores(), lid_label(language)
    telling = [text for text in texts if len(text) >= TELLING]
    labels = [scores.labels[best] for best in scores(telling).argmax(axis=1)] if telling else []
    found = Counter(own if label in varieties(own) else label for label in labels)
    misread = [text for text in texts if _MISREAD.search(text)]
    return {
        "language": language,
        "texts": len(telling),
        "own": found[own] / len(telling) if telling and own in SCORED_LABELS else None,
        "found": {label: count / len(telling) for label, count in found.most_common(3)},
        "misread": len(misread),
        "misread_texts": misread[:EXAMPLES],
    }


def findings(corpora: Sequence[InspectedCorpus], model: str, least: int) -> list[Finding]:
    """What to look at before training: first what makes a corpus useless, then what its filters would drop.

    Args:
        corpora: what was found in each.
        model: its name.
        least: fewer pairs to train on are a finding.
    """
    found = [one for corpus in corpora for one in _of_corpus(corpus)]
    by_label: dict[str, Mapping[str, Any]] = {corpus["label"]: corpus for corpus in corpora}
    much = data_warnings.dropped_much(
        by_label,
        {label: corpus["warn_share"] for label, corpus in by_label.items()},
        {label: corpus["examples"] for label, corpus in by_label.items()},
    )
    warnings = {"pairs": sum(corpus["pairs"] for corpus in corpora), "least": least, "filters": much}
    return found + [{"text": text, "samples": rows} for text, rows in data_warnings.lines(warnings, model)]


def _of_corpus(corpus: InspectedCorpus) -> Iterator[Finding]:
    def finding(text: str, samples: Sequence[str]) -> Finding:
        return {"text": f"{corpus['label']}: {text}", "samples": list(samples)}

    sides = [side for side in corpus["sides"] if side["texts"] >= LEAST]
    labels, first = [lid_label(side["language"]) for side in sides], [next(iter(side["found"])) for side in sides]
    if swapped := len(set(labels)) == 2 and first == labels[::-1]:
        codes = ", ".join(side["language"] for side in sides[::-1])
        yield finding(
            f"source and target look swapped; write `languages: [{codes}]` in the corpus's entry", corpus["samples"]
        )
    for side in sides:
        own, language = side["own"], side["language"]
        if not swapped and own is not None and own < OWN:
            name = NAMES.get(language, language)
            others = ", ".join(f"{NAMES.get(key, key)} {share:.0%}" for key, share in side["found"].items())
            yield finding(
                f"only {own:.0%} of its longer texts in {name} look like it (most: {others}); is `{language}` the "
                "right code, and the corpus in that language?",
                corpus["samples"],
            )
    for side in corpus["sides"]:
        if corpus["seen"] >= LEAST and side["misread"] > MISREAD * corpus["seen"]:
            yield finding(
                f"{side['misread'] / corpus['seen']:.1%} of its texts in {side['language']} were decoded wrongly once "
                "(`Ã©` for `é`, or lost characters); make the file again from its origin, as UTF-8",
                side["misread_texts"],
            )
    low, usual, high = corpus["ratios"] or (1, 1, 1)
    agreement = 1 if corpus["agreement"] is None else corpus["agreement"]
    if agreement < AGREEMENT or low * SPREAD < usual or high > usual * SPREAD:
        yield finding(
            f"the lengths of the two sides do not go together (correlation {agreement:.2f}; target over source usually "
            f"{usual:.2f}, in 5% of the pairs below {low:.2f}, in 5% above {high:.2f}): lines of one side are shifted, "
            "shuffled or joined, or these are not translations",
            corpus["samples"],
        )
    if corpus["tests"] and "decontaminate" not in corpus["filters"]:
        named = ", ".join(f"{name} ({count})" for name, count in corpus["tests"].items())
        yield finding(
            f"sentences of test sets are among the pairs and no filter drops them ({named} of {corpus['seen']:,}), so "
            "scores on these will be too high; write `filters: {decontaminate: {enabled: true}}`",
            [],
        )
