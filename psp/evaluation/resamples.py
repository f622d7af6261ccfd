"""Figures in each bootstrap resample, kept beside eval.json, and differences between systems with their intervals.

All systems are scored on the same resamples of a test set, so a difference is taken in each of them (paired bootstrap):
its interval is much narrower than those of the two figures, since both rise and fall with the pairs that were drawn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from psp.core.errors import DataError
from psp.core.files import atomic
from psp.evaluation import bootstrap
from psp.evaluation.scorers import Floats

#: Decimal places of a difference.
_DIGITS = 4


def write(path: Path | str, resampled: Mapping[str, Floats], conditions: Mapping[str, Any]) -> None:
    """Write each figure's resamples, float64 (resamples,), and the conditions of the bootstrap; atomically."""
    # One entry of metadata: the order of several is not fixed, and files are compared byte by byte.
    content = save(dict(resampled), metadata={"conditions": json.dumps(dict(conditions), sort_keys=True)})
    with atomic(path) as temporary:
        temporary.write_bytes(content)


def read(path: Path | str, conditions: Mapping[str, Any]) -> dict[str, Floats]:
    """Read what :func:`write` wrote.

    Raises:
        DataError: the file is missing, damaged, or from another bootstrap than ``conditions``.
    """
    try:
        with safe_open(path, "numpy") as file:
            drawn = json.loads((file.metadata() or {}).get("conditions", "null"))
            draws = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (no mapping)
    except (OSError, SafetensorError, json.JSONDecodeError) as error:
        raise DataError(f"cannot be read ({error}); delete it and make it again", path) from None
    if drawn != dict(conditions):
        raise DataError(f"from another bootstrap ({drawn}) than {dict(conditions)}; delete it and make it again", path)
    return draws


def difference(
    values: Sequence[float | None],
    resampled: Sequence[Floats | None],
    others: Sequence[float | None],
    other: Sequence[Floats | None],
) -> dict[str, Any]:
    """Subtract the mean of some runs' figure from the mean of others', with the paired 95% interval.

    Args:
        values, resampled: the figure of each run (of each seed, say), and its resamples.
        others, other: the same of the runs that it is subtracted from.

    Returns:
        ``difference`` and ``interval``; both None where a figure is undefined.
    """
    if not values or not others or any(value is None for value in (*values, *others)):
        return {"difference": None, "interval": None}

    def lost(mine: Sequence[Any], theirs: Sequence[Any]) -> Any:
        return np.mean(theirs, axis=0) - np.mean(mine, axis=0)

    whole = all(drawn is not None for drawn in (*resampled, *other))
    ends = bootstrap.interval(lost(resampled, other)) if whole else None
    return {
        "difference": round(float(lost(values, others)), _DIGITS) + 0.0,  # no -0.0
        "interval": None if ends is None else [end + 0.0 for end in ends],
    }


Figures = Mapping[str, float | None]
Drawn = Mapping[str, Floats]


def differences(figures: Figures, resampled: Drawn, others: Figures, other: Drawn) -> dict[str, Any]:
    """Subtract a system's figures from another's, by name; see :func:`difference`."""
    return differences_of_runs([figures], [resampled], [others], [other])


def differences_of_runs(
    figures: Sequence[Figures], resampled: Sequence[Drawn], others: Sequence[Figures], other: Sequence[Drawn]
) -> dict[str, Any]:
    """Subtract the figures of some runs, which all have the same ones, from those of others, by name."""
    every: list[Sequence[Mapping[str, Any]]] = [figures, resampled, others, other]
    return {name: difference(*([one.get(name) for one in runs] for runs in every)) for name in figures[0]}
