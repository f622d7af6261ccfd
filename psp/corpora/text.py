"""Read text without translations or paraphrases: one sentence a line, optionally compressed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

from psp.core.errors import DataError
from psp.core.settings import Setting
from psp.core.settings import text as setting
from psp.corpora.base import CorpusKind, register
from psp.corpora.local import lines_of
from psp.corpora.rows import COLUMNS, FIRST_ROWS, BadRow, Row


@register
class Text(CorpusKind):
    """A file of sentences."""

    kind = "text"
    item: ClassVar[Mapping[str, Setting]] = {
        "text": setting(
            at_least=1,
            help="instead of a name or path: a file of sentences, one per line, for a model with a `teacher`; plain, "
            "or .gz, .zst, .zip",
        )
    }
    called = "of sentences, `text`"
    is_text = True
    without_scores = "files of sentences"

    @classmethod
    def read(cls, path: Path | str, corpus: str, names: tuple[str, ...], max_bad_rows: float) -> Iterator[Row]:
        """Yield each line of a file as a pair of the sentence with itself, unmodified.

        Such pairs go through every stage like any others; filters that compare the two sides do not apply
        (:attr:`psp.pairs.filters.base.Filter.compares`).

        Args:
            path: the file; .gz, .zst or .zip (one member, .txt or .tsv), or else plain. A byte order mark is dropped.
            max_bad_rows: maximum share of lines with a tab among those so far, as in
                :func:`psp.corpora.rows.parse_rows`: such a file has columns, so it is not text.

        Yields:
            (sentence, sentence), or a :class:`psp.corpora.rows.BadRow` for a line with a tab.

        Raises:
            DataError: the file is missing, damaged or truncated, a line is not UTF-8, or too many lines have a tab;
                possibly after lines were yielded.
            PspError: the package for .zst is not installed.
        """
        bad = first = 0
        for number, line in enumerate(lines_of(path), start=1):
            if "\t" not in line:
                yield line, line
                continue
            bad += 1
            first = first or number
            if bad > max_bad_rows * max(number, FIRST_ROWS):
                raise DataError(
                    f"a tab in a line; {bad:,} of the first {number:,} lines have one, starting with this one, but "
                    "text has one sentence a line: name pairs as `path:` instead of `text:`, fix the file, or raise "
                    "filters.max_bad_rows",
                    path,
                    first,
                )
            yield BadRow.of_line(COLUMNS, line)
