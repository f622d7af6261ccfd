"""Drop pairs that hold a sentence of the sets that the model is scored on: what it has seen there it need not know.

Neither the paper nor its code does this; it is our addition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from psp.errors import ConfigError
from psp.filters.contract import Batch, Filter
from psp.keys import KeyFinder, normalised_keys

MODES = ("side", "pair")


class DecontaminateFilter(Filter):
    """Drops pairs equal to what the model is tested or chosen on, by the set it is found in.

    Equal means the same :func:`psp.text.normalised_key`: letters and digits, case aside; where a test sentence has
    neither, nothing is equal to it. With ``mode: side`` a pair goes when either side equals either side of a test
    pair, in whatever language; with ``mode: pair`` when its sides equal the two sides of one test pair, in either
    order. However short a test sentence is, it counts: a frequent phrase ("thank you very much") takes all its pairs
    with it, which the counts by set then show.

    Needs the resource ``tests``: (name of the set, sentence, sentence) of each test pair, as
    :func:`psp.testsets.scored_pairs` gives them. A sentence of several sets is counted under the first.
    """

    name = "decontaminate"
    order = 18
    defaults: ClassVar[Mapping[str, Any]] = {"mode": "side"}

    def __init__(
        self, settings: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(settings, languages, resources)
        mode = self.settings["mode"]
        if mode not in MODES:
            raise self.wrong("mode", mode, f"must be one of {', '.join(MODES)}; write 'mode: side'")
        if resources is None or "tests" not in resources:
            raise ConfigError("filters.decontaminate: needs the test sets' sentences, the resource 'tests'")
        tests: Sequence[tuple[str, str, str]] = resources["tests"]
        names, first, second = (list(column) for column in zip(*tests, strict=True)) if tests else ([], [], [])
        self._sets: dict[str, str] = {}
        self._pairs: dict[tuple[str, str], str] = {}
        for name, *pair in zip(names, normalised_keys(first), normalised_keys(second), strict=True):
            for key in pair:
                self._sets.setdefault(key, name)
            if all(pair):
                self._pairs.setdefault((min(pair), max(pair)), name)
        self._finder = KeyFinder(self._sets)

    def __call__(self, batch: Batch) -> list[str | None]:
        reasons: list[str | None] = [None] * len(batch)
        source = dict(self._finder.find(batch.source))
        target = dict(self._finder.find(batch.target))
        if self.settings["mode"] == "side":
            for row, key in {**target, **source}.items():
                reasons[row] = reason(self._sets[key])
        else:
            for row in source.keys() & target.keys():
                pair = min(source[row], target[row]), max(source[row], target[row])
                if pair in self._pairs:
                    reasons[row] = reason(self._pairs[pair])
        return reasons


def reason(test_set: str) -> str:
    """Why a pair was dropped."""
    return f"{DecontaminateFilter.name}: {test_set}"


def summary(settings: Mapping[str, Any], reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What eval.json says of it: the settings, and the pairs that were dropped from all corpora.

    Args:
        settings: the config's block.
        reports: the filter stage's counts of each corpus.
    """
    found = (count for report in reports for why, count in report["dropped"].items() if why.startswith(reason("")))
    return {**settings, "pairs": sum(found)}
