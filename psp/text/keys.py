"""Normalised keys of sentences, one by one and in bulk, and search by key.

A key consists of a sentence's letters and digits, in one Unicode form and case: what a model reads as the same has the
same key, whatever its recipe. For millions of sentences, one call each would be too slow.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from psp.text.characters import CHARACTERS, of_all
from psp.text.normalisation import FOLDED, INVISIBLE, changing, with_same_letters


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
        lines = with_same_letters("\n".join(texts))
        prints = latin_print(lines.encode()).split(b"\n")
        maybe = [number for number, print_of_line in enumerate(prints) if print_of_line in self._prints]
        # A key in another script has an empty print, which may match nearly all texts: then continue in bulk.
        some = [texts[number] for number in maybe]
        keys = normalised_keys(some) if len(maybe) > len(texts) // 8 else list(map(normalised_key, some))
        return [(number, key) for number, key in zip(maybe, keys, strict=True) if key in self._keys]


def latin_print(block: bytes) -> bytes:
    """Reduce texts to some ASCII letters, so that texts with equal keys have equal prints.

    The texts must have passed :func:`psp.text.normalisation.with_same_letters`. A cheap first test: it takes 1 ns per
    byte, the keys 15.
    """
    return block.lower().translate(None, _not_printed())


@functools.cache
def _not_printed() -> bytes:
    """Return all bytes except tab, line feed, and the ASCII letters that no other character folds to.

    (The long s folds to s, the Kelvin sign to k, a ligature to f and i, so these letters are excluded; Arabic's digits
    fold to ASCII's.)
    """
    folded = {letter for point in CHARACTERS[0][0x80:] for letter in chr(point).casefold() if letter.isascii()}
    printed = {byte for byte in range(0x80) if chr(byte).isalpha() and chr(byte) not in folded}
    return bytes(byte for byte in range(256) if byte not in printed and byte not in b"\t\n")


def normalised_columns(block: str) -> list[str]:
    """Return the :func:`normalised_key` of each tab-separated column of whole lines, as one list."""
    return normalised_points(block).tobytes().decode("utf-32-le").replace("\n", "\t").split("\t")[:-1]


def normalised_points(block: str) -> npt.NDArray[np.uint32]:
    """Return the code points of the keys of each column of whole lines, with its tabs and line feeds.

    Works on code points in NumPy: str.translate takes 46 ns per character of French, four times as long.
    """
    points = np.frombuffer(with_same_letters(block).casefold().encode("utf-32-le"), dtype=np.uint32)
    points = _kept_as().take(points)
    return points[points > 0]


@functools.cache
def _kept_as() -> npt.NDArray[np.uint32]:
    """For each code point what stays of it in a key, or 0: letters, digits and marks, and tab and line feed."""
    kept = of_all(lambda character: unicodedata.category(character)[0] in "LNM", np.bool_, False)
    kept[[ord("\t"), ord("\n")]] = True
    for first, last in INVISIBLE:
        kept[first : last + 1] = False
    points = np.where(kept, np.arange(len(kept), dtype=np.uint32), np.uint32(0))
    for letter, folded in FOLDED.items():
        points[ord(letter)] = ord(folded or "\0")
    return points


class _Kept(dict[int, int | None]):
    """A lazily filled ``str.translate`` table: :func:`_kept_as`, character by character."""

    def __missing__(self, code: int) -> int | None:
        self[code] = int(_kept_as()[code]) or None
        return self[code]


_KEPT = _Kept()


def normalised_key(text: str) -> str:
    """Keep only a text's letters and digits, by ``nmt_nfkc``, case-folded and with Arabic's letters folded.

    Sentences with the same key are the same to a reader, and to every model that reads them as the same. Combining
    marks are kept, since they are vowels in many scripts. The key is empty if the sentence has neither letters nor
    digits.
    """
    text = text.replace("\t", " ").replace("\n", " ")
    if not (text.isascii() or (changing().isdisjoint(text) and max(text) < "\U00010000")):
        text = with_same_letters(text)
    return text.casefold().translate(_KEPT)


def differ_at_the_start(text: str, other: str) -> bool:
    """Whether a look at their first letters tells that two texts have different keys; if not, they may still differ."""
    one, another = text[:2], other[:2]
    if not (one[:1].isalnum() and another[:1].isalnum()) or one[0].casefold()[0] == another[0].casefold()[0]:
        return False
    both = one + another
    return both.isascii() or (_unlike_themselves().isdisjoint(both) and max(both) < "\U00010000")


@functools.cache
def _unlike_themselves() -> frozenset[str]:
    """Characters that may stand in a key as others, or join those before them."""
    return changing() | FOLDED.keys()
