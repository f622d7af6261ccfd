"""Keep pairs whose paraphrase score, a column of their corpus, is in a range (paper, section 3.1: 0.4 to 1.0).

For corpora without the column a score must be computed; that is another filter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from psp.errors import ConfigError
from psp.filters.contract import Batch, Filter


class ScoreFilter(Filter):
    """Drops pairs with a score below ``min`` (too little in common) or above ``max`` (too much).

    Raises:
        ConfigError: at the first batch, where the corpus carries no scores.
    """

    name = "score"
    order = 5
    defaults: ClassVar[Mapping[str, Any]] = {"min": 0.4, "max": 1.0}

    def __init__(
        self, settings: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Path | str] | None = None
    ) -> None:
        super().__init__(settings, languages, resources)
        self.min, self.max = self.settings["min"], self.settings["max"]
        for key in ("min", "max"):
            value = self.settings[key]
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise self.wrong(key, value, "must be a number")
        if self.max < self.min:
            raise self.wrong("max", self.max, f"must not be below min, which is {self.min}")

    def __call__(self, batch: Batch) -> list[str | None]:
        if not len(batch):
            return []
        if batch.score is None:
            raise ConfigError(NO_SCORES)
        return [
            None if self.min <= score <= self.max else "score: too low" if score < self.min else "score: too high"
            for score in batch.score
        ]


NO_SCORES = (
    "filters.score: enabled, but the corpus carries no scores; switch it on for corpora that do, "
    "under corpora.<name>.filters, or write `score: {enabled: false}`"
)
