"""What tables of all kinds share: the columns that an item names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.core.settings import list_of
from psp.corpora.base import CorpusKind

#: The key of an item that names the columns of a table.
TABLE_COLUMNS = list_of(
    items={"type": "string", "minLength": 1},
    at_least=2,
    at_most=3,
    distinct=True,
    help="for a table (Parquet, CSV, JSON lines): the columns of source, target and, if there is one, score; "
    "[translation.en, translation.fr] names fields of a column, but not in CSV (default: source, target)",
)


class TableKind(CorpusKind):
    """A kind whose ``names`` are the columns of source, target and, if there is one, score."""

    @classmethod
    def names(cls, item: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(item.get("columns", ("source", "target")))
