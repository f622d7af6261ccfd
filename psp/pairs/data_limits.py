"""The thresholds of the warnings about data, in a module of their own: the stages that report them do not warn."""

from __future__ import annotations

from psp.core.settings import integer, number

WARN_SHARE = number(
    0.2,
    at_least=0,
    at_most=1,
    inert=True,
    help="a filter that drops a larger share of a corpus is named in the log, at the end of the run, in data.md "
    "and by `psp show`",
)
"""``filters.warn_share``."""

WARN_PAIRS = integer(
    5000,
    at_least=0,
    inert=True,
    help="warn about models with fewer training pairs; with fewer, trained models scored below "
    "untrained embeddings with SIF weights on similarity (docs/measurements.md)",
)
"""``mix.warn_pairs``."""
