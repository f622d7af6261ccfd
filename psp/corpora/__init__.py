"""Corpora: download them, and read publishers' archives and the user's own files, each kind by its module.

A kind of one's own takes an entry in :data:`psp.config.blocks.corpora.KINDS`, a key of an item there, and a module here
with ``read(path, corpus, names)``, which yields rows (:mod:`psp.corpora.rows`).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from psp.config.blocks.corpora import KINDS

if TYPE_CHECKING:
    from psp.corpora.rows import Row

#: The modules of kinds that are not called like them.
_MODULES = {"csv": "csv_file", "translated": "local"}


def open_corpus(
    kind: str, path: Path | str, corpus: str = "", names: tuple[str, ...] = (), *, max_bad_rows: float | None = None
) -> Iterator[Row]:
    r"""Read a corpus of any kind, row by row.

    Args:
        kind: one of :data:`psp.config.blocks.corpora.KINDS`.
        path: the file.
        corpus: the corpus's name, as its publisher writes it.
        names: as :meth:`psp.config.blocks.corpora.CorpusKind.names` gives them.
        max_bad_rows: share of rows that may be malformed; None for :data:`psp.corpora.rows.MAX_BAD_ROWS`.

    Yields:
        (source, target), with a score, or a score and a translation score, for every row of a corpus that has them; or
        a :class:`psp.corpora.rows.BadRow` for a malformed row.

    Raises:
        DataError: the file is missing, damaged, or of another layout; possibly after rows were yielded; or as
            :func:`psp.corpora.rows.tolerated`.
        PspError: a package is missing.
    """
    from psp.corpora import rows

    limit = rows.MAX_BAD_ROWS if max_bad_rows is None else max_bad_rows
    return rows.tolerated(reader(kind).read(path, corpus, names), path, limit)


def count_pairs(kind: str, path: Path, corpus: str = "", names: tuple[str, ...] = ()) -> tuple[int, bool]:
    """The number of pairs, and whether it is exact: by default the number of lines, estimated from a sample.

    Arguments and errors are as for :func:`open_corpus`.
    """
    if hasattr(module := reader(kind), "count"):
        count: tuple[int, bool] = module.count(path, corpus, names)
        return count
    from psp.corpora.estimate import count_lines

    return count_lines(path, suffixes=(".txt", *(f".{ending}" for ending in KINDS[kind].endings)))


def reader(kind: str) -> ModuleType:
    """The module that reads a kind of corpora, with ``read`` and perhaps ``count``."""
    return importlib.import_module(f"psp.corpora.{_MODULES.get(kind, kind)}")
