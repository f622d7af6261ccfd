"""Systems for the tests of the tasks."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from psp.evaluation.scorers import EmbeddingScorer


class Hashed:
    """A model that gives every word a random vector: texts that share words are near each other."""

    def __init__(self, dim: int = 16, same: bool = False) -> None:
        self.dim, self.same = dim, same

    def embed_raw_text(self, sentences: list[str]) -> np.ndarray:
        return np.array(
            [np.mean([self._word(word) for word in text.split()] or [self._word("")], 0) for text in sentences]
        )

    def _word(self, word: str) -> np.ndarray:
        return vector("" if self.same else word, self.dim)


@functools.cache
def vector(word: str, dim: int) -> np.ndarray:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4])
    return np.random.default_rng(seed).standard_normal(dim)


HASHED, SAME = EmbeddingScorer(Hashed()), EmbeddingScorer(Hashed(same=True))


def write(path: Path, rows: Sequence[str], end: str = "\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{row}{end}" for row in rows).encode())
    return path


def sentences(count: int, seed: int, words: int = 6, vocabulary: int = 60) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{number}" for number in rng.integers(0, vocabulary, words)) for _ in range(count)]
