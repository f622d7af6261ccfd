"""A task that psp has not, and that every model is scored on: whether a vector's length tells that of its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from psp.config.blocks.base import Block
from psp.config.blocks.fields import setting
from psp.evaluation.scorers import Scorer
from psp.evaluation.tasks.base import CORRELATION, BootstrapSpec, Measure, Metric, Part, Sources, Task, embedded
from psp.evaluation.testsets import read_file


class Lengths(Task):
    kind = "lengths"
    order = 6
    help = "correlation of a vector's length with that of its text"

    class Settings(Block):
        """The keys of an entry besides `task`."""

        files: dict[str, str] = setting(..., "name: path")

    metrics: ClassVar[Mapping[str, Measure]] = {"spearman": Measure("Spearman's correlation", CORRELATION)}
    paths = frozenset({"files"})

    @classmethod
    def by_default(cls, sources: Sources) -> Mapping[str, Any] | None:
        return {"files": dict(sources.files)} if sources.files else None

    def files(self) -> list[Path]:
        return [Path(path) for path in self.settings["files"].values()]

    def sentences(self) -> Iterator[str]:
        for path in self.files():
            yield from read_file(path).a

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        from scipy import stats

        found = {}
        for name, path in zip(self.settings["files"], self.files(), strict=True):
            texts = read_file(path).a
            lengths = np.linalg.norm(embedded(scorer, texts), axis=1)
            value = 100 * float(stats.spearmanr(lengths, [len(text) for text in texts]).statistic)
            found[name] = Part(len(texts), {"spearman": Metric(value)}, test=f"lengths in {name}")
        return found
