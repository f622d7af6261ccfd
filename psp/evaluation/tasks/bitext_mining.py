"""Bitext mining as in BUCC: find the translation pairs hidden in two monolingual texts.

Margin-based mining (:mod:`psp.inference.search.bitext`), with its defaults. BUCC's protocol (Zweigenbaum et al., 2017)
reports precision, recall and F1 of the set of pairs. They are given at the default threshold of ``psp mine``, which no
gold pair has influenced, and at the threshold with the best F1 on this very set, as in most papers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Distinct, Text, setting
from psp.core.errors import DataError
from psp.evaluation.scorers import Scorer
from psp.evaluation.tasks.base import PERCENT, BootstrapSpec, Measure, Metric, Part, Task, columns, embedded
from psp.evaluation.testsets import sentence
from psp.models.cosines import unit


class BitextMining(Task):
    """Mining of hidden pairs; the parts are ``default`` and ``best``, by the threshold."""

    kind = "bitext_mining"
    help = "translation pairs hidden in two texts (BUCC)"

    class Settings(Block):
        """The keys of an entry besides `task`."""

        path: Text = setting(
            ..., "a folder with `<a>-<b>.<split>.<a>`, `.<b>` (id \\t sentence) and `.gold` (id \\t id)"
        )
        languages: Annotated[list[str], Distinct] = setting(
            ..., "source and target, such as [fr, en]", min_length=2, max_length=2
        )
        split: Text = setting("training", "the part, as in the names of its files")

    metrics: ClassVar[Mapping[str, Measure]] = {
        "f1": Measure("harmonic mean of precision and recall", PERCENT),
        "precision": Measure("share of mined pairs that are gold pairs", PERCENT),
        "recall": Measure("share of gold pairs that are mined", PERCENT),
    }

    def files(self) -> list[Path]:
        a, b = self.settings["languages"]
        stem = f"{a}-{b}.{self.settings['split']}"
        return [self.path("path") / f"{stem}.{end}" for end in (a, b, "gold")]

    @cached_property
    def data(self) -> tuple[list[str], list[str], set[tuple[int, int]]]:
        """Both texts, and the gold pairs by row."""
        sides, places = [], []
        *texts, gold = self.files()
        for path in texts:
            rows: list[str] = []
            numbers: dict[str, int] = {}
            for line, (key, words) in columns(path, (0, 1), header=False):
                if key in numbers:
                    raise DataError(f"the id {key} is given twice", path, line)
                numbers[key] = len(rows)
                rows.append(sentence(words, path, line))
            sides.append(rows)
            places.append(numbers)
        pairs = set()
        for line, keys in columns(gold, (0, 1), header=False):
            for key, numbers, path in zip(keys, places, texts, strict=True):
                if key not in numbers:
                    raise DataError(f"the id {key} is not in {path.name}", gold, line)
            pairs.add((places[0][keys[0]], places[1][keys[1]]))
        return sides[0], sides[1], pairs

    def sentences(self) -> Iterator[str]:
        """The sentences of the gold pairs; the others are distractors."""
        source, target, gold = self.data
        for one, other in sorted(gold):
            yield source[one]
            yield target[other]

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        from psp.inference.search.bitext import THRESHOLDS, mine  # not at Snakemake's every start

        source, target, gold = self.data
        vectors = [unit(embedded(scorer, side)).astype(np.float32) for side in (source, target)]
        mined_pairs = mine(*vectors)
        mined = list(zip(mined_pairs.sources.tolist(), mined_pairs.targets.tolist(), strict=True))
        right = np.array([pair in gold for pair in mined], dtype=bool)
        threshold = THRESHOLDS["ratio"]
        parts = {"default": _part(right, int((mined_pairs.margins >= threshold).sum()), len(gold), threshold, draw)}
        f1 = 2 * np.cumsum(right) / (np.arange(1, len(right) + 1) + len(gold))
        best = int(np.argmax(f1)) if len(f1) else 0
        limit = float(mined_pairs.margins[best]) if len(f1) else None
        return {**parts, "best": _part(right, int((mined_pairs.margins >= (limit or 0)).sum()), len(gold), limit, draw)}


def _part(right: npt.NDArray[np.bool_], mined: int, gold: int, threshold: float | None, draw: BootstrapSpec) -> Part:
    """The figures of the first ``mined`` pairs. The items are all pairs that are mined, gold, or both."""
    hits, misses = right[:mined], gold - int(right[:mined].sum())
    both = np.concatenate([hits, np.zeros(misses, bool)]).astype(np.float64)
    is_mined = np.concatenate([np.ones(mined), np.zeros(misses)])
    is_gold = np.maximum(both, 1 - is_mined)
    counts = draw.counts(len(both))
    figures = {}
    for name, below in (("f1", (is_mined + is_gold) / 2), ("precision", is_mined), ("recall", is_gold)):
        with np.errstate(invalid="ignore"):
            resampled = 100 * (counts @ both) / (counts @ below)
        if below.sum() == 0:
            figures[name] = Metric(None, why="no pair is mined" if name == "precision" else "no gold pairs")
        else:
            figures[name] = Metric(float(100 * both.sum() / below.sum()), resampled)
    chosen = {} if threshold is None else {"threshold": round(threshold, 4)}
    return Part(len(both), figures, {**chosen, "mined": mined}, own_items=True)
