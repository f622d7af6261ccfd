"""What a person should look at before training, each with its figure and the threshold that it exceeds.

The thresholds were measured on real corpora (:data:`LIMITS`): sound ones stay well below them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from psp.pairs.data_warnings import few
from psp.text.languages import NAMES, SCORED_LABELS, lid_label


class Limit(NamedTuple):
    """A threshold: the largest value that is not reported, and how many it must be measured on."""

    most: float
    least: int


#: The thresholds by finding. In brackets the values measured on 63 archives of en with ar, de, fr, pl, tr and zh (5,000
#: pairs of each): the largest among the sound ones, and that of Quran en-tr, in which several verses are paired with
#: each of their parts.
LIMITS = {
    # Pairs with a length ratio beyond 3 times the median (0.004; 0.079).
    "ratio": Limit(0.02, 100),
    # Blocks of 50 lines whose lengths fit better when one side is moved (0.01; 0.089).
    "blocks": Limit(0.025, 20),
    # Pairs whose words fit no better than those of another pair of that length (0.12).
    "words": Limit(0.25, 200),
    # Pairs whose words fit the target of the line before, or after, better by half (0.11).
    "beside": Limit(0.25, 200),
    # Pairs with numbers on both sides, but not the same (0.22 in zh, which writes 10,000 otherwise).
    "numbers": Limit(0.4, 50),
    # Longer texts that lid.176 takes for another language than theirs (0.05).
    "language": Limit(0.3, 50),
    # The share of texts with Arabic vowel marks (0.012 in five of six corpora, 1 in the Quran).
    "vowels": Limit(0.1, 50),
    "copies": Limit(0.1, 100),
    "duplicates": Limit(0.3, 100),
    "empty": Limit(0.02, 100),
    "bad_rows": Limit(0.001, 100),
    # Sentences of a test set in training: any, since they are scored.
    "tests": Limit(0.0, 1),
    # Pairs with a cosine below that of the most similar twentieth of exchanged pairs.
    "similarity": Limit(0.3, 100),
}

MOST_SETS, MOST_SAMPLES = 3, 3  # in a finding


def find(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The findings of a report, the costliest first.

    Returns:
        For each ``kind`` (a key of :data:`LIMITS`, ``filter``, ``label`` or ``pairs``), ``corpus`` (None for the whole
        model), ``value`` and ``limit`` (None where nothing is counted), ``text`` and ``samples``.
    """
    findings = [one for corpus in report["corpora"] for one in _of_corpus(corpus, report)]
    findings += _labels(report)
    expected = round(
        sum((one["rows"] - one["bad_rows"]) * one["kept"] * (1 - one["duplicates"]) for one in report["corpora"])
    )
    if warning := few(expected, report["warn_pairs"]):
        findings.append(_finding("pairs", None, expected, report["warn_pairs"], f"by this sample, {warning}"))
    return sorted(findings, key=lambda one: (_ORDER.index(one["kind"]), -(one["value"] or 0)))


_ORDER = [
    "words", "beside", "ratio", "blocks", "similarity", "label", "language", "filter", "numbers", "vowels", "copies",
    "tests", "duplicates", "empty", "bad_rows", "pairs",
]  # fmt: skip


def _finding(
    kind: str,
    corpus: str | None,
    value: float | None,
    limit: float | None,
    text: str,
    samples: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    some = [dict(one) for one in samples[:MOST_SAMPLES]]
    return {"kind": kind, "corpus": corpus, "value": value, "limit": limit, "text": text, "samples": some}


def _past(
    kind: str, corpus: str, value: float, count: int, text: str, samples: Sequence[Mapping[str, Any]] = ()
) -> Iterator[dict[str, Any]]:
    """The finding of a figure, measured on ``count``, if it passes its threshold."""
    if count >= LIMITS[kind].least and value > LIMITS[kind].most:
        yield _finding(kind, corpus, value, LIMITS[kind].most, text, samples)


def _of_corpus(corpus: Mapping[str, Any], report: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    label, pairs = corpus["label"], corpus["rows"] - corpus["bad_rows"]
    if corpus["pairs"] is not None:
        yield from _alignment(corpus)
    for name, count, whole, words in (
        ("bad_rows", corpus["bad_rows"], corpus["rows"], "rows have the wrong columns"),
        ("empty", corpus["empty"], pairs, "pairs have an empty side"),
    ):
        yield from _past(name, label, count / max(whole, 1), whole, f"{count:,} of {whole:,} {words}")
    yield from _past(
        "duplicates", label, corpus["duplicates"], pairs,
        f"{_percent(corpus['duplicates'])} of the pairs are duplicates; they are removed, and "
        f"{pairs * (1 - corpus['duplicates']):,.0f} of {pairs:,} are left",
    )  # fmt: skip
    yield from _languages(corpus)
    for judge in corpus["filters"]:
        if judge["name"] == "language" and _exchanged(corpus):
            continue  # reported above, with what to do
        if judge["on"] and judge["taken"] is not None and judge["taken"] > corpus["warn_share"]:
            first = max(judge["reasons"], key=lambda reason: reason["share"])["name"]
            yield _finding(
                "filter", label, judge["taken"], corpus["warn_share"],
                f"the {judge['name']} filter would drop {_percent(judge['taken'])} of the pairs, most as `{first}`; "
                "look at them before you let it",
                judge["samples"],
            )  # fmt: skip
    yield from _tests(corpus)
    others = [
        one["vowelled"] for other in report["corpora"] for one in other["sides"]
        if other is not corpus and one["vowelled"] is not None
    ]  # fmt: skip
    for name, one in zip(("source", "target"), corpus["sides"], strict=False):
        if one["vowelled"] is not None:
            rest = f", in the other corpora {_percent(max(others))} at most" if others else ""
            yield from _past(
                "vowels", label, one["vowelled"], corpus["sampled"],
                f"{_percent(one['vowelled'])} of the {name} texts are written with vowel marks{rest}: to a "
                "tokenizer, their words differ from those of ordinary text, and encoders that score pairs misjudge "
                "them (such pairs may be correct all the same)",
                corpus["samples"],
            )  # fmt: skip


def _alignment(corpus: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    label, pairs = corpus["label"], corpus["pairs"]
    if (words := pairs["words"]) is not None:
        yield from _past(
            "words", label, words["doubtful"], words["pairs"],
            f"in {_percent(words['doubtful'])} of the pairs, the words of the two sides match no better than those of "
            "random pairs: they are probably not translations; leave the corpus out, or align it again",
            words["worst"],
        )  # fmt: skip
        place = "before" if words["before"] > words["after"] else "after"
        yield from _past(
            "beside", label, words[place], words["pairs"],
            f"in {_percent(words[place])} of the pairs, the words of the source fit the target of the line {place} far "
            "better than their own: one side seems to be shifted by a line, from some point on",
            words["worst"],
        )  # fmt: skip
    ratio = pairs["ratios"]
    most = math.ceil(3 * max(ratio["usual"], 1 / ratio["usual"]))
    repeated = max(corpus["sides"], key=lambda side: side["repeated"])["repeated"]
    again = f"; in {_percent(repeated)} a side is that of the pair before, repeated" if repeated > 0.02 else ""
    yield from _past(
        "ratio", label, ratio["beyond"], ratio["pairs"],
        f"{_percent(ratio['beyond'])} of the pairs have a side three times as long as usual beside the other"
        f"{again}: passages beside a part of them. `filters: {{ratio: {{characters: {most}}}}}` would leave out "
        "the worst",
        ratio["samples"],
    )  # fmt: skip
    blocks = pairs["blocks"]
    if run := blocks["run"]:
        move = abs(int(max(blocks["moves"].items(), key=lambda item: (item[1], item[0]))[0]))
        yield from _past(
            "blocks", label, blocks["off"] / blocks["count"], blocks["count"],
            f"in {blocks['off']:,} of {blocks['count']:,} blocks of 50 lines, the lengths of the sides fit better when "
            f"the target is moved, most often by {move} line{'s' if move > 1 else ''}; the longest such stretch has "
            f"{run['lines']:,} lines from line {run['line']:,} on: there a side is shifted, or lines were joined",
            blocks["samples"],
        )  # fmt: skip
    numbers = pairs["numbers"]
    if numbers["same"] is not None:
        yield from _past(
            "numbers", label, 1 - numbers["same"], numbers["pairs"],
            f"of the pairs with numbers on both sides, {_percent(1 - numbers['same'])} have different ones; in "
            "translations, most are the same",
        )  # fmt: skip
    yield from _past(
        "copies", label, pairs["copies"], corpus["sampled"],
        f"{_percent(pairs['copies'])} of the pairs are copies: both sides are the same text",
    )  # fmt: skip
    if (similar := pairs["similarity"]) is not None:
        yield from _past(
            "similarity", label, similar["alike"], similar["pairs"],
            f"{similar['encoder']} finds {_percent(similar['alike'])} of the pairs no more similar than random "
            f"ones (median cosine {similar['own'][2]:.2f}): they are not translations, or it cannot read this text",
        )  # fmt: skip


def _exchanged(corpus: Mapping[str, Any]) -> tuple[float, float] | None:
    """The shares of the two sides that are in the other's language, if most of both are; else None."""
    if len(corpus["sides"]) != 2:
        return None
    source, target = (one["labels"] for one in corpus["sides"])
    if source["label"] == target["label"] or None in (source["label"], target["label"]):
        return None
    shares = [
        sum(label["share"] for label in one["found"] if label["name"] == other["label"])
        for one, other in ((source, target), (target, source))
    ]
    return (shares[0], shares[1]) if min(shares) > 0.5 else None


def _languages(corpus: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if shares := _exchanged(corpus):
        source, target = (one["language"] for one in corpus["sides"])
        yield _finding(
            "language", corpus["label"], min(shares), 0.5,
            f"source and target look swapped: lid.176 takes {_percent(shares[0])} of the source texts for "
            f"{_named(target)}, and {_percent(shares[1])} of the target texts for {_named(source)}; write "
            f"`languages: [{target}, {source}]` in the corpus's entry",
            corpus["samples"],
        )  # fmt: skip
        return
    judge = next((one for one in corpus["filters"] if one["name"] == "language" and one["on"]), None)
    if judge and judge["taken"] is not None and judge["taken"] <= LIMITS["language"].most:
        return  # lid.176's first label says little about languages that it knows badly; what the filter drops counts
    for name, one in zip(("source", "target"), corpus["sides"], strict=False):
        labels = one["labels"]
        if labels["own"] is not None:
            yield from _past(
                "language", corpus["label"], 1 - labels["own"], labels["texts"],
                f"lid.176 takes {_percent(labels['own'])} of the longer {name} texts for {_named(one['language'])}, "
                f"and the others for {_found(labels)}: is `{one['language']}` the right code, and the corpus in that "
                "language?",
                corpus["samples"],
            )  # fmt: skip


def _labels(report: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Languages that the language filter cannot recognise, each once."""
    sides: dict[str, list[Mapping[str, Any]]] = {}
    for corpus in report["corpora"]:
        for one in corpus["sides"]:
            if one["labels"]["label"] is None and lid_label(one["language"]) not in SCORED_LABELS:
                sides.setdefault(one["language"], []).append(one["labels"])
    for language, labels in sides.items():
        longest = max(labels, key=lambda one: one["texts"])
        yield _finding(
            "label", None, None, None,
            f"neither lid.176 nor py3langid knows {_named(language)}: the language filter can only drop lines that are "
            f"clearly in the other side's language"
            + (f". lid.176 takes them for {_found(longest)}" if longest["found"] else "")
            + "; with `language: {method: top}` it would drop all of them",
        )  # fmt: skip


def _tests(corpus: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Test sets that stay in training, since no filter drops their sentences."""
    left = [
        one for one in corpus["tests"]
        if not one["removed"] and one["found"] > LIMITS["tests"].most * one["sentences"]
    ]  # fmt: skip
    if left:
        left.sort(key=lambda one: (-one["found"] / one["sentences"], one["set"]))
        named = ", ".join(f"{_percent(one['found'] / one['sentences'])} of {one['set']}" for one in left[:MOST_SETS])
        more = f" and some of {len(left) - MOST_SETS} more sets" if len(left) > MOST_SETS else ""
        yield _finding(
            "tests", corpus["label"], left[0]["found"] / left[0]["sentences"], LIMITS["tests"].most,
            f"sentences of test sets are among the pairs, and no filter drops them: {named}{more}; scores on them "
            "will be too high. Write `filters: {decontaminate: {enabled: true}}`, with the set among its `sets`",
        )  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%" if share >= 0.1 or share == 0 else f"{100 * share:.1f}%"


def _named(code: str) -> str:
    return f"{code} ({NAMES[code]})" if code in NAMES else code


def _found(labels: Mapping[str, Any]) -> str:
    """lid.176's labels for texts, in words."""
    others = [one for one in labels["found"] if labels["own"] is None or one["name"] != labels["label"]]
    shown = [f"{_named(one['name'])} ({_percent(one['share'])})" for one in others[:2]]
    return " and ".join(shown) or "many languages"
