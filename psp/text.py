r"""Text and lines: bytes until decoded as UTF-8, and only ``\n`` ends a line.

Universal newlines and ``str.splitlines`` also break at a lone CR, U+0085, U+2028 and others, and so shift the
alignment of all lines that follow; nothing here uses them.
"""

from __future__ import annotations

import functools
import itertools
import re
import sys
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


def clean_all(texts: list[str]) -> list[str]:
    """:func:`clean` of each, in a third of the time where no text holds a tab or a line feed."""
    joined = "\n".join(texts)
    if "\t" in joined or joined.count("\n") >= max(len(texts), 1):
        return list(map(clean, texts))
    return list(map(str.strip, texts))


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


def words(text: str, marks: bool = True) -> list[str]:
    r"""The words of a text in its own case; with ``marks``, each punctuation mark or symbol is a word too.

    Marks are words for nltk's tokenizer as well. ``\\w`` would not do for words: it is cut at the combining vowels of
    many scripts.
    """
    return _word_pattern(marks, _BEYOND_BMP.search(text) is not None).findall(text)


_BEYOND_BMP = re.compile("[\U00010000-\U0010ffff]")


@functools.cache
def _word_pattern(marks: bool, whole: bool) -> re.Pattern[str]:
    """For texts with characters of the basic plane alone (2 us a sentence), or for all texts (7 us)."""
    last = sys.maxunicode if whole else 0xFFFF
    codes = [code for code in range(last + 1) if unicodedata.category(chr(code))[0] in "PS"]
    # Neighbours have the same distance to their places in the list.
    runs = [list(run) for _, run in itertools.groupby(enumerate(codes), key=lambda item: item[1] - item[0])]
    inside = "".join(f"\\U{run[0][1]:08x}-\\U{run[-1][1]:08x}" for run in runs)
    return re.compile(rf"[^\s{inside}]+|[{inside}]" if marks else rf"[^\s{inside}]+")


def join_pairs(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    r"""Lines of a pair file: ``source \t target \n``; both sides must have gone through :func:`clean`."""
    for pair in pairs:
        yield "\t".join(pair) + "\n"
