"""Tatoeba: retrieve each sentence's translation among up to 1,000 by nearest neighbour (LASER's test sets).

The error rate in % is given for both directions with Wilson 95% intervals. As in LASER, only the neighbour with the
same index is right; errors whose text equals the right translation are also counted as ``duplicates``, to tell them
from real errors.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from psp.core.settings import Setting, table
from psp.evaluation import testsets
from psp.evaluation.bootstrap import wilson
from psp.evaluation.metrics import count_errors, wrong
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks.base import PERCENT, BootstrapSpec, Measure, Metric, Part, Sources, Task
from psp.text.languages import name_of_set
from psp.text.published_sets import checksum


class Tatoeba(Task):
    """The parts are the directions of each language, the means of both (``fra``), and the ``mean`` of these."""

    kind = "tatoeba"
    order = 5
    help = "retrieval of translations, LASER's test sets"
    declared: ClassVar[Mapping[str, Setting]] = {
        "sets": table(
            values={"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
            help="for each language its two files: its own side and the English side",
        )
    }
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
        expanded = {
            language: [Path(os.path.expandvars(path)).expanduser() for path in paths]
            for language, paths in self.settings["sets"].items()
        }
        return {language: (paths[0], paths[1]) for language, paths in expanded.items()}

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
            both = {
                direction: _direction(
                    *nearest, draw.counts_of_set(len(foreign), f"tatoeba/{direction}"), direction, iso3
                )
                for direction, nearest in search(scorer, foreign, english, iso3).items()
            }
            parts |= both
            means[iso3] = _mean(both, f"Tatoeba, {name_of_set(iso3)}, both directions")
        return {**parts, **means, "mean": _mean(means, "Tatoeba, mean of the languages")} if parts else {}


def search(
    scorer: Scorer, foreign: list[str], english: list[str], iso3: str
) -> dict[str, tuple[tuple[int, int, int], npt.NDArray[np.bool_]]]:
    """Each direction's errors, duplicates and pairs, and wrong queries, bool (pairs,); the query's language first."""
    similarity = scorer.cross(foreign, english)
    return {
        f"{iso3}-eng": (count_errors(similarity, english), wrong(similarity)),
        f"eng-{iso3}": (count_errors(similarity.T, foreign), wrong(similarity.T)),
    }


def _direction(
    counted: tuple[int, int, int], is_wrong: npt.NDArray[np.bool_], counts: Any, direction: str, iso3: str
) -> Part:
    errors, duplicates, pairs = counted
    resampled: Floats = 100 * (counts @ is_wrong.astype(np.float64)) / len(is_wrong)
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
