"""Semantic textual similarity: the paper's scores on the published sets (read by :mod:`psp.evaluation.testsets`).

Every score is the correlation, times 100, of the system's similarities with human judgements, with the number of pairs
and a 95% bootstrap interval.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from psp.evaluation import bootstrap
from psp.evaluation.metrics import no_correlation
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.testsets import StsSet

#: Excluded from 2013's concatenation (the paper's protocol); the published mean Pearson of 2013 includes it.
SMT = ("2013", "SMT")


@dataclass(frozen=True)
class Scored:
    """A system's similarities on one set, and its resamples (uint16 counts, shape (resamples, pairs))."""

    data: StsSet
    similarity: Floats
    counts: bootstrap.Counts
    pearson: Floats  # in each resample

    @functools.cached_property
    def spearman(self) -> Floats:
        """Spearman's correlation in each resample."""
        return bootstrap.spearman(self.counts, self.similarity, self.data.gold)

    @property
    def figures(self) -> dict[str, Any]:
        """``pearson``, ``spearman`` (times 100) with their intervals, and ``pairs``.

        If a side is constant, the correlation is undefined: None, with the reason under ``why``.
        """
        x, gold = self.similarity, self.data.gold
        why = no_correlation(x, gold)
        if why is not None:
            return {**_figure("pearson", None, None), **_figure("spearman", None, None), "pairs": len(x), "why": why}
        return {
            **_figure("pearson", float(stats.pearsonr(x, gold).statistic), self.pearson),
            **_figure("spearman", _spearman(x, gold), self.spearman),
            "pairs": len(x),
        }


def score_set(scorer: Scorer, data: StsSet, *, name: str, resamples: int, seed: int) -> Scored:
    """Score a set; ``name`` (unique among all sets) and ``seed`` determine its resamples."""
    similarity = np.asarray(scorer.pairwise(data.a, data.b), dtype=np.float64)
    if similarity.shape != (len(data),) or not np.isfinite(similarity).all():
        raise ValueError(f"a scorer must give {len(data)} finite numbers for {name}")
    counts = bootstrap.resample_counts(len(data), resamples, seed, name)
    return Scored(data, similarity, counts, bootstrap.pearson(counts, similarity, data.gold))


def without(scored: Scored, rows: npt.NDArray[np.bool_], *, name: str, resamples: int, seed: int) -> Scored:
    """The same similarities without some of the pairs; ``name`` and ``seed`` determine the resamples."""
    kept, data = np.flatnonzero(~rows), scored.data
    rest = StsSet(name, [data.a[row] for row in kept], [data.b[row] for row in kept], data.gold[kept])
    counts = bootstrap.resample_counts(len(rest), resamples, seed, name)
    similarity = scored.similarity[kept]
    return Scored(rest, similarity, counts, bootstrap.pearson(counts, similarity, rest.gold))


@dataclass(frozen=True)
class Year:
    """A year's report and, for the average over years, its scores in each resample (None where undefined)."""

    body: dict[str, Any]
    resampled: dict[str, Floats | None]


def score_year(year: str, scored: Sequence[Scored]) -> Year:
    """Compute the paper's two scores for a SemEval year, over the sets available.

    ``pearson_mean`` is the mean over the data sets (2013: with SMT, as published, besides
    ``pearson_mean_without_smt``); ``spearman_concatenated`` is over all pairs together, 2013 without SMT. Resamples are
    drawn within each set.
    """
    rest = [one for one in scored if (year, one.data.name) != SMT]
    sets = {one.data.name: one.figures for one in scored}
    body: dict[str, Any] = {"sets": sets}
    resampled: dict[str, Floats | None] = {}
    for key, chosen in (("pearson_mean", list(scored)), ("pearson_mean_without_smt", rest)):
        if key == "pearson_mean_without_smt" and year != SMT[0]:
            resampled[key] = resampled["pearson_mean"]
            continue
        without = [one.data.name for one in chosen if sets[one.data.name]["pearson"] is None]
        if without or not chosen:
            why = f"no correlation on {', '.join(without)}" if without else "none of its data sets"
            body |= _figure(key, None, None) | {f"{key}_why": why}
            resampled[key] = None
        else:
            values = np.array([stats.pearsonr(one.similarity, one.data.gold).statistic for one in chosen])
            resampled[key] = np.mean([one.pearson for one in chosen], axis=0)
            body |= _figure(key, float(values.mean()), resampled[key])
    key = "spearman_concatenated"
    why_not: str | None = "none of its data sets"
    if rest:
        x = np.concatenate([one.similarity for one in rest])
        gold = np.concatenate([one.data.gold for one in rest])
        why_not = no_correlation(x, gold)
    if why_not is not None:
        body |= _figure(key, None, None) | {f"{key}_why": why_not}
        resampled[key] = None
    else:
        resampled[key] = bootstrap.spearman(np.hstack([one.counts for one in rest]), x, gold)
        body |= _figure(key, _spearman(x, gold), resampled[key])
    body["pairs"] = sum(len(one.data) for one in scored)
    body["pairs_concatenated"] = sum(len(one.data) for one in rest)
    return Year(body, resampled)


def average(years: Mapping[str, Year]) -> dict[str, Any]:
    """Average each yearly score over the years; ``years`` names those included."""
    body: dict[str, Any] = {"years": list(years)}
    for key in ("pearson_mean", "pearson_mean_without_smt", "spearman_concatenated"):
        without = [year for year, found in years.items() if found.resampled[key] is None]
        if without:
            body |= _figure(key, None, None) | {f"{key}_why": f"no figure for {', '.join(without)}"}
            continue
        # Only 2013 has SMT; in other years the two means are the same.
        values = [found.body.get(key, found.body["pearson_mean"]) for found in years.values()]
        resampled = [drawn for found in years.values() if (drawn := found.resampled[key]) is not None]
        body |= _figure(key, float(np.mean(values)) / 100, np.mean(resampled, axis=0))
    body["pairs"] = sum(found.body["pairs"] for found in years.values())
    body["pairs_concatenated"] = sum(found.body["pairs_concatenated"] for found in years.values())
    return body


def _spearman(x: Floats, gold: Floats) -> float:
    return float(stats.spearmanr(x, gold).statistic)


def _figure(key: str, value: float | None, resampled: Floats | None) -> dict[str, Any]:
    """Return a correlation and its interval, both times 100, rounded to hide rounding differences of BLAS libraries."""
    return {
        key: None if value is None else round(100 * value, 4),
        f"{key}_interval": None if resampled is None else bootstrap.interval(100 * resampled),
    }
