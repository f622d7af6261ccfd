"""The thresholds of the warnings about data, apart from the code that warns: stages report the thresholds only."""

from __future__ import annotations

from psp.core.settings import integer, number

WARN_SHARE = number(
    0.2,
    at_least=0,
    at_most=1,
    inert=True,
    help="warn, in the log, at the end of the run, in data.md and in `psp show`, of a filter that drops a larger share "
    "of a corpus",
)
"""``filters.warn_share``."""

WARN_PAIRS = integer(
    5000,
    at_least=0,
    inert=True,
    help="warn about models with fewer training pairs; on similarity, models trained on fewer scored below untrained "
    "embeddings with SIF weights (docs/results.md, Few pairs)",
)
"""``mix.warn_pairs``."""
