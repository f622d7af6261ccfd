"""Corpora: download them, and read publishers' archives and the user's own files.

Modules are imported lazily, so that reading an archive does not need what downloading needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psp.corpora.rows import Row

KINDS = ("opus", "paranmt", "local", "text", "mined", "translated")


def open_corpus(
    kind: str, path: Path | str, corpus: str, names: tuple[str, str], *, max_bad_rows: float | None = None
) -> Iterator[Row]:
    r"""Read a corpus of any kind, row by row.

    Args:
        kind: ``opus`` (an archive in OPUS's Moses layout), ``paranmt`` (a zip with lines ``source \t target \t
            score``, or with a translation score behind it), ``local`` (a file of such lines, or of
            ``source \t target``), ``text`` (a file of sentences, each
            of which becomes a pair with itself), ``mined`` (what :mod:`psp.pairs.pivot` writes) or ``translated``
            (what :mod:`psp.inference.translation.backtranslate` writes, lines as of ``local`` files).
        path: the file.
        corpus: the corpus's name, as its publisher writes it.
        names: the publisher's names of the source and target languages.
        max_bad_rows: share of rows that may be malformed; None for the reader's default.

    Yields:
        (source, target), with a score, or a score and a translation score, for every row of a corpus that has them; or
        a :class:`psp.corpora.rows.BadRow` for a malformed row.

    Raises:
        DataError: as for :func:`psp.corpora.opus.read_archive`, :func:`psp.corpora.paranmt.read_archive`,
            :func:`psp.corpora.local.read_file` and :func:`psp.corpora.text.read_file`.
        ValueError: there is no such kind.
    """
    from psp.corpora import local, mined, opus, paranmt, rows, text

    limit = rows.MAX_BAD_ROWS if max_bad_rows is None else max_bad_rows
    if kind == "opus":
        return opus.read_archive(path, corpus, names)
    if kind == "paranmt":
        return paranmt.read_archive(path, limit)
    if kind == "mined":
        return mined.read_file(path)
    if kind in ("local", "translated"):
        return local.read_file(path, limit)
    if kind == "text":
        return text.read_file(path, limit)
    raise ValueError(f"unknown kind of corpus {kind}; available: {', '.join(KINDS)}")
