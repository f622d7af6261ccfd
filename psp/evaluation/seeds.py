"""A figure over several seeds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any


def summary(values: Sequence[float | None]) -> dict[str, Any]:
    """Return the values with mean and sample standard deviation; None if a value, or a second seed, is missing."""
    numbers = [value for value in values if value is not None]
    whole = len(numbers) == len(values)
    return {
        "values": list(values),
        "mean": round(statistics.fmean(numbers), 4) if whole else None,
        "deviation": round(statistics.stdev(numbers), 4) if whole and len(numbers) > 1 else None,
    }
