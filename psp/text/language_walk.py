"""The compiled loop of :mod:`psp.text.language_scores`."""

from __future__ import annotations

import numpy as np

from psp.core.jit import compiled


@compiled(parallel=False, fuse=False)
def walk(letters, offsets, moves, rows, ngrams, weights, priors, factors, scores):  # type: ignore[no-untyped-def]
    """Add to each text's row of ``scores`` the weights of its n-grams, each times log(1 + its count), and the priors.

    ``factors`` has these logarithms for counts up to a limit, from which on they stay the same.

    A text without n-grams keeps its row.
    """
    counts = np.zeros(len(weights), np.int32)
    longest = 0
    for text in range(len(offsets) - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    seen = np.empty(longest, np.int32)
    for text in range(len(offsets) - 1):
        state, distinct = np.int64(0), 0
        for place in range(offsets[text], offsets[text + 1]):
            state = np.int64(moves[rows[state] + letters[place]])
            ngram = ngrams[state]
            if ngram >= 0:
                if counts[ngram] == 0:
                    seen[distinct] = ngram
                    distinct += 1
                counts[ngram] += 1
        if distinct == 0:
            continue
        row = scores[text]
        row[:] = priors
        for d in range(distinct):
            ngram = seen[d]
            factor = factors[min(counts[ngram], len(factors) - 1)]
            counts[ngram] = 0
            for column in range(len(row)):
                row[column] += factor * np.float64(weights[ngram, column])
