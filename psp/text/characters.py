"""Count characters and words of many texts at once, by looking up all code points as one array.

For a text of 60 characters this takes 0.7 us; a loop over characters takes 5 us, regular expressions 2.5 us.
"""

from __future__ import annotations

import functools
import sys
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

LETTER, MARK, SPACE, OTHER = 0, 1, 2, 3
"""Kinds: letters with their combining marks; punctuation and symbols; white space; all else, mostly digits."""


class Characters:
    """The characters of some texts.

    Attributes:
        kinds: uint8, the kind of each character of all texts, with white space after each text.
        sizes: int64 (n,), the number of characters of each text.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        joined = "\n".join(texts) + "\n" if texts else ""
        codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), np.uint32)
        self.kinds = _kinds()[codes]
        self.sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        self._ends = np.cumsum(self.sizes + 1)

    def count(self, kind: int) -> npt.NDArray[np.int64]:
        """Count the characters of a kind in each text."""
        return self._sum(self.kinds == kind) - (kind == SPACE)

    def words(self) -> npt.NDArray[np.int64]:
        """Count the words of each text without punctuation, as ``psp.text.words.words(text, marks=False)`` does."""
        inside = (self.kinds == LETTER) | (self.kinds == OTHER)
        begins = inside.copy()
        begins[1:] &= ~inside[:-1]
        return self._sum(begins)

    def _sum(self, flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        # Most kinds are rare: find their positions, and count those before each text's end. (A cumulative sum over all
        # characters takes three times as long.)
        before = np.searchsorted(np.flatnonzero(flags), self._ends)
        return np.diff(before, prepend=0)


def prepare() -> None:
    """Build the table of kinds before worker processes start."""
    _kinds()


@functools.cache
def _kinds() -> npt.NDArray[np.uint8]:
    """Return the kind of each code point, uint8 (1,114,112,)."""
    kinds = {"L": LETTER, "M": LETTER, "P": MARK, "S": MARK}

    def kind(character: str) -> int:
        return SPACE if character.isspace() else kinds.get(unicodedata.category(character)[0], OTHER)

    return of_all(kind, np.uint8, OTHER)


#: The code points that Unicode gives to characters: planes 0 to 3, and the tags and variation selectors. All others are
#: for private use, or for nothing.
CHARACTERS = (range(0x40000), range(0xE0000, 0xE1000))


def of_all(value: Callable[[str], Any], dtype: npt.DTypeLike, none: Any) -> npt.NDArray[Any]:
    """A table with a value for each code point, (1,114,112,); ``none`` for code points without a character.

    Every filter job makes some; going through all code points took a second.
    """
    table = np.full(sys.maxunicode + 1, none, dtype)
    for part in CHARACTERS:
        table[part.start : part.stop] = np.fromiter(map(value, map(chr, part)), dtype, len(part))
    return table
