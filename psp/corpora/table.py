"""What tables of all kinds share: the columns that an item names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.corpora.base import CorpusKind


class TableKind(CorpusKind):
    """A kind whose ``names`` are the columns of source, target and, if there is one, score."""

    @classmethod
    def names(cls, item: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(item.get("columns", ("source", "target")))
