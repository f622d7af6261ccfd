"""A task that psp has not: whether a text is nearer to one that means the same than to another.

Named in a config as ``evaluate: {tasks: {mine: {task: "triplets:Triplets", path: triplets.tsv}}}``, this file being in
the working directory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Text, setting
from psp.evaluation.scorers import Scorer
from psp.evaluation.tasks.base import PERCENT, BootstrapSpec, Measure, Part, Task, columns


class Triplets(Task):
    """The share of texts that are nearer to the second column's than to the third's."""

    class Settings(Block):
        """The keys of an entry besides `task`."""

        path: Text = setting(..., "lines `text \\t near \\t far`")
        margin: float = setting(0, "by how much it must be nearer", ge=0)

    metrics: ClassVar[Mapping[str, Measure]] = {"accuracy": Measure("texts that are nearer to the near one", PERCENT)}

    @cached_property
    def rows(self) -> list[list[str]]:
        """The three texts of each line."""
        return [cells for _, cells in columns(self.path("path"), (0, 1, 2), header=False)]

    def files(self) -> list[Path]:
        return [self.path("path")]

    def sentences(self) -> Iterator[str]:
        for row in self.rows:
            yield from row

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        text, near, far = (list(column) for column in zip(*self.rows, strict=True))
        right = scorer.pairwise(text, near) > scorer.pairwise(text, far) + self.settings["margin"]
        return {"all": Part(len(right), {"accuracy": draw.mean(100.0 * right)})}
