"""Systems for the tests of the tasks."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from psp.evaluation.scorers import EmbeddingScorer
from psp.evaluation.tasks import BootstrapSpec
from psp.evaluation.tasks.splits import Items


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


#: How figures are resampled.
DRAW = BootstrapSpec(resamples=200, seed=1, name="set")
HASHED, SAME = EmbeddingScorer(Hashed()), EmbeddingScorer(Hashed(same=True))


def write(path: Path, rows: Sequence[str], end: str = "\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes("".join(f"{row}{end}" for row in rows).encode())
    return path


def labelled(count: int, seed: int) -> list[str]:
    """Lines of a label, ``good`` or ``bad``, and a text in which it shows."""
    return [
        f"{'good' if number % 2 else 'bad'} {text} {'w61 w62' if number % 2 else 'w63'}"
        for number, text in enumerate(sentences(count, seed))
    ]


def related(folder: Path, **sizes: int) -> Path:
    """Write parts of pairs that share some words of six, and scores from 0.25 to 5 that say how many."""
    for seed, (part, count) in enumerate(sizes.items()):
        rows = []
        for number, text in enumerate(sentences(count, seed)):
            shared = number % 7
            words = [*text.split()[:shared], *sentences(1, 1000 * seed + number)[0].split()[shared:]]
            rows.append(f"{0.25 + shared * 4.75 / 6:.2f}\t{text}\t{' '.join(words)}")
        write(folder / f"{part}.tsv", rows)
    return folder


def features(scorer: EmbeddingScorer, part: Items) -> np.ndarray:
    """What a probe sees: the vectors of texts; the differences and products of those of pairs."""
    sides = [scorer.vectors(list(side)).astype(np.float32) for side in zip(*part.texts, strict=True)]
    return sides[0] if len(sides) == 1 else np.hstack([np.abs(sides[0] - sides[1]), sides[0] * sides[1]])


def sentences(count: int, seed: int, words: int = 6, vocabulary: int = 60) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{number}" for number in rng.integers(0, vocabulary, words)) for _ in range(count)]
