"""Merge config files as Snakemake does."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any


def merge(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Override ``base`` with ``top`` as Snakemake does: merge mappings by key, replace all else. Changes neither."""
    result = copy.deepcopy(dict(base))
    for key, value in top.items():
        if not isinstance(value, Mapping):
            result[key] = copy.deepcopy(value)
        elif value or key not in result:  # an empty mapping overrides nothing
            below = result.get(key)
            result[key] = merge(below if isinstance(below, Mapping) else {}, value)
    return result


def differences(base: Any, value: Any, key: str) -> dict[str, Any]:
    """Dotted keys below ``key`` whose values differ from ``base``, with those values."""
    if isinstance(base, Mapping) and isinstance(value, Mapping) and set(base) <= set(value):
        changed: dict[str, Any] = {}
        for name in value:
            changed |= differences(base.get(name), value[name], f"{key}.{name}")
        return changed
    return {} if base == value else {key: value}
