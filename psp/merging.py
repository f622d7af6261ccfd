"""Merging of nested mappings, as Snakemake merges config files."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any


def merge(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Put ``top`` over ``base`` as Snakemake does: mappings key by key, all else replaced. Neither is changed."""
    result = copy.deepcopy(dict(base))
    for key, value in top.items():
        if not isinstance(value, Mapping):
            result[key] = copy.deepcopy(value)
        elif value or key not in result:  # an empty mapping says nothing about what is there
            below = result.get(key)
            result[key] = merge(below if isinstance(below, Mapping) else {}, value)
    return result
