r"""Read ParaNMT and files in its format: a zip with one text member of ``reference \t translation \t score`` lines.

Lines may have a fourth column, the translation's length-normalised score (the logarithm of its probability by the
translation system, divided by its length), which the published file lacks.

ParaNMT's member is ``para-nmt-50m/para-nmt-50m.txt``; any name ending in .txt is accepted. It is decompressed on the
fly. The score is the cosine of averaged PARAGRAM-PHRASE word vectors (paper, section 3.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from psp.corpora.archive import only_text_member, open_member, open_zip
from psp.corpora.rows import Row, parse_rows
from psp.text.lines import decoded_lines


def read(path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
    r"""Yield the rows of an archive in order, unmodified; cleaning is left to the filter stage.

    Yields:
        (source, target, score), with the translation score if the file has it, or a
        :class:`psp.corpora.rows.BadRow`.

    Raises:
        DataError: the archive is missing, damaged or encrypted, or does not have exactly one text member; possibly
            after rows were yielded.
    """
    path = Path(path)
    with open_zip(path) as archive:
        name = only_text_member(archive, path)
        with open_member(archive, name, path) as stream:
            yield from parse_rows(decoded_lines(stream, f"{path} ({name})"), columns=(3, 4))
