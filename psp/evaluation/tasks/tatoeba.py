"""Tatoeba: retrieve each sentence's translation among up to 1,000 by nearest neighbour (LASER's test sets).

The error rate in % is given for both directions with Wilson 95% intervals. As in LASER, only the neighbour with the
same index is right; errors whose text equals the right translation are also counted as ``duplicates``, to tell them
from real errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from psp.config.blocks.base import Block
from psp.config.blocks.fields import setting
from psp.evaluation import testsets
from psp.evaluation.bootstrap import wilson
from psp.evaluation.metrics import retrieved
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks.base import PERCENT, BootstrapSpec, Measure, Metric, Part, Sources, Task, expanded
from psp.text.languages import name_of_set
from psp.text.published_sets import checksum


class Tatoeba(Task):
    """The parts are the directions of each language, the means of both (``fra``), and the ``mean`` of these."""

    kind = "tatoeba"
    order = 5
    help = "retrieval of translations, LASER's test sets"

    class Settings(Block):
        """The keys of an entry besides `task`."""

        sets: dict[str, Annotated[list[str], Field(min_length=2, max_length=2)]] = setting(
            ..., "for each language its two files: its own side and the English side"
        )

    metrics: ClassVar[Mapping[str, Measure]] = {
        "error": Measure(
            "share of sentences whose nearest neighbour is not their translation", PERCENT, False, "error %"
        )
    }
    paths = frozenset({"sets"})

    @classmethod
    def by_default(cls, sources: Sources) -> Mapping[str, Any] | None:
        known = {
            language: [str(path) for path in paths]
            for language, paths in sources.tatoeba.items()
            if testsets.tatoeba_code(language) and {language, "en"} <= set(sources.languages)
        }
        return {"sets": known} if known else None

    @classmethod
    def skipped(cls, sources: Sources) -> Iterator[tuple[str, str]]:
        if "en" not in sources.languages and not sources.tatoeba:
            yield "Tatoeba", "its sets pair a language with English, which this model does not have"
        for language in sources.tatoeba:
            iso3 = testsets.tatoeba_code(language)
            if iso3 is None:
                yield f"Tatoeba {language}", "Tatoeba has no set for this language"
            elif missing := sorted({language, "en"} - set(sources.languages)):
                yield f"Tatoeba {iso3}-eng", f"not a language of this model: {', '.join(missing)}"

    def _paths(self) -> dict[str, tuple[Path, Path]]:
        sets = self.settings["sets"]
        return {language: (expanded(own), expanded(english)) for language, (own, english) in sets.items()}

    def files(self) -> list[Path]:
        return [path for paths in self._paths().values() for path in paths]

    def sentences(self) -> Iterator[str]:
        for paths in self._paths().values():
            for side in testsets.read_tatoeba(*paths):
                yield from side

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        parts: dict[str, Part] = {}
        means: dict[str, Part] = {}
        for language, paths in self._paths().items():
            iso3 = testsets.tatoeba_code(language) or language
            foreign, english = testsets.read_tatoeba(*paths)
            self.sums[f"{self.kind}/{iso3}"] = checksum(foreign, english)
            similarity = scorer.cross(foreign, english)
            sides = {f"{iso3}-eng": (similarity, english), f"eng-{iso3}": (similarity.T, foreign)}  # query's first
            both = {direction: _direction(*side, draw, direction, iso3) for direction, side in sides.items()}
            parts |= both
            means[iso3] = _mean(both, f"Tatoeba, {name_of_set(iso3)}, both directions")
        return {**parts, **means, "mean": _mean(means, "Tatoeba, mean of the languages")} if parts else {}


def _direction(similarity: Floats, texts: list[str], draw: BootstrapSpec, direction: str, iso3: str) -> Part:
    _, wrong, duplicates = retrieved(similarity, texts)
    pairs, errors = len(texts), int(wrong.sum())
    resampled = 100 * (draw.counts_of_set(pairs, f"tatoeba/{direction}") @ wrong.astype(np.float64)) / pairs
    metric = Metric(100 * errors / pairs, resampled, interval=wilson(errors, pairs))
    return Part(
        pairs,
        {"error": metric},
        {"errors": errors, "duplicates": duplicates},
        test=f"Tatoeba {direction} ({name_of_set(iso3)})",
    )


def _mean(parts: Mapping[str, Part], test: str) -> Part:
    metrics = [part.metrics["error"] for part in parts.values()]
    # The mean of the directions' rounded figures, as shown.
    values = [metric.value or 0.0 for metric in metrics]
    value = float(np.mean([round(one, 4) for one in values] if metrics[0].interval else values))
    drawn: Sequence[Any] = [metric.resampled for metric in metrics]
    items = sum(part.items for part in parts.values())
    return Part(items, {"error": Metric(value, np.mean(drawn, axis=0))}, test=test, mean_of=list(parts))
