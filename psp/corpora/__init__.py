"""Corpora: download them, and read publishers' archives and the user's own files.

Modules are imported lazily, so that reading an archive does not need what downloading needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psp.corpora.rows import Row


def open_corpus(
    kind: str, path: Path | str, corpus: str = "", names: tuple[str, ...] = (), *, max_bad_rows: float | None = None
) -> Iterator[Row]:
    r"""Read a corpus of any kind, row by row.

    Args:
        kind: the name of one of :mod:`psp.corpora.kinds`.
        path: the file.
        corpus: the corpus's name, as its publisher writes it.
        names: as :meth:`psp.corpora.base.CorpusKind.names` gives them.
        max_bad_rows: share of rows that may be malformed; None for :data:`psp.corpora.rows.MAX_BAD_ROWS`.

    Yields:
        (source, target), with a score, or a score and a translation score, for every row of a corpus that has them; or
        a :class:`psp.corpora.rows.BadRow` for a malformed row.

    Raises:
        DataError, PspError: as the kind's :meth:`psp.corpora.base.CorpusKind.read`, or
            :func:`psp.corpora.rows.tolerated`.
        ValueError: there is no such kind.
    """
    from psp.corpora import kinds, rows

    limit = rows.MAX_BAD_ROWS if max_bad_rows is None else max_bad_rows
    return rows.tolerated(kinds.of_kind(kind).read(path, corpus, names), path, limit)
