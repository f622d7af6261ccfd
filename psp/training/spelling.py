"""Initial rows from the spelling of pieces: pieces that share runs of letters start with similar vectors.

Each run of letters (a letter n-gram, as in fastText) has a random vector, and a piece starts as the sum over its runs.
This helps most where there is least training data: rare pieces, inflected forms, and names and words that two languages
spell nearly alike. It only sets the embedding matrix before training, and costs nothing in training or in use.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

#: Letters in a run, from and to. The piece's own mark of a word's beginning counts as a letter.
LETTERS = (3, 5)
_COLUMNS = 64  # of the runs' vectors, drawn at a time


def runs(piece: str) -> set[str]:
    """The runs of letters of a piece, without diacritics; empty for a symbol such as ``<unk>``.

    >>> sorted(runs("▁été"))
    ['ete', '▁et', '▁ete']
    """
    if piece.startswith("<") and piece.endswith(">"):
        return set()
    text = "".join(c for c in unicodedata.normalize("NFKD", piece) if not unicodedata.combining(c))
    shortest, longest = LETTERS
    return {
        text[start : start + length]
        for length in range(shortest, longest + 1)
        for start in range(len(text) - length + 1)
    }


def spelled_rows(pieces: Sequence[str], dim: int, seed: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """A row for each piece from its runs of letters.

    Args:
        pieces: the vocabulary.
        dim: the rows' width.
        seed: of the runs' vectors, which are drawn from N(0, 1).

    Returns:
        The rows, float32 (pieces, dim): the sum of the vectors of the piece's runs, over the root of their number, so
        that each element has variance 1; and which pieces have such a row, bool (pieces,). A run that only one
        piece has tells nothing about others and does not count.
    """
    numbers: dict[str, int] = {}
    runs_of = [[numbers.setdefault(run, len(numbers)) for run in sorted(runs(piece))] for piece in pieces]
    ends = np.cumsum([0, *map(len, runs_of)])
    columns = np.fromiter((number for row in runs_of for number in row), np.int64, ends[-1])
    shape = (len(pieces), len(numbers))
    among = sparse.csr_matrix((np.ones(len(columns), np.float32), columns, ends), shape=shape)
    among = among[:, np.bincount(columns, minlength=len(numbers)) > 1]
    counts = np.diff(among.indptr)
    among.data = np.repeat(1 / np.sqrt(np.maximum(counts, 1)), counts).astype(np.float32)
    rows = np.empty((len(pieces), dim), np.float32)
    generator = np.random.default_rng([seed, 1])  # [seed] alone would be drawn from elsewhere
    for start in range(0, dim, _COLUMNS):
        width = min(_COLUMNS, dim - start)
        rows[:, start : start + width] = among @ generator.standard_normal((among.shape[1], width), np.float32)
    return rows, counts > 0
