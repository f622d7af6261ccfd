"""Drop pairs that contain a sentence of a test or development set, so that the model is not tested on training text.

Neither the paper nor its code does this; it is our addition.
"""

from __future__ import annotations

from collections.abc import Sequence

from psp.core.errors import ConfigError
from psp.pairs.filters.base import Batch, Filter
from psp.text.keys import KeyFinder, normalised_keys


class DecontaminateFilter(Filter):
    """Drops pairs found in the sets for testing or model selection; the reason names the set.

    Texts match if they have the same :func:`psp.text.keys.normalised_key`: letters and digits, ignoring case. A test
    sentence with neither matches nothing. ``mode: side`` drops a pair if either side matches either side of a test
    pair, in any language; ``mode: pair`` if its sides match both sides of one test pair, in either order. Short test
    sentences count too: a frequent phrase ("thank you very much") removes all its pairs, which the counts by set show.

    Needs the resource ``tests``: (name of the set, sentence, sentence) of each test pair, as returned by
    :func:`psp.evaluation.testsets.scored_pairs`. A sentence of several sets is counted under the first.
    """

    name = "decontaminate"
    order = 18

    def set_up(self) -> None:
        if "tests" not in self.resources:
            raise ConfigError("filters.decontaminate: needs the test sets' sentences, the resource 'tests'")
        tests: Sequence[tuple[str, str, str]] = self.resources["tests"]
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
    """The reason for dropping a pair."""
    return f"{DecontaminateFilter.name}: {test_set}"
