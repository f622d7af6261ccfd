"""Read pairs from a file of two columns with a semicolon between them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from psp.corpora.rows import BadRow, Row
from psp.text.lines import read_lines


def read(path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
    """Yield its rows."""
    with Path(path).open("rb") as file:
        for line in read_lines(file, path):
            source, _, target = line.partition(";")
            yield (source, target) if target else BadRow("row: columns", line[:100])
