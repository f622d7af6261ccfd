"""Classification of texts and of pairs by a multilayer perceptron on frozen vectors, the protocol of Dadas (2022).

That is SentEval's with 50 hidden units: a pair (u, v) enters as [|u - v|, u * v], L2 is chosen on the development part
(:func:`psp.evaluation.probes.classify`). Texts are embedded as they are published, some of them tokenised.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Text, setting
from psp.evaluation.scorers import Scorer
from psp.evaluation.tasks import splits
from psp.evaluation.tasks.base import PERCENT, BootstrapSpec, Measure, Part


class MlpClassification(splits.Split):
    """Accuracy, the mean over seeds; one part, ``all``."""

    kind = "mlp_classification"
    help = "a multilayer perceptron on frozen vectors, of texts or of pairs (SentEval, as in Dadas 2022)"

    class Settings(Block):
        """The keys of an entry besides `task`."""

        path: Text = setting(..., "the folder of the training, development and test part")
        layout: Literal["plain", "pairs", "ppc", "sick"] = setting(
            "plain", splits.layout_help(["plain", "pairs", "ppc", "sick"])
        )
        hidden: int = setting(50, "hidden units", ge=1)
        seeds: splits.Seeds = splits.SEEDS

    metrics: ClassVar[Mapping[str, Measure]] = {
        "accuracy": Measure("share of items with the right label, mean over the seeds", PERCENT)
    }

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        from psp.evaluation import probes

        names, labels = splits.numbered(self.parts)
        features = splits.features_of(scorer, self.parts)
        seeds = self.settings["seeds"]
        runs = probes.classify(features, labels[:2], hidden=self.settings["hidden"], seeds=seeds)
        right = np.array([100.0 * (one.labels == labels[2]) for one in runs])
        further = {
            "classes": len(names),
            "train_items": len(labels[0]),
            "dev_items": len(labels[1]),
            "seeds": list(seeds),
            "accuracies": [round(float(one), 4) for one in right.mean(axis=1)],
            "dev_accuracies": [round(100 * one.dev_accuracy, 4) for one in runs],
            "l2": [one.l2 for one in runs],
            "epochs": [one.epochs for one in runs],
            **splits.also_in_training(self.parts[0], self.parts[2]),
        }
        return {"all": Part(len(labels[2]), {"accuracy": draw.mean(right.mean(axis=0))}, further)}
