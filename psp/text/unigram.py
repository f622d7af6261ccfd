"""Segment words into the pieces of a sentencepiece unigram model, in compiled code.

This repeats what sentencepiece does to a word (what stands between two spaces): it normalises the word by the model's
own compiled rules, and searches for the segmentation with the highest score. Sentencepiece sums scores in float32 from
the beginning of the sentence, so rounding decides between segmentations with nearly the same score. Here they are
summed in float64, and each word comes with its *reach*: the largest sum of scores up to which rounding cannot
matter. Callers that assemble a sentence from words leave those beyond their reach to sentencepiece.

This is exact if each word's pieces begin with the mark for a space, no piece has that mark elsewhere, runs of spaces
count as one, and no normalisation rule looks at a space; :func:`unsupported_reason` checks it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import sentencepiece

from psp.core.jit import compiled
from psp.text.unigram_file import fields, read_pieces

_E2, _96, _81 = np.uint8(0xE2), np.uint8(0x96), np.uint8(0x81)  # of U+2581, sentencepiece's mark for a space
_SPACE = np.uint8(0x20)
#: Bytes; longer words are not segmented here, because of the memory that they would take.
LONGEST = 4096
#: The score of an unknown character, below the least score of a piece.
_PENALTY = 10.0
# Two segmentations' sums of k scores differ from the true ones by at most k * 2^-24 of the largest sum each; twice
# that is allowed for.
_PRECISION = 2.0**22
# Kinds of pieces in sentencepiece_model.proto.
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = 1, 2, 3, 4, 5, 6


class Unigram(NamedTuple):
    """A unigram model in arrays.

    The pieces are a trie in a double array: node i's child for byte b is ``base[i] + b`` where ``parent`` of that is i;
    ``piece`` is the piece that ends at a node, or -1. ``rules`` is the double array of the normalisation's rules
    (darts-clone's layout), and ``replacements`` the texts that they put in, each followed by a zero byte.
    """

    base: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]
    piece: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float64]
    unknown_score: float
    rules: npt.NDArray[np.uint32]
    replacements: npt.NDArray[np.uint8]


class SegmentedWords(NamedTuple):
    """Segmented words: word w has ``ids[firsts[w]:firsts[w + 1]]``; a run of unknown characters is one id.

    ``costs`` are the sums of their scores, without the sign (0 for an empty word), ``reaches`` the largest cost of
    the sentence up to and with the word at which its pieces are certain (-1: never).
    """

    ids: npt.NDArray[np.int32]
    firsts: npt.NDArray[np.int64]
    costs: npt.NDArray[np.float64]
    reaches: npt.NDArray[np.float64]


def unsupported_reason(processor: sentencepiece.SentencePieceProcessor) -> str | None:
    """Why a sentencepiece model's sentences cannot be assembled from words here; None if they can."""
    try:
        read(processor)
    except ValueError as error:
        return str(error)
    return None


def read(processor: sentencepiece.SentencePieceProcessor) -> Unigram:
    """Extract a model's arrays.

    Raises:
        ValueError: the model is not supported here; the message says why.
    """
    message = np.frombuffer(processor.serialized_model_proto(), np.uint8)
    letters, places, bits, kinds, other = read_pieces(message, processor.get_piece_size())
    trainer, normaliser = {}, {}
    for number, start, stop in other.tolist():
        if number == 2:
            trainer = dict(fields(message[start:stop].tobytes()))
        elif number == 3:
            normaliser = dict(fields(message[start:stop].tobytes()))
    # Numbers and defaults as in sentencepiece_model.proto.
    if trainer.get(3, 1) != 1:
        raise ValueError("it is not a unigram model")
    if not trainer.get(22, 1):
        raise ValueError("pieces may cross spaces (split_by_whitespace is false)")
    if trainer.get(24, 0):
        raise ValueError("spaces are marked at the end of words (treat_whitespace_as_suffix)")
    for number, name in ((3, "add_dummy_prefix"), (4, "remove_extra_whitespaces"), (5, "escape_whitespaces")):
        if not normaliser.get(number, 1):
            raise ValueError(f"{name} is false")
    if np.isin(kinds, (_USER_DEFINED, _BYTE)).any():
        raise ValueError("it has user-defined or byte pieces")
    fault = _marks(letters, places, kinds)
    if fault == 1:
        raise ValueError("a piece crosses a space")
    if fault == 2:
        raise ValueError("a space is not a piece of its own")  # runs of unknown pieces would be one across words
    charsmap = normaliser.get(2, b"")
    size = int.from_bytes(charsmap[:4], "little")
    rules = np.frombuffer(charsmap, "<u4", size // 4, 4) if size else np.empty(0, np.uint32)
    if len(rules) and _rule_with_space(rules):
        raise ValueError("its normalisation has rules for a space and its neighbours")
    scores = bits.view(np.float32).astype(np.float64)
    unknown = float(np.float32(scores[kinds == _NORMAL].min()) - np.float32(_PENALTY))
    replacements = np.frombuffer(charsmap[4 + size :] + b"\0", np.uint8)
    base, parent, piece = _trie(letters, places, kinds)
    return Unigram(base, parent, piece, scores, unknown, rules, replacements)


def segment(
    model: Unigram, letters: npt.NDArray[np.uint8], bounds: npt.NDArray[np.int64], unknown: int
) -> SegmentedWords:
    """Segment words.

    Args:
        model: the model.
        letters: UTF-8.
        bounds: word w is ``letters[bounds[w]:bounds[w + 1]]``; without spaces.
        unknown: the unknown piece's id.
    """
    return SegmentedWords(*_segment(*model, letters, bounds, unknown))


@compiled(parallel=False)
def _marks(letters, places, kinds):  # type: ignore[no-untyped-def]
    """1 where a piece holds a space, or a mark after its beginning; 2 where no piece is the mark alone; else 0."""
    alone = False
    for i in range(len(kinds)):
        if kinds[i] != _NORMAL:
            continue
        start, stop = places[i], places[i + 1]
        for d in range(start, stop):
            if letters[d] == _SPACE:
                return 1
            if d + 2 < stop and letters[d] == _E2 and letters[d + 1] == _96 and letters[d + 2] == _81:
                if d > start:
                    return 1
                alone |= stop - start == 3
    return 0 if alone else 2


@compiled(parallel=False)
def _rule_with_space(rules):  # type: ignore[no-untyped-def]
    """Walk all keys to see whether one has a space.

    A node at index i with offset f has its child for byte b at i ^ f ^ b, which holds b in its lowest byte; a child for
    byte 0 is the end of a key.
    """
    stack = np.empty(len(rules), dtype=np.int64)
    stack[0] = 0
    depth = 1
    while depth:
        depth -= 1
        node = stack[depth]
        unit = np.int64(rules[node])
        base = node ^ ((unit >> 10) << ((unit & 512) >> 6))
        for byte in range(1, 256):
            child = base ^ byte
            if child >= len(rules) or np.int64(rules[child]) & 0x800000FF != byte:
                continue
            if byte == 0x20:
                return True
            stack[depth] = child
            depth += 1
    return False


@compiled(parallel=False)
def _trie(letters, places, kinds):  # type: ignore[no-untyped-def]
    """The pieces that text may be cut into, as a double array: base, parent, piece."""
    nodes = len(letters) + 1
    # First with lists of children: the first child of a node, the next child of its parent, its byte, its piece.
    child, sibling = np.full(nodes, -1, np.int32), np.full(nodes, -1, np.int32)
    byte, ends = np.zeros(nodes, np.uint8), np.full(nodes, -1, np.int32)
    count = 1
    for i in range(len(kinds)):
        if kinds[i] != _NORMAL:
            continue
        node = 0
        for d in range(places[i], places[i + 1]):
            reached = child[node]
            while reached >= 0 and byte[reached] != letters[d]:
                reached = sibling[reached]
            if reached < 0:
                reached = count
                count += 1
                byte[reached], sibling[reached] = letters[d], child[node]
                child[node] = reached
            node = reached
        ends[node] = i
    # Then each node's children are put at the first offset where all fit.
    size = 2 * count + 512
    base, parent = np.zeros(size, np.int32), np.full(size, -1, np.int32)
    piece, slot = np.full(size, -1, np.int32), np.zeros(count, np.int32)
    queue = np.empty(count, np.int32)
    queue[0], parent[0] = 0, 0
    first, last, free = 0, 1, 1
    while first < last:
        node = queue[first]
        first += 1
        if child[node] < 0:
            continue
        least = np.int64(255)
        at = child[node]
        while at >= 0:
            least = min(least, np.int64(byte[at]))
            at = sibling[at]
        while parent[free] >= 0:
            free += 1
        offset = max(free - least, 1)
        tries = 0
        while True:
            if offset + 256 >= len(parent):
                base, parent, piece = _longer(base, 0), _longer(parent, -1), _longer(piece, -1)
            fits = True
            at = child[node]
            while at >= 0:
                if parent[offset + byte[at]] >= 0:
                    fits = False
                    break
                at = sibling[at]
            if fits:
                break
            offset += 1
            tries += 1
        if tries > 64:  # it is crowded there: look further on from now
            free = max(free, offset + least - 64)
        base[slot[node]] = offset
        at = child[node]
        while at >= 0:
            place = offset + byte[at]
            parent[place], piece[place], slot[at] = slot[node], ends[at], place
            queue[last] = at
            last += 1
            at = sibling[at]
    return base, parent, piece


@compiled(parallel=False)
def _longer(array, fill):  # type: ignore[no-untyped-def]
    grown = np.full(2 * len(array), fill, array.dtype)
    grown[: len(array)] = array
    return grown


@compiled(parallel=False)
def _length(lead):  # type: ignore[no-untyped-def]
    """Number of bytes of a UTF-8 character, from its first byte."""
    return 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


@compiled(parallel=False)
def _normalise(rules, replacements, letters, start, stop, text):  # type: ignore[no-untyped-def]
    """Write a word's normalised form; return its length (0 if empty), and whether it holds a mark that was not a space.

    ``text`` is longer by three bytes than the longest possible result.
    """
    text[0], text[1], text[2] = _E2, _96, _81
    size = 3
    space, marked = True, False
    place = start
    while place < stop:
        # The longest rule that applies here.
        length, value = 0, np.int64(-1)
        if len(rules):
            unit = np.int64(rules[0])
            node = (unit >> 10) << ((unit & 512) >> 6)
            for d in range(place, stop):
                node ^= np.int64(letters[d])
                if node >= len(rules):
                    break
                unit = np.int64(rules[node])
                if unit & 0x800000FF != letters[d]:
                    break
                node ^= (unit >> 10) << ((unit & 512) >> 6)
                if unit & 256:
                    length, value = d + 1 - place, np.int64(rules[node]) & 0x7FFFFFFF
        if value >= 0:
            begin, end, source = value, value, replacements
            while replacements[end] != 0:
                end += 1
        else:
            length = min(_length(letters[place]), stop - place)
            begin, end, source = place, place + length, letters
        place += length
        while space and begin < end and source[begin] == _SPACE:
            begin += 1
        for d in range(begin, end):
            if source[d] == _SPACE:
                text[size], text[size + 1], text[size + 2] = _E2, _96, _81
                size += 3
                continue
            text[size] = source[d]
            size += 1
            if source[d] == _81 and text[size - 2] == _96 and text[size - 3] == _E2:
                marked = True
        if begin < end:
            space = source[end - 1] == _SPACE
    while size >= 3 and text[size - 1] == _81 and text[size - 2] == _96 and text[size - 3] == _E2:
        size -= 3
    return size, marked


@compiled(parallel=False)
def _segment(base, parent, piece, scores, unknown_score, rules, replacements, letters, bounds, unknown):  # type: ignore[no-untyped-def]
    words = len(bounds) - 1
    # The longest text that a byte may become: the longest replacement, with three bytes for each of its spaces.
    most, run = 4, 0
    for d in range(len(replacements)):
        run = run + (3 if replacements[d] == _SPACE else 1) if replacements[d] else 0
        most = max(most, run)
    firsts, costs, reaches = np.zeros(words + 1, np.int64), np.zeros(words), np.zeros(words)
    ids = np.empty(4 * words + 64, np.int32)
    longest = 0
    for w in range(words):
        if bounds[w + 1] - bounds[w] <= LONGEST:
            longest = max(longest, bounds[w + 1] - bounds[w])
    text = np.empty(most * longest + 8, np.uint8)
    best, second = np.empty(len(text) + 1), np.empty(len(text) + 1)
    came_from, by = np.empty(len(text) + 1, np.int32), np.empty(len(text) + 1, np.int32)
    for w in range(words):
        done = firsts[w]
        if bounds[w + 1] - bounds[w] > LONGEST:
            firsts[w + 1], reaches[w] = done, -1.0
            continue
        size, marked = _normalise(rules, replacements, letters, bounds[w], bounds[w + 1], text)
        for d in range(size + 1):
            best[d] = second[d] = -np.inf
        best[0] = 0.0
        start = characters = 0
        while start < size:
            characters += 1
            so_far = best[start]
            length = min(_length(text[start]), size - start)
            node, single = 0, False
            for d in range(start, size):
                following = base[node] + np.int64(text[d])
                if base[node] == 0 or parent[following] != node:
                    break
                node = following
                if piece[node] >= 0:
                    single |= d + 1 - start == length
                    score = so_far + scores[piece[node]]
                    if score > best[d + 1]:
                        second[d + 1], best[d + 1] = best[d + 1], score
                        came_from[d + 1], by[d + 1] = start, piece[node]
                    elif score > second[d + 1]:
                        second[d + 1] = score
            if not single:
                end = start + length
                score = so_far + unknown_score
                if score > best[end]:
                    second[end], best[end], came_from[end], by[end] = best[end], score, start, -1
                elif score > second[end]:
                    second[end] = score
            start += length
        # Backwards along the best: its pieces, and how near to it another came.
        gap, cost, pieces, known = np.inf, 0.0, 0, True
        at = size
        while at > 0:
            gap = min(gap, best[at] - second[at])
            cost += abs(best[at] - best[came_from[at]])
            pieces += by[at] >= 0 or known
            known = by[at] >= 0
            at = came_from[at]
        while done + pieces > len(ids):
            ids = _longer(ids, 0)
        at, place, known = size, done + pieces, True
        while at > 0:
            if by[at] >= 0 or known:
                place -= 1
                ids[place] = by[at] if by[at] >= 0 else unknown
            known = by[at] >= 0
            at = came_from[at]
        firsts[w + 1] = done + pieces
        costs[w] = max(cost, 1e-9) if size else 0.0
        reaches[w] = -1.0 if marked else np.inf if gap == np.inf else gap * _PRECISION / (characters + 2) - cost - 1.0
    return ids[: firsts[words]], firsts, costs, reaches
