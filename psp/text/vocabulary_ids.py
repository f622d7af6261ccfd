"""Look up the words or trigrams of texts in a vocabulary, in compiled code, with the ids of the tokenizers' own code.

Texts are split and looked up in one pass, in hash tables with open addressing: words over their UTF-8, trigrams over
their code points. Needs numba.

A word of up to 15 bytes is compared as two numbers, which hold its bytes and its length, and so identify it.
On one core (EPYC), 20.8 words per sentence, 33,000 in the vocabulary, splitting and looking up take 0.4 us per
sentence; with a hash of the characters, and calls that count references (see below), they took 1.3 us.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from psp.core.jit import compiled
from psp.text.characters import MARK, SPACE, _kinds
from psp.text.tokenizer import Encoded, offsets_of

_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # of the 64-bit FNV-1a hash
_MIXERS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
#: Bytes of a word that two numbers hold, one of whose bytes is the length.
_SHORT = 15
#: Classes of characters: within a word; a word by itself; white space; within a word if between two letters. And of
#: bytes: part of a longer character; the end of a text (never in UTF-8).
_LETTER, _MARK, _SPACE, _APOSTROPHE, _SEVERAL, _END = range(6)
_TEXT_END = b"\xff"
_BLANK = np.uint32(0x20)
#: A trigram is three code points of 21 bits; this leaves out the one before them.
_THREE = np.int64((1 << 63) - 1)
_CHARACTER = np.int64(21)


class WordLookup:
    """Words; see :func:`psp.text.word_tokenizer.split_words`.

    Args:
        words: the vocabulary.
        marks: each punctuation mark or symbol is a word; otherwise only white space separates words.
        apostrophes: with ``marks``, the characters that do not separate words inside one.
    """

    def __init__(self, words: Sequence[str], *, marks: bool, apostrophes: str) -> None:
        classes = np.full(len(_kinds()), _LETTER, np.uint8)
        classes[_kinds() == SPACE] = _SPACE
        if marks:
            classes[_kinds() == MARK] = _MARK
            classes[[ord(character) for character in apostrophes]] = _APOSTROPHE
        self._classes = classes
        self._bytes = np.full(256, _SEVERAL, np.uint8)
        self._bytes[:128], self._bytes[_TEXT_END[0]] = classes[:128], _END
        letters = [word.encode() for word in words]
        self._places = offsets_of([len(word) for word in letters])
        self._letters = _buffer([b"".join(letters)])
        # The key of each word, in the order of the words: the frequent ones, which come first, stay in the cache.
        self._keys = np.zeros((len(words) + 1, 2), np.uint64)
        self._short, self._long = (np.zeros(_slots(len(words)), np.int32) for _ in range(2))
        _place_words(self._letters, self._letters.view(np.uint64), self._places, self._keys, self._short, self._long)

    def __call__(self, texts: Sequence[str]) -> Encoded:
        buffer = _buffer([text.encode() for text in texts])
        # No word is shorter than a byte.
        ids, offsets = np.empty(len(buffer), np.int32), np.empty(len(texts) + 1, np.int64)
        count = _find_words(
            buffer, buffer.view(np.uint64), self._bytes, self._classes, self._keys, self._short,
            self._letters, self._places, self._long, ids, offsets,
        )  # fmt: skip
        return Encoded(ids[:count].copy(), offsets)


class Trigrams:
    """Trigrams; see :func:`psp.text.trigram_tokenizer.trigrams`."""

    def __init__(self, trigrams: Sequence[str]) -> None:
        self._white = _kinds() == SPACE
        self._white = self._white[: int(np.flatnonzero(self._white)[-1]) + 1].copy()  # no character above is white
        codes, _ = _code_points(trigrams)
        self._keys = np.full(_slots(len(trigrams)), -1, np.int64)
        self._values = np.zeros(len(self._keys), np.int32)
        _place_trigrams(codes, self._keys, self._values)

    def __call__(self, texts: Sequence[str]) -> Encoded:
        codes, ends = _code_points(texts)
        # There is a trigram for each character at most.
        ids, offsets = np.empty(len(codes), np.int32), np.empty(len(ends), np.int64)
        count = _find_trigrams(codes, ends, self._white, self._keys, self._values, ids, offsets)
        return Encoded(ids[:count].copy(), offsets)


def _code_points(texts: Sequence[str]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """The code points of all texts, uint32, and the bounds of each text, int64 (texts + 1,)."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le"), np.uint32)
    return codes, offsets_of(np.fromiter(map(len, texts), np.int64, len(texts)))


def _buffer(texts: Sequence[bytes]) -> npt.NDArray[np.uint8]:
    """Texts one after another, each with a byte that ends it, and what :func:`_eight` may read after the last."""
    data = _TEXT_END.join(texts)
    return np.frombuffer(data + _TEXT_END * (24 - len(data) % 8), np.uint8)


def _slots(entries: int) -> int:
    """The size of a hash table, a power of 2 at least twice the number of entries."""
    return 1 << (2 * entries).bit_length()


@compiled(parallel=False)
def _eight(numbers, place):  # type: ignore[no-untyped-def]
    """The eight bytes from ``place`` on, in a buffer viewed as numbers; the first is the lowest.

    (All systems for which there is numba put a number's lowest byte first.)
    """
    at, shift = place >> 3, np.uint64((place & 7) << 3)
    return (numbers[at] >> shift) | ((numbers[at + 1] << np.uint64(1)) << (np.uint64(63) - shift))


@compiled(parallel=False)
def _key(numbers, start, size):  # type: ignore[no-untyped-def]
    """A word of at most ``_SHORT`` bytes as two numbers: no other word has the same."""
    one, length = _eight(numbers, start), np.uint64(size) << np.uint64(56)
    if size <= 8:
        return one & (~np.uint64(0) >> np.uint64(64 - 8 * size)), length
    return one, (_eight(numbers, start + 8) & (~np.uint64(0) >> np.uint64(128 - 8 * size))) | length


@compiled(parallel=False)
def _first(one, two, slots):  # type: ignore[no-untyped-def]
    """The slot where the search for a key starts."""
    # The highest bits of the product: the others depend on the first letters alone.
    hash = ((one ^ (two * _MIXERS[0])) * _MIXERS[1]) >> np.uint64(32)
    return np.int64((hash * np.uint64(slots)) >> np.uint64(32))


@compiled(parallel=False)
def _long_word(buffer, start, stop, letters, places, table):  # type: ignore[no-untyped-def]
    """The slot of a word: its own in the table, or else a free one."""
    hash = _BASIS
    for place in range(start, stop):
        hash = (hash ^ np.uint64(buffer[place])) * _PRIME
    slot = _first(hash, np.uint64(0), len(table))
    while table[slot]:
        at = places[table[slot] - 1]
        if places[table[slot]] - at == stop - start:
            same = True
            for d in range(stop - start):
                if letters[at + d] != buffer[start + d]:
                    same = False
                    break
            if same:
                break
        slot = (slot + 1) & (len(table) - 1)
    return slot


@compiled(parallel=False)
def _place_words(letters, numbers, places, keys, short, long):  # type: ignore[no-untyped-def]
    """Fill in the keys of short words, and the ids in both tables, from 1 on."""
    for word in range(len(places) - 1):
        start, stop = places[word], places[word + 1]
        if stop - start <= _SHORT:
            one, two = _key(numbers, start, stop - start)
            keys[word + 1, 0], keys[word + 1, 1] = one, two
            slot = _first(one, two, len(short))
            while short[slot]:
                slot = (slot + 1) & (len(short) - 1)
            short[slot] = word + 1
        else:
            long[_long_word(letters, start, stop, letters, places, long)] = word + 1


@compiled(parallel=False)
def _character(buffer, place):  # type: ignore[no-untyped-def]
    """A character of several bytes, and their number."""
    first = np.int64(buffer[place])
    second = np.int64(buffer[place + 1]) & 0x3F
    if first < 0xE0:
        return ((first & 0x1F) << 6) | second, 2
    third = np.int64(buffer[place + 2]) & 0x3F
    if first < 0xF0:
        return ((first & 0xF) << 12) | (second << 6) | third, 3
    return ((first & 7) << 18) | (second << 12) | (third << 6) | (np.int64(buffer[place + 3]) & 0x3F), 4


# What runs for each word or trigram calls no function with arrays and a loop: numba (0.68) would count references
# to the arrays at each call, which took two thirds of the time.


@compiled(parallel=False)
def _find_words(buffer, numbers, bytes, classes, keys, short, letters, places, long, ids, offsets):  # type: ignore[no-untyped-def]
    """Fill in the ids, and where each text's begin and end; returns their number."""
    count = place = 0
    offsets[0] = 0
    for text in range(len(offsets) - 1):
        while True:
            start = place
            kind = bytes[buffer[place]]
            if kind == _SEVERAL:
                code, size = _character(buffer, place)
                kind = classes[code]
                place += size
            else:
                place += 1
            if kind == _END:
                break
            if kind == _SPACE:
                continue
            while kind == _LETTER:
                kind, size = bytes[buffer[place]], 1
                if kind == _LETTER:
                    place += 1
                    continue
                if kind == _SEVERAL:
                    code, size = _character(buffer, place)
                    kind = classes[code]
                if kind == _APOSTROPHE:
                    kind, more = bytes[buffer[place + size]], 1
                    if kind == _SEVERAL:
                        code, more = _character(buffer, place + size)
                        kind = classes[code]
                    size += more
                if kind == _LETTER:
                    place += size
            if place - start <= _SHORT:
                one, two = _key(numbers, start, place - start)
                slot = _first(one, two, len(short))
                while short[slot] and (keys[short[slot], 0] != one or keys[short[slot], 1] != two):
                    slot = (slot + 1) & (len(short) - 1)
                ids[count] = short[slot]
            else:
                ids[count] = long[_long_word(buffer, start, place, letters, places, long)]
            count += 1
        offsets[text + 1] = count
    return count


@compiled(parallel=False)
def _after(key, code):  # type: ignore[no-untyped-def]
    return ((key << _CHARACTER) | np.int64(code)) & _THREE


@compiled(parallel=False)
def _place_trigrams(codes, keys, values):  # type: ignore[no-untyped-def]
    for entry in range(len(codes) // 3):
        key = np.int64(0)
        for d in range(3):
            key = _after(key, codes[3 * entry + d])
        slot = _first(np.uint64(key), np.uint64(0), len(keys))
        while keys[slot] >= 0:
            slot = (slot + 1) & (len(keys) - 1)
        keys[slot], values[slot] = key, entry + 1


@compiled(parallel=False)
def _find_trigrams(codes, ends, white, keys, values, ids, offsets):  # type: ignore[no-untyped-def]
    """Fill in the ids, and where each text's begin and end; returns their number."""
    count = 0
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
            for _ in range(blank + 1):
                key = _after(key, _BLANK if blank else code)
                blank = False
                before += 1
                if before > 2:
                    slot = _first(np.uint64(key), np.uint64(0), len(keys))
                    while keys[slot] >= 0 and keys[slot] != key:
                        slot = (slot + 1) & (len(keys) - 1)
                    ids[count] = values[slot]
                    count += 1
        offsets[text + 1] = count
    return count
