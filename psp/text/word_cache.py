"""A cache of whole words in front of sentencepiece: the same ids, many times faster once the words are known.

If no piece crosses a space and normalisation works word by word, a sentence's pieces are those of its words, one after
another. Each word (what stands between ASCII spaces, as written) is segmented once, in compiled code
(:mod:`psp.text.unigram`), and from then on looked up by its bytes. Sentencepiece itself encodes the sentences whose
segmentation might depend on how it rounds sums of scores (20 of 120,000 real ones), and those that hold its mark for a
space as a character. The ids are therefore always sentencepiece's.

Measured on one core (Xeon), 120,000 English and French sentences of 12 words in batches of 8,192, 100,000 words:
450,000 sentences/s the first time, 920,000 the second; sentencepiece 188,000.

For other sentencepiece models, :func:`psp.text.unigram.unsupported_reason` says what prevents it. Needs numba.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import sentencepiece

from psp.core.jit import compiled
from psp.text import unigram
from psp.text.tokenizer import Encoded, offsets_of

MOST_WORDS = 1 << 19  # about 50 MB with all lists; then the cache starts anew
LONGEST = 64  # bytes of a word that is kept; text without spaces rarely recurs
#: Places of the table that are looked into for a word. At half full no word needs so many, unless somebody chose words
#: whose hashes collide: those are then segmented each time, instead of each being compared with all the others.
PROBES = 64
#: Candidates to separate texts: the first that none of them holds joins them.
SEPARATORS = ("\n", "\x00", "\x01", "\x02")
_SPACE = np.uint8(0x20)
_BASIS, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # of the 64-bit FNV-1a hash


class WordCache:
    """Encodes sentences word by word, with all of sentencepiece's ids: :class:`psp.text.tokenizer.Fast`.

    Several threads may use it, one at a time.

    Args:
        processor: a sentencepiece model without an :func:`psp.text.unigram.unsupported_reason`.
        lower_case: lower-case words before they are encoded. str.lower looks at a letter's neighbours (the final
            sigma), but not across a space.

    Raises:
        ValueError: the model has an unsupported_reason.
    """

    def __init__(self, processor: sentencepiece.SentencePieceProcessor, lower_case: bool) -> None:
        self._processor, self._lower_case = processor, lower_case
        self._unknown: int = processor.unk_id()
        self._model = unigram.read(processor)
        self._lock = threading.Lock()
        # Word w is letters[places[w]:places[w + 1]] and ids[firsts[w]:firsts[w + 1]]; table holds words by their hash.
        self._size = 0
        self._table: npt.NDArray[np.int32]
        self._hashes: npt.NDArray[np.uint64]
        self._places: npt.NDArray[np.int64]
        self._letters: npt.NDArray[np.uint8]
        self._words: unigram.SegmentedWords
        self._forget()

    def __reduce__(self) -> tuple[Any, ...]:
        return WordCache, (self._processor, self._lower_case)

    def __len__(self) -> int:
        """The number of words in the cache."""
        return self._size

    def encode(self, texts: Sequence[str], threads: int = 1) -> Encoded:
        """Encode sentences, ids int32.

        Args:
            texts: the sentences.
            threads: for sentencepiece, if it is needed.

        Raises:
            UnicodeEncodeError: a text holds half a surrogate pair.
        """
        for separator in SEPARATORS:
            data = separator.join(texts).encode()
            if texts and data.count(separator.encode()) == len(texts) - 1:
                with self._lock:
                    return self._by_words(data, ord(separator), texts, threads)
        return self._whole(texts, threads)

    def _whole(self, texts: Sequence[str], threads: int) -> Encoded:
        """Encode by sentencepiece."""
        texts = [text.lower() for text in texts] if self._lower_case else list(texts)
        return Encoded.of_lists(self._processor.encode(texts, out_type=int, num_threads=threads))

    def _by_words(self, data: bytes, separator: int, texts: Sequence[str], threads: int) -> Encoded:
        buffer = np.frombuffer(data, dtype=np.uint8)
        most = data.count(b" ") + len(texts)
        words, counts, long = np.empty(most, np.int32), np.empty(len(texts), np.int64), np.empty((most, 2), np.int64)
        count, longs = self._look_up(buffer, separator, words, counts, long)
        once = self._words
        if longs:
            pieces = [data[start:stop] for start, stop in long[:longs].tolist()]
            once = self._segmented(np.frombuffer(b"".join(pieces), np.uint8), _bounds(pieces))
        lengths, doubtful = np.empty(len(texts), np.int64), np.empty(len(texts), np.bool_)
        _weigh(words[:count], counts, *self._words[1:], *once[1:], lengths, doubtful)
        odd = np.flatnonzero(doubtful)
        by_sentencepiece = self._whole([texts[number] for number in odd.tolist()], threads)
        lengths[odd] = np.diff(by_sentencepiece.offsets)
        offsets = offsets_of(lengths)
        ids = np.empty(int(offsets[-1]), np.int32)
        _emit(
            words, counts, self._words.ids, self._words.firsts, once.ids, once.firsts, doubtful,
            by_sentencepiece.ids, offsets, ids,
        )  # fmt: skip
        return Encoded(ids, offsets)

    def _look_up(
        self,
        buffer: npt.NDArray[np.uint8],
        separator: int,
        words: npt.NDArray[np.int32],
        counts: npt.NDArray[np.int64],
        long: npt.NDArray[np.int64],
    ) -> tuple[int, int]:
        """Fill in the words' numbers and each text's number of words; segment new words.

        Returns:
            The number of words, and how many of them are not kept: too long, or without a place in the table.
        """
        if self._size > MOST_WORDS:
            self._forget()
        self._reserve(len(words), len(buffer))
        size = self._size
        try:
            count, fresh, longs = _find(
                buffer, np.uint8(separator), self._table, self._hashes, self._places, self._letters, size,
                words, counts, long,
            )  # fmt: skip
            if fresh:
                more = self._segmented(self._letters, self._places[size : size + fresh + 1])
                self._words = _joined(self._words, size, more)
                self._size = size + fresh
        except BaseException:  # Ctrl-C, or no memory: words would stand in the table without their pieces
            self._forget()
            raise
        return count, longs

    def _segmented(self, letters: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64]) -> unigram.SegmentedWords:
        if self._lower_case:
            data = letters[bounds[0] : bounds[-1]].tobytes()
            ends = (bounds - bounds[0]).tolist()
            lowered = [data[a:b].decode().lower().encode() for a, b in itertools.pairwise(ends)]
            letters, bounds = np.frombuffer(b"".join(lowered), np.uint8), _bounds(lowered)
        return unigram.segment(self._model, letters, bounds, self._unknown)

    def _forget(self) -> None:
        self._size = 0
        self._table = np.full(1 << 12, -1, dtype=np.int32)
        self._hashes = np.empty(1 << 11, dtype=np.uint64)
        self._places = np.zeros((1 << 11) + 1, dtype=np.int64)
        self._letters = np.empty(1 << 15, dtype=np.uint8)
        self._words = unigram.SegmentedWords(
            np.empty(1 << 13, np.int32), np.zeros((1 << 11) + 1, np.int64), np.empty(1 << 11), np.empty(1 << 11)
        )

    def _reserve(self, words: int, letters: int) -> None:
        """Make room for this many more words and letters."""
        size = self._size
        self._hashes = _longer(self._hashes, size, words)
        self._places = _longer(self._places, size + 1, words)
        self._letters = _longer(self._letters, int(self._places[size]), letters)
        if 2 * (size + words) > len(self._table):
            self._table = np.full(1 << (2 * (size + words)).bit_length(), -1, dtype=np.int32)
            _place(self._hashes, size, self._table)


def _bounds(pieces: list[bytes]) -> npt.NDArray[np.int64]:
    """Where each piece begins and ends once they are joined."""
    return offsets_of(np.fromiter(map(len, pieces), np.int64, len(pieces)))


def _longer(array: npt.NDArray[Any], used: int, more: int) -> npt.NDArray[Any]:
    if used + more <= len(array):
        return array
    grown = np.empty(max(used + more, 2 * used), dtype=array.dtype)
    grown[:used] = array[:used]
    return grown


def _joined(words: unigram.SegmentedWords, size: int, more: unigram.SegmentedWords) -> unigram.SegmentedWords:
    """Append words to the first ``size``, in place if there is room."""
    end = int(words.firsts[size])
    ids = _longer(words.ids, end, len(more.ids))
    ids[end : end + len(more.ids)] = more.ids
    firsts = _longer(words.firsts, size + 1, len(more.costs))
    firsts[size + 1 : size + 1 + len(more.costs)] = more.firsts[1:] + end
    costs, reaches = (_longer(array, size, len(more.costs)) for array in (words.costs, words.reaches))
    costs[size : size + len(more.costs)], reaches[size : size + len(more.costs)] = more.costs, more.reaches
    return unigram.SegmentedWords(ids, firsts, costs, reaches)


@compiled(parallel=False)
def _slot(hash, slots):  # type: ignore[no-untyped-def]
    return np.int64((hash ^ (hash >> np.uint64(29))) & np.uint64(slots - 1))


@compiled(parallel=False)
def _find(buffer, separator, table, hashes, places, letters, size, words, counts, long):  # type: ignore[no-untyped-def]
    """The number of each word; new words are added after the first ``size``.

    A word that is not kept has -1 - i, and its start and stop are ``long[i]``. Returns how many words were found, how
    many are new, and how many are not kept.
    """
    count = text = in_text = start = longs = 0
    fresh = size
    hash = _BASIS
    for place in range(len(buffer) + 1):
        letter = buffer[place] if place < len(buffer) else separator
        if letter != _SPACE and letter != separator:
            hash = (hash ^ np.uint64(letter)) * _PRIME
            continue
        length = place - start
        if length:
            slot, probes = _slot(hash, len(table)), PROBES if length <= LONGEST else 0
            while probes and table[slot] >= 0:
                word = table[slot]
                at = places[word]
                if hashes[word] == hash and places[word + 1] - at == length:
                    same = True
                    for d in range(length):
                        if letters[at + d] != buffer[start + d]:
                            same = False
                            break
                    if same:
                        break
                slot = (slot + 1) & (len(table) - 1)
                probes -= 1
            if not probes:
                long[longs, 0], long[longs, 1] = start, place
                longs += 1
                words[count] = -longs
            else:
                if table[slot] < 0:
                    table[slot], hashes[fresh] = fresh, hash
                    for d in range(length):
                        letters[places[fresh] + d] = buffer[start + d]
                    places[fresh + 1] = places[fresh] + length
                    fresh += 1
                words[count] = table[slot]
            count += 1
            in_text += 1
        hash = _BASIS
        start = place + 1
        if letter == separator:
            counts[text] = in_text
            text += 1
            in_text = 0
    return count, fresh - size, longs


@compiled(parallel=False)
def _place(hashes, size, table):  # type: ignore[no-untyped-def]
    for word in range(size):
        slot, probes = _slot(hashes[word], len(table)), PROBES
        while probes and table[slot] >= 0:
            slot = (slot + 1) & (len(table) - 1)
            probes -= 1
        if probes:
            table[slot] = word


@compiled(parallel=False)
def _weigh(words, counts, firsts, costs, reaches, firsts_1, costs_1, reaches_1, lengths, doubtful):  # type: ignore[no-untyped-def]
    """The number of ids of each text, and whether sentencepiece must decide."""
    at = 0
    for text in range(len(counts)):
        cost, length, sure = 0.0, 0, True
        for _ in range(counts[text]):
            word = words[at]
            at += 1
            if word >= 0:
                cost += costs[word]
                sure &= cost <= reaches[word]
                length += firsts[word + 1] - firsts[word]
            else:
                word = -1 - word
                cost += costs_1[word]
                sure &= cost <= reaches_1[word]
                length += firsts_1[word + 1] - firsts_1[word]
        lengths[text] = length
        doubtful[text] = not sure


@compiled(parallel=False)
def _emit(words, counts, pieces, firsts, pieces_1, firsts_1, doubtful, odd, offsets, ids):  # type: ignore[no-untyped-def]
    at = of_odd = 0
    for text in range(len(counts)):
        done = offsets[text]
        if doubtful[text]:
            at += counts[text]
            for place in range(done, offsets[text + 1]):
                ids[place] = odd[of_odd]
                of_odd += 1
            continue
        for _ in range(counts[text]):
            word = words[at]
            at += 1
            if word >= 0:
                for piece in range(firsts[word], firsts[word + 1]):
                    ids[done] = pieces[piece]
                    done += 1
            else:
                for piece in range(firsts_1[-1 - word], firsts_1[-word]):
                    ids[done] = pieces_1[piece]
                    done += 1
