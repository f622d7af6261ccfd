"""Similarity: the correlation of a system's cosines with human judgements, on any file of scored pairs.

One file is one data set. A folder is scored in both usual ways: the mean over its data sets (SemEval's reports before
2016, and the paper's), and the correlation over all pairs together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Text, setting
from psp.core.errors import DataError
from psp.evaluation import bootstrap
from psp.evaluation.metrics import no_correlation
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks.base import CORRELATION, BootstrapSpec, Measure, Metric, Part, Task, columns
from psp.evaluation.testsets import StsSet, as_set, read_score, sentence

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

    class Settings(Block):
        """The keys of an entry besides `task`."""

        path: Text = setting(..., "a file, or a folder whose files are one data set each")
        layout: Literal["plain", "sick"] = setting(
            "plain", "plain: lines `score \\t sentence \\t sentence`; sick: as published"
        )
        range: list[float] | None = setting(
            None,
            "lowest and highest score, such as [0, 5]; others are an error; null: the layout's",
            min_length=2,
            max_length=2,
        )

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
        return as_set(path.stem, rows, path)

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
        parts = {data.name: Part(len(x), correlations(x, data.gold, counts)) for data, x, counts in scored}
        if len(scored) > 1:
            of_sets = list(parts.values())
            figures = {
                name: mean([part.metrics[name] for part in of_sets], "a data set has no correlation")
                for name in self.metrics
            }
            parts["mean"] = Part(sum(part.items for part in of_sets), figures)
            x, gold = np.concatenate([x for _, x, _ in scored]), np.concatenate([data.gold for data, _, _ in scored])
            counts = np.hstack([counts for *_, counts in scored])
            parts["together"] = Part(len(x), correlations(x, gold, counts))
        return parts


def correlation(name: str, x: Floats, gold: Floats, counts: bootstrap.Counts) -> Metric:
    """The correlation ``pearson`` or ``spearman`` of a system's similarities with gold scores, float64 (pairs,).

    Args:
        counts: resamples of the pairs.
    """
    from scipy import stats  # not at Snakemake's every start: it takes a second

    if (why := no_correlation(x, gold)) is not None:
        return Metric(None, why=why)
    if name == "pearson":
        return Metric(100 * float(stats.pearsonr(x, gold).statistic), 100 * bootstrap.pearson(counts, x, gold))
    return Metric(100 * float(stats.spearmanr(x, gold).statistic), 100 * bootstrap.spearman(counts, x, gold))


def correlations(x: Floats, gold: Floats, counts: bootstrap.Counts) -> dict[str, Metric]:
    """Both, by name."""
    return {name: correlation(name, x, gold, counts) for name in Similarity.metrics}


def mean(metrics: Sequence[Metric], why: str | None = None) -> Metric:
    """The mean of figures, also in each resample; undefined if one is, for its reason or another one."""
    for one in metrics:
        if one.value is None:
            return Metric(None, why=why or one.why)
    of_all: list[Any] = [[one.value for one in metrics], [one.resampled for one in metrics]]
    return Metric(float(np.mean(of_all[0])), np.mean(of_all[1], axis=0))


def similarities(scorer: Scorer, data: StsSet) -> Floats:
    """A system's similarity of each pair of a set, float64 (pairs,).

    Raises:
        ValueError: one is not finite.
    """
    scores = np.asarray(scorer.pairwise(data.a, data.b), dtype=np.float64)
    if scores.shape != (len(data),) or not np.isfinite(scores).all():
        raise ValueError(f"a scorer must give {len(data)} finite numbers for {data.name}")
    return scores
