"""The user's own STS files, those of ``evaluate.files``: lines ``score \\t sentence \\t sentence``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from psp.config.blocks.base import Block
from psp.config.blocks.fields import setting
from psp.evaluation.scorers import Scorer
from psp.evaluation.tasks.base import BootstrapSpec, Part, Sources, Task, expanded
from psp.evaluation.tasks.similarity import Similarity, correlations, similarities
from psp.evaluation.testsets import StsSet, read_file
from psp.text.published_sets import checksum


class Files(Task):
    """Correlations with gold scores; each file is a part."""

    kind = "files"
    order = 4
    help = "correlation of cosines with the scores of your own files"

    class Settings(Block):
        """The keys of an entry besides `task`."""

        files: dict[str, str] = setting(..., "name: path, with lines `score \\t sentence \\t sentence`")

    metrics = Similarity.metrics
    paths = frozenset({"files"})

    @classmethod
    def by_default(cls, sources: Sources) -> Mapping[str, Any] | None:
        return {"files": dict(sources.files)} if sources.files else None

    def files(self) -> list[Path]:
        return [expanded(path) for path in self.settings["files"].values()]

    @cached_property
    def sets(self) -> list[StsSet]:
        """The data sets, by their names in the config."""
        return [read_file(path, name) for name, path in zip(self.settings["files"], self.files(), strict=True)]

    def sentences(self) -> Iterator[str]:
        for data in self.sets:
            yield from data.a
            yield from data.b

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        parts = {}
        for data in self.sets:
            name = f"files/{data.name}"
            self.sums[name] = checksum(data.a, data.b, data.gold)
            counts = draw.counts_of_set(len(data), name)
            parts[data.name] = Part(
                len(data), correlations(similarities(scorer, data), data.gold, counts), test=data.name
            )
        return parts
