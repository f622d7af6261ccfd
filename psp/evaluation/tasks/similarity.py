"""Similarity: the correlation of a system's cosines with human judgements, on any file of scored pairs.

One file is one data set. A folder is scored in both usual ways: the mean over its data sets (SemEval's reports before
2016, and the paper's), and the correlation over all pairs together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from psp.core.errors import DataError
from psp.core.settings import Setting, choice, list_of, text
from psp.evaluation import bootstrap
from psp.evaluation.metrics import no_correlation
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks.base import CORRELATION, BootstrapSpec, Measure, Metric, Part, Task, columns, sentence
from psp.evaluation.testsets import StsSet, read_score

#: Columns of score and sentences, whether the file has a header, and the range of scores.
LAYOUTS: Mapping[str, tuple[tuple[str | int, ...], bool, list[float] | None]] = {
    "plain": ((0, 1, 2), False, None),
    "sick": (("relatedness_score", "sentence_A", "sentence_B"), True, [1, 5]),
}


class Similarity(Task):
    """Correlations with gold scores; the parts are the data sets, and over several ``mean`` and ``together``."""

    kind = "similarity"
    help = "correlation of cosines with human scores"
    chosen_by = "pearson"
    declared: ClassVar[Mapping[str, Setting]] = {
        "path": text(at_least=1, help="a file, or a folder whose files are one data set each"),
        "layout": choice(
            "plain",
            [*LAYOUTS],
            help="plain: lines `score \\t sentence \\t sentence`; sick: as published",
        ),
        "range": list_of(
            None,
            items={"type": "number"},
            at_least=2,
            at_most=2,
            null=True,
            help="lowest and highest score, such as [0, 5]; others are an error; null: the layout's",
        ),
    }
    metrics: ClassVar[Mapping[str, Measure]] = {
        "pearson": Measure("Pearson's correlation", CORRELATION, label="Pearson"),
        "spearman": Measure("Spearman's correlation", CORRELATION, label="Spearman"),
    }

    def files(self) -> list[Path]:
        path = self.path("path")
        if not path.is_dir():
            return [path]
        files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        if not files:
            raise DataError("no files in this folder; each should be a data set", path)
        return files

    @cached_property
    def sets(self) -> list[StsSet]:
        """The data sets, by their files' names without ending."""
        return [self._read(file) for file in self.files()]

    def _read(self, path: Path) -> StsSet:
        wanted, header, limits = LAYOUTS[self.settings["layout"]]
        limits = self.settings["range"] or limits
        rows = [
            (read_score(score, path, line, limits), sentence(a, path, line), sentence(b, path, line))
            for line, (score, a, b) in columns(path, wanted, header=header)
        ]
        if not rows:
            raise DataError("no scored pairs", path)
        gold, a, b = zip(*rows, strict=True)
        return StsSet(path.stem, list(a), list(b), np.array(gold, dtype=np.float64))

    def sentences(self) -> Iterator[str]:
        for data in self.sets:
            yield from data.a
            yield from data.b

    def judged(self) -> StsSet:
        a, b = ([text for data in self.sets for text in side(data)] for side in (lambda one: one.a, lambda one: one.b))
        return StsSet(self.place, a, b, np.concatenate([data.gold for data in self.sets]))

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        scored = [
            (data, np.asarray(scorer.pairwise(data.a, data.b), np.float64), draw.counts(len(data), data.name))
            for data in self.sets
        ]
        parts = {data.name: _correlations(x, data.gold, counts) for data, x, counts in scored}
        if len(scored) > 1:
            parts["mean"] = _mean(list(parts.values()))
            x, gold = np.concatenate([x for _, x, _ in scored]), np.concatenate([data.gold for data, _, _ in scored])
            parts["together"] = _correlations(x, gold, np.hstack([counts for _, _, counts in scored]))
        return parts


def _correlations(x: Floats, gold: Floats, counts: bootstrap.Counts) -> Part:
    return Part(len(x), correlations(x, gold, counts))


def correlations(x: Floats, gold: Floats, counts: bootstrap.Counts) -> dict[str, Metric]:
    """Pearson's and Spearman's correlation of a system's similarities with gold scores, float64 (pairs,).

    Args:
        counts: resamples of the pairs.
    """
    from scipy import stats  # not at Snakemake's every start: it takes a second

    why = no_correlation(x, gold)
    if why is not None:
        return {name: Metric(None, why=why) for name in Similarity.metrics}
    return {
        "pearson": Metric(100 * float(stats.pearsonr(x, gold).statistic), 100 * bootstrap.pearson(counts, x, gold)),
        "spearman": Metric(100 * float(stats.spearmanr(x, gold).statistic), 100 * bootstrap.spearman(counts, x, gold)),
    }


def similarities(scorer: Scorer, data: StsSet) -> Floats:
    """A system's similarity of each pair of a set, float64 (pairs,).

    Raises:
        ValueError: one is not finite.
    """
    scores = np.asarray(scorer.pairwise(data.a, data.b), dtype=np.float64)
    if scores.shape != (len(data),) or not np.isfinite(scores).all():
        raise ValueError(f"a scorer must give {len(data)} finite numbers for {data.name}")
    return scores


def _mean(parts: list[Part]) -> Part:
    figures = {}
    for name in Similarity.metrics:
        metrics: list[Any] = [part.metrics[name] for part in parts]
        if any(one.value is None for one in metrics):
            figures[name] = Metric(None, why="a data set has no correlation")
        else:
            figures[name] = Metric(
                float(np.mean([one.value for one in metrics])), np.mean([one.resampled for one in metrics], axis=0)
            )
    return Part(sum(part.items for part in parts), figures, {})
