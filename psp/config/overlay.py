"""Merge config files as Snakemake does, and replace renamed keys."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping
from typing import Any

log = logging.getLogger(__name__)


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


#: Former keys: in blocks of a name; and under ``""`` in a model's entry and at the top.
RENAMED = {"": {"tenths": "deciles"}, "rank": {"tenths": "deciles"}, "mix": {"shards": "buckets"}}


def with_new_names(node: Any, path: tuple[str, ...] = ()) -> Any:
    """A config with renamed keys under their new names; each renaming is logged once.

    A value under the old name replaces one under the new: it has precedence, since our own files have only the new one.
    """
    if isinstance(node, list):
        return [with_new_names(below, (*path, "")) for below in node]
    if not isinstance(node, Mapping):
        return node
    renewed = {key: with_new_names(below, (*path, str(key))) for key, below in node.items()}
    renamed = RENAMED.get("" if not path or path[:-1] == ("models",) else path[-1], {})
    for old in renamed.keys() & renewed.keys():
        log.warning("%s: is called %s now; the old name still works", ".".join((*path, old)), renamed[old])
        renewed[renamed[old]] = renewed.pop(old)
    return renewed
