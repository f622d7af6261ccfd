"""SemEval 2012 to 2016, by the paper's two scores of a year (read by :mod:`psp.evaluation.testsets`)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from psp.config.blocks.base import Block
from psp.config.blocks.evaluation import has_sts
from psp.config.blocks.fields import Text, setting
from psp.evaluation import bootstrap, testsets
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks.base import CORRELATION, BootstrapSpec, Measure, Metric, Part, Sources, Task
from psp.evaluation.tasks.similarity import correlation, correlations, mean, similarities
from psp.text.published_sets import checksum

#: Excluded from 2013's concatenation (the paper's protocol); the published mean Pearson of 2013 includes it.
SMT = ("2013", "SMT")
_NO_SETS = Metric(None, why="none of its data sets")


class OfArchive(Task):
    """A task whose sets are in the archive of STS sets; not itself a kind of task."""

    class Settings(Block):
        """The keys of an entry besides `task`."""

        path: Text = setting(..., "the archive or folder of STS sets")

    @classmethod
    def by_default(cls, sources: Sources) -> Mapping[str, Any] | None:
        return {"path": sources.sts} if sources.sts is not None and "en" in sources.languages else None

    def source(self) -> testsets.StsSource:
        """The archive or folder."""
        return testsets.StsSource(self.path("path"))

    def files(self) -> list[Path]:
        path = self.path("path")
        if not path.is_dir():
            return [path]
        return sorted(file for file in path.rglob("*") if file.is_file() and file.parent.name in testsets.FOLDERS)

    @abstractmethod
    def named(self, source: testsets.StsSource) -> Iterator[tuple[str, testsets.StsSet]]:
        """Its sets by name; those that are missing are noted."""

    def sentences(self) -> Iterator[str]:
        with self.source() as source:
            for _, data in self.named(source):
                yield from data.a
                yield from data.b


class Scored(NamedTuple):
    """A system's similarities on one set, its resamples (uint16 counts, shape (resamples, pairs)), and its metrics."""

    data: testsets.StsSet
    similarity: Floats
    counts: bootstrap.Counts
    metrics: Mapping[str, Metric]


class Sts(OfArchive):
    """The parts are the years and their ``average``.

    ``pearson`` is the mean over the data sets of a year (2013: with SMT, as published, besides
    ``pearson_without_smt``); ``spearman`` is over all its pairs together, 2013 without SMT. Resamples are drawn within
    each set.
    """

    kind = "sts"
    order = 1
    help = "semantic textual similarity in English, SemEval 2012 to 2016, by the paper's protocol"
    metrics: ClassVar[Mapping[str, Measure]] = {
        "pearson": Measure("mean of Pearson's correlations on the data sets", CORRELATION, label="mean Pearson"),
        "pearson_without_smt": Measure(
            "the same without the set SMT", CORRELATION, label="the same, no SMT", compared=False
        ),
        "spearman": Measure("Spearman's correlation over all pairs", CORRELATION, label="Spearman, all pairs"),
    }

    @classmethod
    def skipped(cls, sources: Sources) -> Iterator[tuple[str, str]]:
        if sources.sts is None and not has_sts(sources.languages):
            yield "STS", f"no published set is in the languages of this model: {', '.join(sources.languages)}"
        elif sources.sts is not None and "en" not in sources.languages:
            yield "STS 2012-2016", "not a language of this model: en"

    def named(self, source: testsets.StsSource) -> Iterator[tuple[str, testsets.StsSet]]:
        for year, names in testsets.YEARS.items():
            if not source.has_folder(folder := f"STS{year[2:]}-en-test"):
                self.missing.append((f"STS {year}", f"no folder {folder} in {source.path.name}"))
                continue
            for name in names:
                try:
                    yield f"{year}/{name}", source.semeval(year, name)
                except testsets.MissingSetError as error:
                    self.missing.append((f"STS {year} {name}", str(error)))

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        years: dict[str, list[Scored]] = {}
        with self.source() as source:
            for name, data in self.named(source):
                self.sums[f"{self.kind}/{name}"] = checksum(data.a, data.b, data.gold)
                similarity, counts = similarities(scorer, data), draw.counts_of_set(len(data), name)
                scored = Scored(data, similarity, counts, correlations(similarity, data.gold, counts))
                years.setdefault(name.partition("/")[0], []).append(scored)
        parts = {year: _year(year, scored) for year, scored in years.items()}
        return {**parts, "average": _average(parts)} if parts else {}


def _year(year: str, scored: Sequence[Scored]) -> Part:
    rest = [one for one in scored if (year, one.data.name) != SMT]
    pairs_of_rest = sum(len(one.data) for one in rest)
    metrics = {"pearson": _mean_pearson(scored)}
    if year == SMT[0]:
        metrics["pearson_without_smt"] = replace(_mean_pearson(rest), items=pairs_of_rest)
    together = _NO_SETS
    if rest:
        x, gold = (
            np.concatenate(side) for side in zip(*((one.similarity, one.data.gold) for one in rest), strict=True)
        )
        together = correlation("spearman", x, gold, np.hstack([one.counts for one in rest]))
    metrics["spearman"] = replace(together, items=pairs_of_rest)
    sets = {
        one.data.name: {"items": len(one.data), **{key: metric.report for key, metric in one.metrics.items()}}
        for one in scored
    }
    return Part(sum(len(one.data) for one in scored), metrics, {"sets": sets}, test=f"STS {year}", detail=True)


def _mean_pearson(scored: Sequence[Scored]) -> Metric:
    """The mean correlation on some sets."""
    pearson = {one.data.name: one.metrics["pearson"] for one in scored}
    without = [name for name, one in pearson.items() if one.value is None]
    return mean([*pearson.values()], f"no correlation on {', '.join(without)}") if pearson else _NO_SETS


def _average(years: Mapping[str, Part]) -> Part:
    """Each yearly score averaged over the years."""
    metrics = {}
    for key in Sts.metrics:
        # Only 2013 has SMT; in other years the two means are the same.
        by_year = [year.metrics.get(key, year.metrics["pearson"]) for year in years.values()]
        own = [
            year.items if one.items is None else one.items for one, year in zip(by_year, years.values(), strict=True)
        ]
        items = None if key == "pearson" else sum(own)
        without = [name for name, one in zip(years, by_year, strict=True) if one.value is None]
        if without:
            metrics[key] = Metric(None, why=f"no figure for {', '.join(without)}", items=items)
            continue
        # The mean of the rounded figures, as shown.
        value = float(np.mean([round(one.value or 0.0, 4) for one in by_year]))
        drawn = [one.resampled for one in by_year if one.resampled is not None]
        metrics[key] = Metric(value, np.mean(drawn, axis=0), items=items)
    names = list(years)
    test = f"STS {names[0]}-{names[-1]}, average" if len(names) > 1 else f"STS {names[0]}, average"
    return Part(sum(year.items for year in years.values()), metrics, {"years": names}, test=test)
