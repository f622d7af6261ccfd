"""The compiled loops of :mod:`psp.text.language_scores`."""

from __future__ import annotations

import numpy as np

from psp.core.jit import compiled

LANES = 8  # stretches of the letters that are walked in turn
FEW = 256  # n-grams whose int8 weights can be summed in int16


@compiled(parallel=False, fuse=False)
def find(letters, starts, moves, rows, ngrams, found):  # type: ignore[no-untyped-def]
    """Write to ``found`` the number of the n-gram that ends at each letter, or -1.

    Each step needs the state of the one before it, and waits for memory: walking several stretches in turn is three
    times as fast as walking one.

    Args:
        letters: the bytes of all texts, one after another.
        starts: whether a text begins at each byte, and at the end.
    """
    begin = np.zeros(LANES + 1, np.int64)
    begin[LANES] = common = len(letters)
    for lane in range(1, LANES):
        place = max(lane * len(letters) // LANES, begin[lane - 1])
        while place < len(letters) and not starts[place]:
            place += 1
        begin[lane] = place
    for lane in range(LANES):
        common = min(common, begin[lane + 1] - begin[lane])
    states = np.zeros(LANES, np.int64)
    for step in range(common):
        for lane in range(LANES):
            place = begin[lane] + step
            state = np.int64(0) if starts[place] else states[lane]
            state = np.int64(moves[rows[state] + letters[place]])
            states[lane] = state
            found[place] = ngrams[state]
    for lane in range(LANES):
        state = states[lane]
        for place in range(begin[lane] + common, begin[lane + 1]):
            if starts[place]:
                state = np.int64(0)
            state = np.int64(moves[rows[state] + letters[place]])
            found[place] = ngrams[state]


@compiled(parallel=False, fuse=False)
def add(found, offsets, texts, weights, priors, factors, scores):  # type: ignore[no-untyped-def]
    """Add to the rows of ``scores`` the weights of a text's n-grams, each times log(1 + its count), and the priors.

    ``factors`` has these logarithms for counts up to a limit, from which on they stay the same.

    A text without n-grams keeps its row. ``texts`` are the numbers of those that have a row.
    """
    counts = np.zeros(len(weights), np.int32)
    seen = np.empty(len(found) + 1, np.int32)
    for number in range(len(texts)):
        distinct = 0
        for place in range(offsets[texts[number]], offsets[texts[number] + 1]):
            ngram = found[place]
            if ngram >= 0:
                if counts[ngram] == 0:
                    seen[distinct] = ngram
                    distinct += 1
                counts[ngram] += 1
        if distinct == 0:
            continue
        row = scores[number]
        row[:] = priors
        for d in range(distinct):
            ngram = seen[d]
            factor = factors[min(counts[ngram], len(factors) - 1)]
            counts[ngram] = 0
            for column in range(len(row)):
                row[column] += factor * np.float64(weights[ngram, column])


@compiled(parallel=False, fuse=False)
def settle(found, offsets, rounded, step, error, priors, factors, own, others, least, settled):  # type: ignore[no-untyped-def]
    """Tell which texts are certainly not more probable by more than ``least`` in another language than in their own.

    ``rounded`` has the weights as whole numbers of ``step``, each n-gram's shifted by the same amount in all columns,
    which changes no difference of two columns; ``error`` is the largest error of such a difference, in steps. A
    quarter of the bytes, and sums of 16 bits for the n-grams that occur once, make this several times as fast as the
    scores themselves.

    Args:
        own, others: columns of the text's own language, and of those that may count against it.
        settled: bool (texts,), to be filled. False for a text with no n-gram, or too many.
    """
    columns = rounded.shape[1]
    counts = np.zeros(len(rounded), np.int32)
    seen = np.empty(len(found) + 1, np.int32)
    sums, narrow = np.zeros(columns, np.float64), np.zeros(columns, np.int16)
    unit = step * factors[1]
    for text in range(len(offsets) - 1):
        distinct = 0
        for place in range(offsets[text], offsets[text + 1]):
            ngram = found[place]
            if ngram >= 0:
                seen[distinct] = ngram
                distinct += counts[ngram] == 0
                counts[ngram] += 1
        settled[text] = False
        if distinct == 0 or distinct > FEW:
            for d in range(distinct):
                counts[seen[d]] = 0
            continue
        narrow[:] = 0
        for column in range(columns):
            sums[column] = priors[column] / unit
        wrong, once = 0.0, 0
        for d in range(distinct):
            ngram = seen[d]
            count = counts[ngram]
            counts[ngram] = 0
            if count == 1:
                seen[once] = ngram
                once += 1
            else:
                factor = factors[min(count, len(factors) - 1)] / factors[1]
                wrong += factor
                for column in range(columns):
                    sums[column] += factor * rounded[ngram, column]
        for d in range(once):
            ngram = seen[d]
            for column in range(columns):
                narrow[column] = np.int16(narrow[column] + np.int16(rounded[ngram, column]))
        mine = other = -np.inf
        for column in range(columns):
            total = sums[column] + narrow[column]
            if own[column]:
                mine = max(mine, total)
            elif others[column]:
                other = max(other, total)
        settled[text] = (other - mine + error * (wrong + once)) * unit <= least
