"""Find the words or trigrams of texts in a vocabulary, in compiled code: the same ids as by the tokenizers' own code.

Texts are split and looked up in one pass over their code points, in hash tables with open addressing. Needs numba.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from psp.core.jit import compiled
from psp.text.characters import MARK, SPACE, _kinds
from psp.text.encoded import Encoded
from psp.text.vocabulary import Lookup

_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # of the 64-bit FNV-1a hash
_BLANK = np.uint32(0x20)
#: A trigram is three code points of 21 bits; this leaves out the one before them.
_THREE = np.int64((1 << 63) - 1)
_CHARACTER = np.int64(21)


class Words(Lookup):
    """Words; see :func:`psp.text.word_tokenizer.split_words`.

    Args:
        words: the vocabulary.
        marks: each punctuation mark or symbol is a word; otherwise only white space separates words.
        apostrophes: with ``marks``, the characters that do not separate words where they stand inside of one.
    """

    def __init__(self, words: Sequence[str], *, marks: bool, apostrophes: str) -> None:
        # SPACE separates words, a MARK is a word, and all else is within a word.
        self._kinds = _kinds() if marks else np.where(_kinds() == SPACE, _kinds(), np.uint8(MARK + SPACE + 1))
        self._apostrophes = np.array([ord(character) for character in apostrophes], np.uint32)
        self._codes, self._places = _code_points(words)
        self._table = np.full(_slots(len(words)), -1, np.int32)
        _place_words(self._codes, self._places, self._table)

    def find(self, texts: Sequence[str]) -> Encoded:
        codes, ends = _code_points(texts)
        return _result(_find_words, codes, ends, self._kinds, self._apostrophes, self._codes, self._places, self._table)


class Trigrams(Lookup):
    """Trigrams; see :func:`psp.text.trigram_tokenizer.trigrams`."""

    def __init__(self, trigrams: Sequence[str]) -> None:
        self._white = _kinds() == SPACE
        self._white = self._white[: int(np.flatnonzero(self._white)[-1]) + 1].copy()  # no character above is white
        codes, _ = _code_points(trigrams)
        self._keys = np.full(_slots(len(trigrams)), -1, np.int64)
        self._values = np.zeros(len(self._keys), np.int32)
        _place_trigrams(codes, self._keys, self._values)

    def find(self, texts: Sequence[str]) -> Encoded:
        codes, ends = _code_points(texts)
        return _result(_find_trigrams, codes, ends, self._white, self._keys, self._values)


def _code_points(texts: Sequence[str]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """The code points of all texts, uint32, and where each text begins and ends, int64 (texts + 1,)."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=ends[1:])
    return codes, ends


def _slots(entries: int) -> int:
    """The size of a hash table, a power of 2 at least twice the number of entries."""
    return 1 << (2 * entries).bit_length()


def _result(find: Any, codes: npt.NDArray[np.uint32], ends: npt.NDArray[np.int64], *tables: Any) -> Encoded:
    # No token is shorter than a character, and there is a trigram for each character at most.
    ids, offsets = np.empty(len(codes), np.int32), np.empty(len(ends), np.int64)
    found = find(codes, ends, *tables, ids, offsets)
    return Encoded(ids[:found].copy(), offsets)


@compiled(parallel=False)
def _slot(hash, slots):  # type: ignore[no-untyped-def]
    return np.int64((hash ^ (hash >> np.uint64(29))) & np.uint64(slots - 1))


@compiled(parallel=False)
def _word(codes, start, stop, letters, places, table):  # type: ignore[no-untyped-def]
    """The slot of a word: that of the same word in the table, or else a free one."""
    hash = _BASIS
    for place in range(start, stop):
        hash = (hash ^ np.uint64(codes[place])) * _PRIME
    slot = _slot(hash, len(table))
    while table[slot] >= 0:
        at = places[table[slot]]
        if places[table[slot] + 1] - at == stop - start:
            same = True
            for d in range(stop - start):
                if letters[at + d] != codes[start + d]:
                    same = False
                    break
            if same:
                break
        slot = (slot + 1) & (len(table) - 1)
    return slot


@compiled(parallel=False)
def _place_words(letters, places, table):  # type: ignore[no-untyped-def]
    for word in range(len(places) - 1):
        table[_word(letters, places[word], places[word + 1], letters, places, table)] = word


@compiled(parallel=False)
def _find_words(codes, ends, kinds, apostrophes, letters, places, table, ids, offsets):  # type: ignore[no-untyped-def]
    """Fill in the ids, and where each text's begin and end; returns their number."""
    found = 0
    offsets[0] = 0
    for text in range(len(ends) - 1):
        place, end = ends[text], ends[text + 1]
        while place < end:
            kind = kinds[codes[place]]
            stop = place + 1
            if kind != SPACE:
                if kind != MARK:
                    while stop < end:
                        kind = kinds[codes[stop]]
                        if kind != SPACE and kind != MARK:
                            stop += 1
                            continue
                        inside = False
                        if kind == MARK and stop + 1 < end:
                            for apostrophe in apostrophes:
                                inside |= codes[stop] == apostrophe
                            after = kinds[codes[stop + 1]]
                            inside &= after != SPACE and after != MARK
                        if not inside:
                            break
                        stop += 2
                ids[found] = table[_word(codes, place, stop, letters, places, table)] + 1
                found += 1
            place = stop
        offsets[text + 1] = found
    return found


@compiled(parallel=False)
def _trigram(key, keys):  # type: ignore[no-untyped-def]
    """The slot of a trigram: its own in the table, or else a free one."""
    slot = _slot(np.uint64(key) * np.uint64(0x9E3779B97F4A7C15), len(keys))
    while keys[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & (len(keys) - 1)
    return slot


@compiled(parallel=False)
def _after(key, code):  # type: ignore[no-untyped-def]
    return ((key << _CHARACTER) | np.int64(code)) & _THREE


@compiled(parallel=False)
def _place_trigrams(codes, keys, values):  # type: ignore[no-untyped-def]
    for entry in range(len(codes) // 3):
        key = np.int64(0)
        for d in range(3):
            key = _after(key, codes[3 * entry + d])
        slot = _trigram(key, keys)
        keys[slot], values[slot] = key, entry + 1


@compiled(parallel=False)
def _find_trigrams(codes, ends, white, keys, values, ids, offsets):  # type: ignore[no-untyped-def]
    """Fill in the ids, and where each text's begin and end; returns their number."""
    found = 0
    offsets[0] = 0
    for text in range(len(ends) - 1):
        key, before, blank = np.int64(0), 0, True  # before: characters so far, the first space included
        for place in range(ends[text], ends[text + 1] + 1):
            if place == ends[text + 1]:
                if not before:
                    break
                code, blank = _BLANK, False
            else:
                code = codes[place]
                if code < len(white) and white[code]:
                    blank = True
                    continue
            if blank:
                key = _after(key, _BLANK)
                before += 1
                blank = False
                if before > 2:
                    ids[found] = values[_trigram(key, keys)]
                    found += 1
            key = _after(key, code)
            before += 1
            if before > 2:
                ids[found] = values[_trigram(key, keys)]
                found += 1
        offsets[text + 1] = found
    return found
