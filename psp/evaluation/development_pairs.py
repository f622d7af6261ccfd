"""Keep development sets clear of the sentences that the model is tested on.

A model selected on test sentences has seen the test through that choice: all 750 pairs of STS 2012's MSRpar are in the
training part of MRPC, and 995 of SICK's 4,500 training pairs have a sentence of an STS set. SemEval-2017's English
track is not cleared: it stays whole, as in the paper, and eval.json counts its pairs in the STS Benchmark.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypedDict

import numpy as np

from psp.core.errors import DataError
from psp.core.files import atomic_text, write_json
from psp.evaluation.testsets import StsSet
from psp.text.keys import normalised_key, normalised_keys


class DevelopmentReport(TypedDict):
    """What was left out of a user's own development set because the model is evaluated on it."""

    format: int
    pairs: int  # pairs of the set
    kept: int  # pairs without a sentence of an evaluated set, in development.tsv
    dropped: dict[str, int]  # pairs left out, by the first evaluated set that has a sentence of theirs


log = logging.getLogger(__name__)

FORMAT: Final = 1


def clear(
    data: StsSet,
    scored: Iterable[tuple[str, str, str]],
    out: Path | str,
    report: Path | str,
    *,
    source: Path | str | None = None,
) -> DevelopmentReport:
    r"""Write a development set without the pairs that hold a sentence of an evaluated set.

    Sentences match as in the filter ``decontaminate``: the same letters and digits, ignoring case.

    Args:
        data: the set.
        scored: (name of the set, sentence, sentence) of each pair that the model is evaluated on, as from
            :func:`psp.evaluation.testsets.scored_pairs`.
        out: the pairs that are left, in their order, lines ``score \t sentence \t sentence``; written atomically.
        report: JSON with the counts; written atomically.
        source: the file, for errors.

    Returns:
        What was written to ``report``: ``format``, ``pairs``, ``kept`` and ``dropped`` (the first set that has a
        sentence of a pair -> pairs).

    Raises:
        DataError: fewer than two pairs are left.
    """
    sets: dict[str, str] = {}
    for name, *pair in scored:
        for key in filter(None, map(normalised_key, pair)):
            sets.setdefault(key, name)
    dropped: Counter[str] = Counter()
    kept = []
    for row, keys in enumerate(zip(normalised_keys(data.a), normalised_keys(data.b), strict=True)):
        shared = [sets[key] for key in keys if key in sets]
        if shared:
            dropped[shared[0]] += 1
        else:
            kept.append(row)
    counts = ", ".join(f"{count:,} of {name}" for name, count in dropped.most_common(5))
    if len(kept) < 2:
        raise DataError(
            f"{len(kept)} of its {len(data):,} pairs are left without those that hold a sentence of an evaluated set "
            f"({counts}); name another development set, or leave those sets out of `evaluate`",
            source,
        )
    if dropped:
        log.warning("%s: %d of %d pairs hold an evaluated sentence, and are left out: %s", data.name,
                    sum(dropped.values()), len(data), counts)  # fmt: skip
    with atomic_text(out) as file:
        for row in kept:
            score = np.format_float_positional(data.gold[row], trim="-")
            file.write(f"{score}\t{data.a[row]}\t{data.b[row]}\n")
    result: DevelopmentReport = {
        "format": FORMAT,
        "pairs": len(data),
        "kept": len(kept),
        "dropped": dict(sorted(dropped.items())),
    }
    write_json(report, result)
    return result
