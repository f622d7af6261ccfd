"""Relatedness of pairs by a regression on frozen vectors, SentEval's protocol, which Dadas (2022) uses.

A pair (u, v) enters as [|u - v|, u * v]; a softmax over the scores 1 to 5 is fitted to soft labels
(:func:`psp.evaluation.probes.relate`). Scores below 1, which CDSCorpus has, get labels that do not sum to one: the
protocol as published; the report counts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Text, setting
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks import splits
from psp.evaluation.tasks.base import CORRELATION, BootstrapSpec, Measure, Part
from psp.evaluation.tasks.similarity import correlation, mean
from psp.evaluation.testsets import read_score

#: Soft labels have no others.
SCORES = [0.0, 5.0]
_LAYOUTS = [name for name, about in splits.LAYOUTS.items() if about.score is not None]


class Relatedness(splits.Split):
    """Correlations of predicted with human scores, the mean over seeds; one part, ``all``."""

    kind = "relatedness"
    scores = True
    help = "a regression from frozen vectors of pairs to human scores (SentEval, as in Dadas 2022)"

    class Settings(Block):
        """The keys of an entry besides `task`."""

        path: Text = setting(..., "the folder of the training, development and test part; scores are 0 to 5")
        layout: Literal["pairs", "sick"] = setting("pairs", splits.layout_help(["pairs", "sick"]))
        seeds: splits.Seeds = splits.SEEDS

    metrics: ClassVar[Mapping[str, Measure]] = {
        "spearman": Measure("Spearman's correlation, mean over the seeds", CORRELATION),
        "pearson": Measure("Pearson's correlation, mean over the seeds", CORRELATION),
    }

    @cached_property
    def gold(self) -> list[Floats]:
        """The scores of each part, float64 (pairs,)."""
        return [self._gold(part) for part in self.parts]

    def _gold(self, part: splits.Items) -> Floats:
        rows = zip(part.labels, part.lines, strict=True)
        return np.array([read_score(score, part.path, line, SCORES) for score, line in rows], np.float64)

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        from psp.evaluation import probes

        gold, test = self.gold, self.gold[2]
        features = splits.features_of(scorer, self.parts)
        seeds = self.settings["seeds"]
        runs = probes.relate(features, gold[:2], seeds=seeds)
        counts = draw.counts(len(test))
        figures, values = {}, {}
        for name in self.metrics:
            of_seeds = [correlation(name, one.scores, test, counts) for one in runs]
            figures[name] = mean(of_seeds)
            values[name] = [round(one.value, 4) for one in of_seeds if one.value is not None]
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
