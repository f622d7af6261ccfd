"""Pair classification: whether two sentences are paraphrases, by their cosine.

Average precision needs no threshold. Accuracy does: its threshold is chosen on the training part or, without one, on
the scored set itself, as in MTEB, which flatters every system; the report says which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Text, setting
from psp.core.errors import DataError
from psp.evaluation import bootstrap
from psp.evaluation.metrics import average_precision
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks.base import PERCENT, BootstrapSpec, Measure, Metric, Part, Task, columns
from psp.evaluation.testsets import StsSet, as_set, sentence


class PairLayout(NamedTuple):
    """Columns of label and sentences, whether there is a header, and the labels of other pairs and of paraphrases."""

    columns: tuple[str | int, ...]
    header: bool
    others: tuple[str, ...] = ("0",)
    paraphrases: tuple[str, ...] = ("1",)


LAYOUTS: Mapping[str, PairLayout] = {
    "plain": PairLayout((0, 1, 2), header=False),
    "pawsx": PairLayout(("label", "sentence1", "sentence2"), header=True),
    "mrpc": PairLayout(("Quality", "#1 String", "#2 String"), header=True),
    "ppc": PairLayout(("label", "sentence_A", "sentence_B"), True, ("3",), ("1", "2")),
    "sick": PairLayout(
        ("entailment_judgment", "sentence_A", "sentence_B"), True, ("NEUTRAL", "CONTRADICTION"), ("ENTAILMENT",)
    ),
}


class PairClassification(Task):
    """Paraphrases or not; one part, ``all``."""

    kind = "pair_classification"
    help = "paraphrases told from other pairs by their cosine"
    chosen_by = "average_precision"

    class Settings(Block):
        """The keys of an entry besides `task`."""

        path: Text = setting(..., "the file to score")
        layout: Literal["plain", "pawsx", "mrpc", "ppc", "sick"] = setting(
            "plain",
            "plain: lines `label \\t sentence \\t sentence`, label 0 or 1; pawsx, mrpc: as published; ppc: the "
            "Polish Paraphrase Corpus, exact and close ones against the others; sick: SICK and CDSCorpus, "
            "entailment against the others",
        )
        train: str | None = setting(None, "a file of the same layout, on which the threshold is chosen")

    metrics: ClassVar[Mapping[str, Measure]] = {
        "average_precision": Measure("area under the precision-recall curve", PERCENT),
        "accuracy": Measure("share of pairs on the right side of the threshold", PERCENT),
    }

    paths = frozenset({"path", "train"})

    def files(self) -> list[Path]:
        return [self.path(key) for key in ("path", "train") if self.settings[key]]

    @cached_property
    def parts(self) -> list[StsSet]:
        """The pairs to score, then those of the training part, if any; paraphrases have the score 1, others 0."""
        return [self._read(path) for path in self.files()]

    def _read(self, path: Path) -> StsSet:
        layout = LAYOUTS[self.settings["layout"]]
        rows = []
        for line, (label, a, b) in columns(path, layout.columns, header=layout.header):
            if label not in layout.paraphrases + layout.others:
                known = " nor ".join(layout.others + layout.paraphrases)
                raise DataError(f"the label {label!r} is neither {known}", path, line)
            rows.append((float(label in layout.paraphrases), sentence(a, path, line), sentence(b, path, line)))
        if len({label for label, _, _ in rows}) < 2:
            raise DataError("all labels are the same; both kinds of pairs are needed", path)
        return as_set(self.place, rows, path)

    def sentences(self) -> Iterator[str]:
        yield from self.parts[0].a
        yield from self.parts[0].b

    def judged(self) -> StsSet:
        return self.parts[0]

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        cosines = [np.asarray(scorer.pairwise(part.a, part.b), np.float64) for part in self.parts]
        label, x = self.parts[0].gold > 0, cosines[0]
        threshold = best_threshold(cosines[-1], self.parts[-1].gold > 0)
        precision = Metric(
            100 * average_precision(x, label),
            100 * average_precisions(draw.counts(len(x)), x, label),
        )
        figures = {"average_precision": precision, "accuracy": draw.mean(100.0 * ((x >= threshold) == label))}
        if np.ptp(x) <= 1e-12:
            figures["average_precision"] = Metric(None, why="the system finds every pair equally similar")
        chosen = "train" if len(self.parts) > 1 else "the scored set itself"
        return {"all": Part(len(x), figures, {"threshold": round(threshold, 4), "threshold_chosen_on": chosen})}


def best_threshold(x: Floats, label: npt.NDArray[np.bool_]) -> float:
    """The threshold above which calling pairs paraphrases makes the fewest errors: halfway between two of ``x``.

    Of equally good thresholds, the lowest; infinite if it is best to call none a paraphrase.
    """
    values, place = np.unique(x, return_inverse=True)
    paraphrases, others = (np.bincount(place[which], minlength=len(values)) for which in (label, ~label))
    # Below the k-th value: missed paraphrases; from it on: others taken for paraphrases.
    errors = np.concatenate([[0], np.cumsum(paraphrases)]) + np.concatenate([np.cumsum(others[::-1])[::-1], [0]])
    best = int(np.argmin(errors))
    if best == len(values):
        return float(values[-1] + 1)
    return float(values[0] - 1 if best == 0 else (values[best - 1] + values[best]) / 2)


def average_precisions(counts: npt.NDArray[np.number], x: Floats, label: npt.NDArray[np.bool_]) -> Floats:
    """Average precision in each resample: the sum over thresholds of precision times the gain in recall.

    Pairs of equal value share a threshold, as in scikit-learn.

    Args:
        counts: how often each pair occurs, (resamples, pairs).
        x: the pairs' values, float64 (pairs,).
        label: which are paraphrases, bool (pairs,).

    Returns:
        float64 (resamples,); NaN where no paraphrase was drawn.
    """
    values, place = np.unique(-x, return_inverse=True)
    order = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[order], np.arange(len(values)))
    out = np.empty(len(counts))
    step = max(1, bootstrap.BLOCK // len(x))
    for start in range(0, len(counts), step):
        weights = np.asarray(counts[start : start + step], np.float64)[:, order]
        drawn = np.cumsum(np.add.reduceat(weights, starts, axis=1), axis=1)
        right = np.cumsum(np.add.reduceat(weights * label[order], starts, axis=1), axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            gain = np.diff(right, axis=1, prepend=0.0) / right[:, -1:]
            # Before the first pair drawn, precision is undefined and there is no gain.
            out[start : start + step] = np.where(drawn > 0, gain * right / drawn, 0.0).sum(axis=1)
            out[start : start + step][right[:, -1] == 0] = np.nan
    return out
