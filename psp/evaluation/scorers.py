"""Scorers: what the evaluation asks of a system, namely similarities between texts and nothing else.

A trained model, an untrained table and a word-overlap measure are all evaluated through the same two methods, so that
their figures can stand in one table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from psp.errors import DataError

Floats = npt.NDArray[np.float64]


class Scorer(Protocol):
    """Anything that tells how similar two texts are; larger is more similar, and never NaN."""

    def pairwise(self, a: Sequence[str], b: Sequence[str]) -> Floats:
        """Similarity of ``a[i]`` and ``b[i]``: float64, shape (n,)."""
        ...

    def cross(self, a: Sequence[str], b: Sequence[str]) -> Floats:
        """Similarity of ``a[i]`` and ``b[j]``: float64, shape (n, m); equal texts give equal rows or columns."""
        ...


class Embedder(Protocol):
    """Anything that turns texts into vectors, as :class:`psp.model.Model` does."""

    def embed_raw_text(self, sentences: list[str], /) -> np.ndarray:
        """One row a sentence, shape (n, dim)."""
        ...


class EmbeddingScorer:
    """Cosine similarity of a model's vectors; a vector of zeros is similar to nothing (0), never NaN.

    Each distinct text of a call is embedded once. That also makes ties exact: equal texts get the very same numbers,
    where a matrix product may round equal columns differently at the edge of a block.
    """

    def __init__(self, model: Embedder) -> None:
        self.model = model

    def pairwise(self, a: Sequence[str], b: Sequence[str]) -> Floats:
        if len(a) != len(b):
            raise ValueError(f"{len(a)} texts against {len(b)}: pairwise needs as many on both sides")
        if not a:
            return np.zeros(0)
        texts, rows = distinct([*a, *b])
        vectors = self._unit(texts)
        return _clip(np.einsum("ij,ij->i", vectors[rows[: len(a)]], vectors[rows[len(a) :]]))

    def cross(self, a: Sequence[str], b: Sequence[str]) -> Floats:
        if not a or not b:
            return np.zeros((len(a), len(b)))
        texts_a, rows_a = distinct(a)
        texts_b, rows_b = distinct(b)
        return _clip(self._unit(texts_a) @ self._unit(texts_b).T)[np.ix_(rows_a, rows_b)]

    def _unit(self, texts: list[str]) -> Floats:
        """Vectors of length 1 (or 0), float64, shape (len(texts), dim)."""
        vectors = np.array(self.model.embed_raw_text(texts), dtype=np.float64)  # our own copy: it is changed below
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise ValueError(f"embed_raw_text gave shape {vectors.shape} for {len(texts)} texts")
        if not np.isfinite(vectors).all():
            row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise DataError(f"the model's vector of {texts[row]!r} is not finite: training diverged; train it again")
        # By the largest entry first: squares of entries below 1e-162 would vanish.
        vectors /= _or_one(np.abs(vectors).max(axis=1, keepdims=True, initial=0.0))
        vectors /= _or_one(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)))[:, None]
        return vectors


def distinct(texts: Sequence[str]) -> tuple[list[str], npt.NDArray[np.intp]]:
    """The distinct texts in order of first appearance, and for each text its place among them."""
    places: dict[str, int] = {}
    rows = np.fromiter((places.setdefault(text, len(places)) for text in texts), dtype=np.intp, count=len(texts))
    return list(places), rows


def _or_one(values: Floats) -> Floats:
    return np.where(values > 0, values, 1.0)


def _clip(values: Floats) -> Floats:
    return np.clip(values, -1.0, 1.0)
