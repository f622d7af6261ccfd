"""Read text without translations or paraphrases: one sentence a line, optionally compressed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from psp.corpora.archive import text_lines
from psp.corpora.rows import COLUMNS, Row, bad_row, undecodable


def read(path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
    """Yield each line of a file as a pair of the sentence with itself, unmodified.

    Such pairs go through every stage like any others; filters that compare the two sides do not apply
    (:attr:`psp.pairs.filters.base.Filter.compares`). A line with a tab is a bad row: a file of them has columns, so
    it is not text. A byte order mark is dropped.

    Raises:
        DataError, PspError: as :func:`psp.corpora.archive.text_lines`.
    """
    for line in text_lines(path):
        if isinstance(line, bytes):
            yield undecodable(line)
        elif "\t" in line:
            problem = "a tab in a line, but text has one sentence a line; name pairs as `path:` instead of `text:`"
            yield bad_row(COLUMNS, line, problem)
        else:
            yield line, line
