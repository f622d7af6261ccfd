"""Read pairs from JSON lines, an object a line, optionally compressed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from psp.corpora.archive import text_lines
from psp.corpora.rows import COLUMNS, Row, bad_row, row_of, undecodable


def read(path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
    """Yield its rows; a line that is no object with texts in these fields is a bad row.

    Raises:
        DataError, PspError: as :func:`psp.corpora.archive.text_lines`.
    """
    for line in text_lines(path, (".jsonl", ".ndjson", ".json")):
        if isinstance(line, bytes):
            yield undecodable(line)
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            yield bad_row(COLUMNS, line, "not a JSON value")
            continue
        yield row_of([_field(value, name) for name in names], names)


def _field(value: Any, name: str) -> Any:
    """A field of an object, or of an object in it (``translation.en``); None if there is none."""
    if not isinstance(value, dict) or name in value:
        return value[name] if isinstance(value, dict) else None
    top, _, below = name.partition(".")
    return _field(value[top], below) if below and top in value else None
