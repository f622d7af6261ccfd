"""Relatedness of pairs by a regression on frozen vectors, SentEval's protocol, which Dadas (2022) uses.

A pair (u, v) enters as [|u - v|, u * v]; a softmax over the scores 1 to 5 is fitted to soft labels
(:func:`psp.evaluation.probes.relate`). Scores below 1, which CDSCorpus has, get labels that do not sum to one: the
protocol as published; the report counts them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np

from psp.core.settings import Setting, choice, text
from psp.evaluation import bootstrap
from psp.evaluation.metrics import no_correlation
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks import splits
from psp.evaluation.tasks.base import CORRELATION, BootstrapSpec, Measure, Metric, Part, Task
from psp.evaluation.testsets import read_score

#: Soft labels have no others.
SCORES = [0.0, 5.0]
_LAYOUTS = [name for name, about in splits.LAYOUTS.items() if about.score is not None]


class Relatedness(Task):
    """Correlations of predicted with human scores, the mean over seeds; one part, ``all``."""

    kind = "relatedness"
    help = "a regression from frozen vectors of pairs to human scores (SentEval, as in Dadas 2022)"
    declared: ClassVar[Mapping[str, Setting]] = {
        "path": text(at_least=1, help="the folder of the training, development and test part; scores are 0 to 5"),
        "layout": choice("pairs", _LAYOUTS, help=splits.layout_help(_LAYOUTS)),
        "seeds": splits.SEEDS,
    }
    metrics: ClassVar[Mapping[str, Measure]] = {
        "spearman": Measure("Spearman's correlation, mean over the seeds", CORRELATION),
        "pearson": Measure("Pearson's correlation, mean over the seeds", CORRELATION),
    }

    def files(self) -> list[Path]:
        return splits.part_files(self.path("path"), self.settings["layout"])

    @cached_property
    def parts(self) -> list[splits.Items]:
        """The training, development and test part."""
        return [splits.read_items(path, self.settings["layout"], scores=True) for path in self.files()]

    @cached_property
    def gold(self) -> list[Floats]:
        """The scores of each part, float64 (pairs,)."""
        return [self._gold(part) for part in self.parts]

    def _gold(self, part: splits.Items) -> Floats:
        rows = zip(part.labels, part.lines, strict=True)
        return np.array([read_score(score, part.path, line, SCORES) for score, line in rows], np.float64)

    def sentences(self) -> Iterator[str]:
        for texts in self.parts[2].texts:
            yield from texts

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        from psp.evaluation import probes

        gold, test = self.gold, self.gold[2]
        features = [probes.pair_features(*sides) for sides in splits.vectors_of(scorer, self.parts)]
        seeds = self.settings["seeds"]
        runs = probes.relate(features, gold[:2], seeds=seeds)
        counts, predicted = draw.counts(len(test)), [one.scores for one in runs]
        figures, values = {}, {}
        for name in self.metrics:
            figures[name], values[name] = _mean(name, predicted, test, counts)
        further = {
            "train_items": len(gold[0]),
            "dev_items": len(gold[1]),
            "seeds": list(seeds),
            "spearmans": values["spearman"],
            "dev_pearsons": [round(100 * one.dev_pearson, 4) for one in runs if np.isfinite(one.dev_pearson)],
            "epochs": [one.epochs for one in runs],
            **{
                f"{name}_scores_below_1": int((scores < 1).sum())
                for name, scores in zip(splits.PARTS, gold, strict=True)
            },
            **splits.also_in_training(self.parts[0], self.parts[2]),
        }
        return {"all": Part(len(test), figures, further)}


def _mean(name: str, predicted: list[Floats], gold: Floats, counts: bootstrap.Counts) -> tuple[Metric, list[float]]:
    """The mean over seeds of a correlation, with its resamples, and the value of each seed."""
    from scipy import stats  # not at Snakemake's every start: it takes a second

    for scores in predicted:
        if (why := no_correlation(scores, gold)) is not None:
            return Metric(None, why=why), []
    if name == "spearman":
        values = [100 * float(stats.spearmanr(scores, gold).statistic) for scores in predicted]
        resampled = [100 * bootstrap.spearman(counts, scores, gold) for scores in predicted]
    else:
        values = [100 * float(stats.pearsonr(scores, gold).statistic) for scores in predicted]
        resampled = [100 * bootstrap.pearson(counts, scores, gold) for scores in predicted]
    return Metric(float(np.mean(values)), np.mean(resampled, axis=0)), [round(value, 4) for value in values]
