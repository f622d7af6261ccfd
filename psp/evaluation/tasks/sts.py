"""SemEval 2012 to 2016, by the paper's two scores of a year (read by :mod:`psp.evaluation.testsets`)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from psp.core.settings import Setting, text
from psp.evaluation import bootstrap, testsets
from psp.evaluation.metrics import no_correlation
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks.base import CORRELATION, BootstrapSpec, Measure, Metric, Part, Sources, Task
from psp.evaluation.tasks.similarity import correlations, similarities
from psp.text.published_sets import checksum

#: Excluded from 2013's concatenation (the paper's protocol); the published mean Pearson of 2013 includes it.
SMT = ("2013", "SMT")


class OfArchive(Task):
    """A task whose sets are in the archive of STS sets; not itself a kind of task."""

    kind = ""

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
    pearson: Floats  # in each resample, not times 100


class Year(NamedTuple):
    """A year's scores, and each in each resample, not times 100; None where undefined."""

    part: Part
    drawn: Mapping[str, Floats | None]


class Sts(OfArchive):
    """The parts are the years and their ``average``.

    ``pearson`` is the mean over the data sets of a year (2013: with SMT, as published, besides
    ``pearson_without_smt``); ``spearman`` is over all its pairs together, 2013 without SMT. Resamples are drawn within
    each set.
    """

    kind = "sts"
    order = 1
    help = "semantic textual similarity in English, SemEval 2012 to 2016, by the paper's protocol"
    declared: ClassVar[Mapping[str, Setting]] = {"path": text(at_least=1, help="the archive or folder of STS sets")}
    metrics: ClassVar[Mapping[str, Measure]] = {
        "pearson": Measure("mean of Pearson's correlations on the data sets", CORRELATION, label="mean Pearson"),
        "pearson_without_smt": Measure(
            "the same without the set SMT", CORRELATION, label="the same, no SMT", compared=False
        ),
        "spearman": Measure("Spearman's correlation over all pairs", CORRELATION, label="Spearman, all pairs"),
    }

    @classmethod
    def by_default(cls, sources: Sources) -> Mapping[str, Any] | None:
        return {"path": sources.sts} if sources.sts is not None and "en" in sources.languages else None

    @classmethod
    def skipped(cls, sources: Sources) -> Iterator[tuple[str, str]]:
        if sources.sts is None and not testsets.has_sts(sources.languages):
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
                metrics = correlations(similarity, data.gold, counts)
                scored = Scored(data, similarity, counts, metrics, bootstrap.pearson(counts, similarity, data.gold))
                years.setdefault(name.partition("/")[0], []).append(scored)
        scored_years = {year: _year(year, scored) for year, scored in years.items()}
        return (
            {**{year: one.part for year, one in scored_years.items()}, "average": _average(scored_years)}
            if scored_years
            else {}
        )


def _year(year: str, scored: Sequence[Scored]) -> Year:
    rest = [one for one in scored if (year, one.data.name) != SMT]
    pairs_of_rest = sum(len(one.data) for one in rest)
    mean = _mean_pearson(scored)
    metrics, drawn = {"pearson": _metric(*mean)}, {"pearson": mean[1], "pearson_without_smt": mean[1]}
    if year == SMT[0]:
        without = _mean_pearson(rest)
        metrics["pearson_without_smt"] = _metric(*without, items=pairs_of_rest)
        drawn["pearson_without_smt"] = without[1]
    x = np.concatenate([one.similarity for one in rest]) if rest else np.zeros(0)
    gold = np.concatenate([one.data.gold for one in rest]) if rest else np.zeros(0)
    why = no_correlation(x, gold) if rest else "none of its data sets"
    drawn["spearman"] = None
    value = None
    if why is None:
        from scipy import stats  # not at Snakemake's every start: it takes a second

        value = float(stats.spearmanr(x, gold).statistic)
        drawn["spearman"] = bootstrap.spearman(np.hstack([one.counts for one in rest]), x, gold)
    metrics["spearman"] = _metric(value, drawn["spearman"], why, pairs_of_rest)
    sets = {
        one.data.name: {"items": len(one.data), **{key: metric.report for key, metric in one.metrics.items()}}
        for one in scored
    }
    pairs = sum(len(one.data) for one in scored)
    return Year(Part(pairs, metrics, {"sets": sets}, test=f"STS {year}", detail=True), drawn)


def _metric(value: float | None, drawn: Floats | None, why: str | None, items: int | None = None) -> Metric:
    """A metric from a correlation, which is not times 100."""
    if value is None:
        return Metric(None, why=why, items=items)
    return Metric(100 * value, None if drawn is None else 100 * drawn, items=items)


def _mean_pearson(scored: Sequence[Scored]) -> tuple[float | None, Floats | None, str | None]:
    """The mean correlation on some sets, also in each resample; or why it is undefined."""
    without = [one.data.name for one in scored if one.metrics["pearson"].value is None]
    if without or not scored:
        return None, None, f"no correlation on {', '.join(without)}" if without else "none of its data sets"
    from scipy import stats

    values = np.array([stats.pearsonr(one.similarity, one.data.gold).statistic for one in scored])
    return float(values.mean()), np.mean([one.pearson for one in scored], axis=0), None


def _average(years: Mapping[str, Year]) -> Part:
    """Each yearly score averaged over the years."""
    metrics = {}
    for key in Sts.metrics:
        # Only 2013 has SMT; in other years the two means are the same.
        by_year = [year.part.metrics.get(key, year.part.metrics["pearson"]) for year in years.values()]
        own = [
            year.part.items if one.items is None else one.items
            for one, year in zip(by_year, years.values(), strict=True)
        ]
        items = None if key == "pearson" else sum(own)
        without = [name for name, one in zip(years, by_year, strict=True) if one.value is None]
        if without:
            metrics[key] = Metric(None, why=f"no figure for {', '.join(without)}", items=items)
            continue
        # The mean of the rounded figures, as shown.
        value = float(np.mean([round(one.value or 0.0, 4) for one in by_year]))
        drawn = [resampled for year in years.values() if (resampled := year.drawn[key]) is not None]
        metrics[key] = Metric(value, 100 * np.mean(drawn, axis=0), items=items)
    names = list(years)
    test = f"STS {names[0]}-{names[-1]}, average" if len(names) > 1 else f"STS {names[0]}, average"
    return Part(sum(year.part.items for year in years.values()), metrics, {"years": names}, test=test)
