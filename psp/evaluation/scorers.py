"""Scorers: the interface through which systems are evaluated; they only provide similarities between texts.

A trained model, random embeddings and word overlap are all evaluated through the same two methods, so that their
scores are comparable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from psp.core.errors import DataError
from psp.models.cosines import unit

Floats = npt.NDArray[np.float64]


class Scorer(Protocol):
    """Anything that measures the similarity of two texts; higher is more similar, and never NaN."""

    def pairwise(self, a: Sequence[str], b: Sequence[str]) -> Floats:
        """Return the similarity of ``a[i]`` and ``b[i]``: float64, shape (n,)."""
        ...

    def cross(self, a: Sequence[str], b: Sequence[str]) -> Floats:
        """Return the similarity of ``a[i]`` and ``b[j]``: float64, shape (n, m); equal texts have equal values."""
        ...


class Embedder(Protocol):
    """Anything that embeds texts, such as :class:`psp.models.static.StaticModel`."""

    def embed_raw_text(self, sentences: list[str], /) -> np.ndarray:
        """Return one row per sentence, shape (n, dim)."""
        ...


class EmbeddingScorer:
    """Cosine similarity of a model's vectors; 0, not NaN, for a zero vector.

    Each distinct text in a call is embedded once. This also makes ties exact: a matrix product may round equal columns
    differently at the edge of a block, but equal texts get the same numbers here.
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

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Embed texts: float64 (texts, dim), not normalised."""
        unique, rows = distinct(texts)
        return self._embed(unique)[rows]

    def known(self, texts: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which texts have a vector of their own, bool (texts,): not zero, and not of unknown tokens only.

        Tokens are those of psp's models; for other encoders, only the vectors count.
        """
        each, rows = distinct(texts)
        known: npt.NDArray[np.bool_] = np.any(self._embed(each) != 0, axis=1)
        if shares := getattr(self.model, "unknown_shares", None):
            known &= shares(each) < 1
        return known[rows]

    def _unit(self, texts: list[str]) -> Floats:
        """Embed texts as unit (or zero) vectors, float64, shape (len(texts), dim)."""
        return unit(self._embed(texts))

    def _embed(self, texts: list[str]) -> Floats:
        vectors = np.array(self.model.embed_raw_text(texts), dtype=np.float64)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise ValueError(f"embed_raw_text gave shape {vectors.shape} for {len(texts)} texts")
        if not np.isfinite(vectors).all():
            row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise DataError(f"the model's vector of {texts[row]!r} is not finite: training diverged; train it again")
        return vectors


def distinct(texts: Sequence[str]) -> tuple[list[str], npt.NDArray[np.intp]]:
    """Return the distinct texts in order of first appearance, and each text's index among them."""
    places: dict[str, int] = {}
    rows = np.fromiter((places.setdefault(text, len(places)) for text in texts), dtype=np.intp, count=len(texts))
    return list(places), rows


def _clip(values: Floats) -> Floats:
    return np.clip(values, -1.0, 1.0)
