"""Keep pairs whose paraphrase score, a column of the corpus, is in a range (paper, section 3.1: 0.4 to 1.0).

For corpora without that column, the filter ``similarity`` computes a score.
"""

from __future__ import annotations

from psp.core.errors import ConfigError
from psp.pairs.filters.base import Batch, Filter


class ScoreFilter(Filter):
    """Drops pairs with a score below ``min`` (too little in common) or above ``max`` (too much).

    Raises:
        ConfigError: at the first batch, if the corpus has no scores.
    """

    name = "score"
    order = 5

    def __call__(self, batch: Batch) -> list[str | None]:
        if not len(batch):
            return []
        if batch.score is None:
            raise ConfigError(NO_SCORES)
        least, most = self.settings["min"], self.settings["max"]
        return [
            None if least <= score <= most else "score: too low" if score < least else "score: too high"
            for score in batch.score
        ]


NO_SCORES = (
    "filters.score: enabled, but the corpus carries no scores; switch it on for corpora that do, "
    "under corpora.<name>.filters, or write `score: {enabled: false}`"
)
