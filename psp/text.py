r"""Text and lines: bytes until decoded as UTF-8, and only ``\n`` ends a line.

Universal newlines and ``str.splitlines`` also break at a lone CR, U+0085, U+2028 and others, and so shift the
alignment of all lines that follow; nothing here uses them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

from psp.errors import DataError


def read_lines(stream: IO[bytes], path: Path | str) -> Iterator[str]:
    r"""Decode the lines of a binary stream, without their ``\n``.

    A last line without ``\n`` counts; an empty rest after the last ``\n`` does not. ``path`` is for errors.

    Raises:
        DataError: a line is not UTF-8 (file, line and byte are named).
    """
    for number, line in enumerate(stream, start=1):  # binary streams break at b"\n" alone
        try:
            yield line.removesuffix(b"\n").decode("utf-8")
        except UnicodeDecodeError as error:
            raise DataError(
                f"not UTF-8 (byte {error.start + 1} of the line is {line[error.start]:#04x}); convert the file",
                path,
                number,
            ) from None


def clean(text: str) -> str:
    r"""A sentence as the pipeline stores it: no white space around it, tabs and line feeds inside made spaces.

    Tabs separate the columns of our pair files. Nothing is lost: sentencepiece's normalisation makes every run of
    white space one space.
    """
    return text.replace("\t", " ").replace("\n", " ").strip()


class _Keep(dict[int, int | None]):
    """A ``str.translate`` table that fills itself: letters, digits and combining marks stay."""

    def __missing__(self, code: int) -> int | None:
        kept = unicodedata.category(chr(code))[0] in "LNM"
        self[code] = code if kept else None
        return self[code]


_KEEP = _Keep()


def normalised_key(text: str) -> str:
    """Letters and digits only, case-folded: two sentences with the same key are the same sentence to a reader.

    Combining marks are kept, since in many scripts they carry the vowels. An empty key means that the sentence has
    neither letter nor digit.
    """
    return text.casefold().translate(_KEEP)


def word_count(text: str) -> int:
    """Tokens separated by white space: the unit of the length filter (paper, section 3.1)."""
    return len(text.split())


def join_pairs(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    r"""Lines of a pair file: ``source \t target \n``; both sides must have gone through :func:`clean`."""
    for source, target in pairs:
        yield f"{source}\t{target}\n"
