"""Drop pairs that hold a sentence of the sets that the model is scored on: what it has seen there it need not know.

Neither the paper nor its code does this; it is our addition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from psp.core.errors import ConfigError
from psp.core.settings import Setting, choice, flag
from psp.pairs.filters.contract import Batch, Filter
from psp.text.keys import KeyFinder, normalised_keys


class DecontaminateFilter(Filter):
    """Drops pairs equal to what the model is tested or chosen on, by the set it is found in.

    Equal means the same :func:`psp.text.keys.normalised_key`: letters and digits, case aside; where a test sentence
    has neither, nothing is equal to it. With ``mode: side`` a pair goes when either side equals either side of a test
    pair, in whatever language; with ``mode: pair`` when its sides equal the two sides of one test pair, in either
    order. However short a test sentence is, it counts: a frequent phrase ("thank you very much") takes all its pairs
    with it, which the counts by set then show.

    Needs the resource ``tests``: (name of the set, sentence, sentence) of each test pair, as
    :func:`psp.evaluation.testsets.scored_pairs` gives them. A sentence of several sets is counted under the first.
    """

    name = "decontaminate"
    order = 18
    help = "sentences of the sets that this model is tested or chosen on"
    declared: ClassVar[Mapping[str, Setting]] = {
        "enabled": flag(
            True,
            recipes={"paper": False, "code": False},
            help="drop a pair that is in a test or development set (the same letters and digits, case aside)",
        ),
        "mode": choice(
            "side",
            ["side", "pair"],
            help="`side`: either side is a sentence of a set; `pair`: the two sides are one pair of a set",
        ),
    }

    def __init__(
        self, settings: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(settings, languages, resources)
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
