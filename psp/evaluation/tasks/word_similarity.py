"""Word similarity: Spearman's correlation of a system's similarities of words with human judgements.

A word is scored as a text of its own: in a model of words its vector is its row of the embedding matrix, in a model of
subwords the mean over its pieces. In ``all``, a pair with an unknown word has similarity 0; the part ``covered`` leaves
such pairs out. Known words depend on the system's data, so ``covered`` compares systems on different pairs.
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
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks.base import CORRELATION, BootstrapSpec, Measure, Part, Task, lines
from psp.evaluation.tasks.similarity import correlation
from psp.evaluation.testsets import read_score

ALL, COVERED = "all", "covered"


class WordLayout(NamedTuple):
    """The layout of a word set's file.

    Attributes:
        header: the first columns' names, which the file's first line has; none for a file without a header.
        columns: of a line.
        score: the column of the score; the first two hold the words.
        help: for the settings.
    """

    header: tuple[str, ...]
    columns: int
    score: int
    help: str


LAYOUTS = {
    "plain": WordLayout((), 3, 2, "lines `word \\t word \\t score`"),
    "simlex": WordLayout(("word1", "word2", "POS", "SimLex999"), 10, 3, "SimLex-999 as published, with a header"),
    "simverb": WordLayout(("Word 1", "Word 2", "Score"), 3, 2, "plain with the header `Word 1 \\t Word 2 \\t Score`"),
}


class WordSimilarity(Task):
    """Correlations over all pairs of words, and over those that the system knows."""

    kind = "word_similarity"
    help = "correlation of the similarity of words with human scores"

    class Settings(Block):
        """The keys of an entry besides `task`."""

        path: Text = setting(..., "the file")
        layout: Literal["plain", "simlex", "simverb"] = setting(
            "plain", "; ".join(f"{name}: {layout.help}" for name, layout in LAYOUTS.items())
        )

    metrics: ClassVar[Mapping[str, Measure]] = {"spearman": Measure("Spearman's correlation", CORRELATION)}

    def files(self) -> list[Path]:
        return [self.path("path")]

    @cached_property
    def data(self) -> tuple[list[str], list[str], Floats]:
        """The first words, the second words, and the scores, float64.

        Raises:
            DataError: the file is missing or malformed (file and line are named).
        """
        path, layout = self.path("path"), LAYOUTS[self.settings["layout"]]
        rows = lines(path)
        if layout.header:
            given = tuple(rows[0].split("\t"))
            if given[: len(layout.header)] != layout.header:
                raise DataError(
                    f"the header is {' | '.join(given)}, not {' | '.join(layout.header)} as in the layout "
                    f"{self.settings['layout']}; without a header, write `layout: plain`",
                    path,
                    1,
                )
        read = []
        for line, row in enumerate(rows[bool(layout.header) :], start=1 + bool(layout.header)):
            cells = row.split("\t")
            if len(cells) != layout.columns:
                raise DataError(f"{len(cells)} columns instead of {layout.columns}, separated by tabs", path, line)
            if not (cells[0].strip() and cells[1].strip()):
                raise DataError("a word is missing", path, line)
            if line == 1 and (other := _with_header(cells)):
                raise DataError(f"a header; write `layout: {other}`, or remove it", path, line)
            read.append((cells[0].strip(), cells[1].strip(), read_score(cells[layout.score], path, line)))
        if not read:
            raise DataError("has only a header", path)
        first, second, scores = zip(*read, strict=True)
        return list(first), list(second), np.array(scores, np.float64)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of words."""
        first, second, _ = self.data
        return list(zip(first, second, strict=True))

    def sentences(self) -> Iterator[str]:
        first, second, _ = self.data
        yield from first
        yield from second

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        first, second, gold = self.data
        similarity, covered = _similarities(scorer, first, second)
        further, parts = {"covered": int(covered.sum())}, {}
        for name, rows in {ALL: np.ones_like(covered), COVERED: covered}.items():
            if items := int(rows.sum()):
                counts = draw.counts(items, ALL)  # the same for both parts of a system that covers all
                figure = correlation("spearman", similarity[rows], gold[rows], counts)
                parts[name] = Part(items, {"spearman": figure}, further, own_items=name == COVERED)
        return parts


def _with_header(cells: list[str]) -> str | None:
    """The layout whose header this is, if any."""
    return next((name for name, layout in LAYOUTS.items() if layout.header and tuple(cells) == layout.header), None)


def _similarities(scorer: Scorer, a: list[str], b: list[str]) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The similarities, and which pairs the system covers: as it reports itself, or else those with two known words."""
    similarity = np.asarray(scorer.pairwise(a, b), np.float64)
    if covered := getattr(scorer, "covered", None):
        return similarity, covered(a, b)
    if known := getattr(scorer, "known", None):
        both = known([*a, *b])
        covered = both[: len(a)] & both[len(a) :]
        return np.where(covered, similarity, 0.0), covered
    return similarity, np.ones(len(a), bool)
