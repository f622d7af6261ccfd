"""Normalised keys of sentences, one by one and in bulk, and search by key.

A key consists of a sentence's letters and digits. For millions of sentences, one call each would be too slow.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from psp.text.characters import CHARACTERS, of_all


def normalised_keys(texts: Sequence[str]) -> list[str]:
    """Return the :func:`normalised_key` of each text; texts must not contain tabs or line feeds."""
    return normalised_columns("\n".join(texts) + "\n") if texts else []


class KeyFinder:
    """Finds texts by key: 0.3 us per text if few look like a match.

    Args:
        keys: the keys to find; the empty key is ignored.
    """

    def __init__(self, keys: Collection[str]) -> None:
        self._keys = frozenset(keys) - {""}
        self._prints = set(latin_print("\n".join(self._keys).encode()).split(b"\n")) if self._keys else set()

    def find(self, texts: Sequence[str]) -> list[tuple[int, str]]:
        """Return index and key of each text that has one of the keys; texts must not contain tabs or line feeds."""
        if not texts or not self._prints:
            return []
        prints = latin_print("\n".join(texts).encode()).split(b"\n")
        maybe = [number for number, print_of_line in enumerate(prints) if print_of_line in self._prints]
        # A key in another script has an empty print, which may match nearly all texts: then continue in bulk.
        some = [texts[number] for number in maybe]
        keys = normalised_keys(some) if len(maybe) > len(texts) // 8 else list(map(normalised_key, some))
        return [(number, key) for number, key in zip(maybe, keys, strict=True) if key in self._keys]


def latin_print(block: bytes) -> bytes:
    """Reduce texts to some ASCII letters and digits, so that texts with equal keys have equal prints.

    A cheap first test: it takes 1 ns per byte, the keys 15.
    """
    return block.lower().translate(None, _not_printed())


@functools.cache
def _not_printed() -> bytes:
    """Return all bytes except tab, line feed, and the ASCII letters and digits that no other character folds to.

    (The long s folds to s, the Kelvin sign to k, a ligature to f and i, so these letters are excluded.)
    """
    folded = {letter for point in CHARACTERS[0][0x80:] for letter in chr(point).casefold() if letter.isascii()}
    printed = {byte for byte in range(0x80) if chr(byte).isalnum() and chr(byte) not in folded}
    return bytes(byte for byte in range(256) if byte not in printed and byte not in b"\t\n")


def normalised_columns(block: str) -> list[str]:
    """Return the :func:`normalised_key` of each tab-separated column of whole lines, as one list.

    The result is the same as column by column, since case folding is per character, and 4 times as fast: it works on
    code points in NumPy, where str.translate takes 46 ns per character of French.
    """
    points = np.frombuffer(block.casefold().encode("utf-32-le"), dtype=np.uint32)
    kept = points[kept_points()[points]].tobytes().decode("utf-32-le")
    return kept.replace("\n", "\t").split("\t")[:-1]


@functools.cache
def kept_points() -> npt.NDArray[np.bool_]:
    """Tell which code points to keep: letters, digits and marks, as in a key, and tab and line feed."""
    kept = of_all(lambda character: unicodedata.category(character)[0] in "LNM", np.bool_, False)
    kept[[ord("\t"), ord("\n")]] = True
    return kept


class _Keep(dict[int, int | None]):
    """A lazily filled ``str.translate`` table that keeps letters, digits and combining marks."""

    def __missing__(self, code: int) -> int | None:
        kept = unicodedata.category(chr(code))[0] in "LNM"
        self[code] = code if kept else None
        return self[code]


_KEEP = _Keep()


def normalised_key(text: str) -> str:
    """Keep only letters and digits, case-folded: sentences with the same key are the same to a reader.

    Combining marks are kept, since they are vowels in many scripts. The key is empty if the sentence has neither
    letters nor digits.
    """
    return text.casefold().translate(_KEEP)
