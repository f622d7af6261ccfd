"""Small parallel data for the tests of training (imported by them; not a test)."""

from __future__ import annotations

import numpy as np

from psp.training.batches import Pairs, Sentences


def sentences(rows: list[list[int]]) -> Sentences:
    return Sentences(
        np.array([token for row in rows for token in row], dtype=np.int32),
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
    )


def rows_of(block: Sentences) -> list[list[int]]:
    return [block.ids[a:b].tolist() for a, b in zip(block.offsets[:-1], block.offsets[1:], strict=True)]


class ListSource:
    """Pairs from lists of ids; counts what has been read."""

    def __init__(self, source: list[list[int]], target: list[list[int]], paraphrase: list[bool] | None = None) -> None:
        self.source, self.target = source, target
        self.paraphrase = np.array(paraphrase or [False] * len(source), dtype=bool)
        self.have_read = 0

    def __len__(self) -> int:
        return len(self.source)

    def read(self, start: int, stop: int) -> Pairs:
        self.have_read += stop - start
        return Pairs(
            sentences(self.source[start:stop]), sentences(self.target[start:stop]), self.paraphrase[start:stop]
        )


def numbered(count: int) -> ListSource:
    """Pair i is [i] and [i, i + 1, ...] of varying length, so that a misaligned or lost pair shows."""
    return ListSource([[i] for i in range(count)], [list(range(i, i + 1 + i % 4)) for i in range(count)])


CONCEPTS = 150


def translated(count: int, seed: int) -> ListSource:
    """A made-up parallel corpus: 3 to 7 concepts a sentence, each with one word a language, in any order."""
    rng = np.random.default_rng(seed)
    meanings = [rng.integers(0, CONCEPTS, rng.integers(3, 8)) for _ in range(count)]
    return ListSource(
        [meaning.tolist() for meaning in meanings],
        [(rng.permutation(meaning) + CONCEPTS).tolist() for meaning in meanings],
    )


def retrieval_error(table: np.ndarray, pairs: ListSource) -> float:
    """Share of sources whose nearest target is not their own."""

    def unit(rows: list[list[int]]) -> np.ndarray:
        vectors = np.stack([table[row].mean(axis=0) for row in rows])
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    nearest = (unit(pairs.source) @ unit(pairs.target).T).argmax(axis=1)
    return float((nearest != np.arange(len(pairs))).mean())
