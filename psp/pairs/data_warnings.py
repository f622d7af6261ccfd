"""Warnings about a model's data: filters that dropped much of a corpus, and too few pairs to train on.

They follow only from the stages' counts, so the wording is the same in a job's log, at the end of a run, in data.md and
in ``psp show``.
"""

from __future__ import annotations

import itertools
import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.core.files import read_json
from psp.pairs.pair_file import read_dropped

log = logging.getLogger(__name__)

#: Models trained on fewer pairs scored lower on similarity than untrained embeddings with SIF weights:
#: docs/results.md, "Few pairs".
SHARE, PAIRS = 0.2, 5000  # the defaults of the config, which `psp show` does without
SAMPLES = 3  # dropped pairs shown of a corpus
MOST_CORPORA = 4  # named in a line
SHOWN_CHARACTERS = 200  # of a side


def filter_of(reason: str, filters: Iterable[str]) -> tuple[str | None, str]:
    """Split a reason of a filter report into its filter and the rest; no filter if a side was empty.

    Args:
        reason: ``<filter>: <why>``, or the name of a filter that has only one reason.
        filters: the filters that ran.
    """
    judge, colon, why = reason.partition(": ")
    return (judge if colon or judge in filters else None), why or reason


def read_samples(path: Path, most: int) -> dict[str, list[list[str]]]:
    """Read the first rows of each reason in a sample of dropped pairs (.dropped.tsv): the columns after the reason.

    Raises:
        DataError: no such file, or not UTF-8.
    """
    samples: dict[str, list[list[str]]] = {}
    for reason, columns in read_dropped(path):
        rows = samples.setdefault(reason, [])
        if len(rows) < most:
            rows.append(columns)
    return samples


def dropped_much(
    reports: Mapping[str, Mapping[str, Any]],
    shares: Mapping[str, float],
    samples: Mapping[str, Mapping[str, Sequence[Sequence[str]]]] | None = None,
) -> list[dict[str, Any]]:
    """Find the filters that dropped more than a share of a corpus, those that dropped most pairs first.

    Args:
        reports: the filter stage's report by corpus.
        shares: that share by corpus; :data:`SHARE` if it is missing.
        samples: dropped rows by corpus and reason.

    Returns:
        For each filter ``filter``, ``keep`` (what to write in the config) and ``corpora``, the
        largest share first, each with ``label``, ``dropped``, ``read`` and ``samples``.
    """
    by_judge: dict[str, list[dict[str, Any]]] = {}
    reasons: dict[str, Counter[str]] = {}
    for label, report in reports.items():
        by_filter: dict[str, Counter[str]] = {}
        for reason, count in report["dropped"].items():
            judge, _ = filter_of(reason, report["filters"])
            if judge is not None and judge in report["filters"]:  # not `row`: such rows are not pairs
                by_filter.setdefault(judge, Counter())[reason] += count
        for judge, counts in by_filter.items():
            if counts.total() > shares.get(label, SHARE) * report["seen"]:
                rows = [(samples or {}).get(label, {}).get(reason, []) for reason, _ in counts.most_common()]
                taken = [row for turn in itertools.zip_longest(*rows) for row in turn if row is not None]
                by_judge.setdefault(judge, []).append(
                    {
                        "label": label,
                        "dropped": counts.total(),
                        "read": report["seen"],
                        "samples": [list(row) for row in taken[:SAMPLES]],
                    }
                )
                reasons.setdefault(judge, Counter()).update(counts)
    entries: list[dict[str, Any]] = [
        {
            "filter": judge,
            "keep": _keep(judge, reasons[judge], reports[corpora[0]["label"]]["filters"][judge]),
            "corpora": sorted(corpora, key=_by_share),
        }
        for judge, corpora in by_judge.items()
    ]
    return sorted(entries, key=lambda entry: (-reasons[entry["filter"]].total(), entry["filter"]))


def log_dropped(label: str, report: Mapping[str, Any], share: float, model: str) -> None:
    """Log the filters that dropped more than a share of one corpus.

    They are warnings, which the screen shows at once, only if nothing is left. Otherwise the screen shows a line per
    filter at the end of the run.
    """
    for entry in dropped_much({label: report}, {label: share}):
        log.log(logging.INFO if report["kept"] else logging.WARNING, "%s", sentence(entry, model))


def so_far(model: str, pairs: Path, shares: Mapping[str, float], least: int, *, near: bool) -> Iterator[str]:
    """Yield a model's warnings, one line each, from the reports that exist.

    Args:
        model: its name.
        pairs: the folder with the reports of the stages, results/<model>/pairs.
        shares: by corpus, as for :func:`dropped_much`.
        least: pairs to train on; fewer get a warning.
        near: whether near-duplicates are removed from the mixed pairs.

    Raises:
        DataError: a report is broken.
    """
    counts = pairs / ("neardup.json" if near else "mix.json")
    reports = {label: pairs / f"filter/{label}.json" for label in shares}
    warnings = {
        "pairs": read_json(counts)["total"]["kept"] if counts.exists() else least,
        "least": least,
        "filters": dropped_much({label: read_json(path) for label, path in reports.items() if path.exists()}, shares),
    }
    for warning, _ in lines(warnings, model):
        yield f"model {model}: {warning}"


def _by_share(corpus: Mapping[str, Any]) -> tuple[float, str]:
    return -corpus["dropped"] / corpus["read"], corpus["label"]


def _keep(judge: str, reasons: Counter[str], settings: Mapping[str, Any]) -> str:
    """Say what to write in the config to keep most of the pairs dropped for these reasons."""
    short = sum(count for reason, count in reasons.items() if reason.endswith("too short"))
    if judge == "length" and 2 * short > reasons.total():
        return "filters: {length: {min: 1}}"
    if judge == "decontaminate" and settings["mode"] == "side":
        # Another translation of a test sentence may be trained on, and the tests remain tests.
        return "filters: {decontaminate: {mode: pair}}"
    if judge == "custom":
        return "filters: {custom: []}"
    return f"filters: {{{judge}: {{enabled: false}}}}"


def sentence(entry: Mapping[str, Any], model: str) -> str:
    """Describe an entry of :func:`dropped_much` in one line: filter, share, corpora, and what to write to keep them."""
    corpora = entry["corpora"]
    named = [f"{_percent(corpus)} of {corpus['label']}" for corpus in corpora[:MOST_CORPORA]]
    if more := len(corpora) - len(named):
        named.append(f"much of {more} more")
    almost_all = any(corpus["dropped"] > 0.9 * corpus["read"] for corpus in corpora)
    doubt = "are source and target swapped, or the codes wrong? If not, " * (
        entry["filter"] == "language" and almost_all
    )
    return (
        f"the {entry['filter']} filter dropped {_joined(named)}; {doubt}to keep such pairs, write "
        f"`{entry['keep']}` under models.{model}, or under corpora.<name> for one corpus"
    )


def _percent(corpus: Mapping[str, Any]) -> str:
    return f"{100 * corpus['dropped'] / corpus['read']:.0f}%"


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def few(pairs: int, least: int) -> str | None:
    """The warning about a model with too few training pairs; None if it has at least ``least``."""
    if pairs >= least:
        return None
    return (
        f"{pairs:,} pairs are few to train on (mix.warn_pairs is {least:,}): such models score lower on similarity "
        "than untrained embeddings with SIF weights; add corpora, or loosen what drops their pairs"
    )


def lines(warnings: Mapping[str, Any], model: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each warning as a sentence, with its samples, one line each.

    Args:
        warnings: ``pairs`` and ``least``, and ``filters`` as :func:`dropped_much` gives them.
    """
    if warning := few(warnings["pairs"], warnings["least"]):
        yield warning, []
    for entry in warnings["filters"]:
        yield (
            sentence(entry, model),
            [
                f"{corpus['label']}: {' | '.join(map(shortened, row))}"
                for corpus in entry["corpora"]
                for row in corpus["samples"]
            ],
        )


def shortened(text: str) -> str:
    """Make foreign text safe to show: shorten it, and remove what a terminal would interpret."""
    text = "".join(character if character.isprintable() else " " for character in text)
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def of_evaluated(folder: Path, evaluation: Mapping[str, Any]) -> dict[str, Any]:
    """The warnings about the data of an evaluated model, for :func:`lines` and :func:`as_text`.

    ``data.json`` gives the thresholds; without it, the defaults apply.

    Args:
        folder: results/<model>, which may hold data.json and the samples of dropped pairs.
        evaluation: eval.json, which holds the reports of the data stages if the workflow wrote it.

    Raises:
        DataError: a file is broken.
    """
    if "data" not in evaluation:
        return {"pairs": 0, "least": 0, "filters": []}
    least, shares = PAIRS, {}
    if (known := folder / "data.json").exists() and "warnings" in (limits := read_json(known)):
        least = limits["warnings"]["least"]
        shares = {corpus["label"]: corpus["warn_share"] for corpus in limits["corpora"]}
    data = evaluation["data"]
    labels = [entry["label"] for entry in data["mix"]["corpora"]]
    samples = {label: folder / f"pairs/filter/{label}.dropped.tsv" for label in labels}
    return {
        "pairs": data.get("near_duplicates", data["mix"])["total"]["kept"],
        "least": least,
        "filters": dropped_much(
            dict(zip(labels, data["filter"], strict=True)),
            shares,
            {label: read_samples(path, SAMPLES) for label, path in samples.items() if path.exists()},
        ),
    }


def as_text(warnings: Mapping[str, Any], model: str, form: str) -> str:
    """Format warnings for people, each with its samples; ``form`` is text or markdown. Empty without warnings."""
    parts = []
    for warning, samples in lines(warnings, model):
        example = ". Dropped, for example:" if samples else ""
        if form == "markdown":
            parts += [f"**Warning**: {warning}{example}", *(["", *verbatim(samples)] if samples else []), ""]
        else:
            parts += [f"warning: {warning}{example}", *(f"  {line}" for line in samples), ""]
    return "\n".join(parts)


def verbatim(texts: Sequence[str]) -> Iterator[str]:
    """Fence texts in Markdown, with a fence longer than any in them: foreign text must not end the block."""
    longest = max((len(run) for text in texts for run in re.findall(r"~+", text)), default=0)
    fence = "~" * max(3, longest + 1)
    yield fence
    yield from texts
    yield fence
