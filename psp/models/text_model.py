"""What models of every kind do with text: their common protocol."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from psp.core.progress import Progress
from psp.models.interface import BATCH, SentenceEncoder, as_given, checked_texts
from psp.models.similarity import fast_cosines, unit


class TextModel(SentenceEncoder):
    """A model: text in, vectors out. A kind of models is a subclass, and an entry in :mod:`psp.models.kinds`.

    ``encode`` and the rest of sentence-transformers' interface are in :class:`psp.models.interface.SentenceEncoder`.
    """

    threads: int

    @classmethod
    def load(
        cls,
        folder: Path | str,
        *,
        dtype: str | None = None,
        dim: int | None = None,
        threads: int = 1,
        accelerate: bool | str | None = None,
    ) -> Self:
        """Load a model's folder. The embedding matrix is memory-mapped: processes that load it share its memory.

        Args:
            folder: the folder.
            dtype: convert the embedding matrix to "float32", "float16" or "int8" (default: as saved).
            dim: keep only the first ``dim`` dimensions (default: all); not for LSTMs, combinations and transformers.
            threads: as for the class.
            accelerate: as for the class.

        Raises:
            DataError: a file is missing, damaged, of another version, or does not fit the others.
            PspError: the model needs a segmenter or a library that is not installed.
            ValueError: ``dtype`` or ``dim`` is not available; or as for the class.
        """
        return cls._load(Path(folder), threads, accelerate).quantized(dtype, dim)

    @classmethod
    @abc.abstractmethod
    def _load(cls, folder: Path, threads: int, accelerate: bool | str | None) -> Self:
        """Load a model's folder as it was saved."""

    @property
    @abc.abstractmethod
    def dtype(self) -> str:
        """The data type of the embedding matrix: float32, float16 or int8."""

    @property
    @abc.abstractmethod
    def nbytes(self) -> int:
        """The size in bytes of the embedding matrix and everything else that vectors need."""

    @abc.abstractmethod
    def unknown_shares(self, texts: Sequence[str]) -> np.ndarray:
        """The share of each text's pieces that the model does not know, 0 to 1: float64 (n,).

        Those of the config's ``left_out`` count as unknown. A text whose share is 1 gets zeros as its vector.

        Raises:
            TypeError, DataError: as :meth:`embed_raw_text`.
        """

    @abc.abstractmethod
    def quantized(self, dtype: str | None = None, dim: int | None = None) -> Self:
        """Return a smaller model, or itself if nothing changes.

        Args:
            dtype: "float32", "float16" or "int8" (default: unchanged). Lost precision cannot be recovered.
            dim: the number of leading dimensions to keep (default: all). An LSTM needs all of its embeddings, a
                combination all its parts, and a transformer is neither converted nor cut.

        Raises:
            ValueError: ``dtype`` or ``dim`` is not available.
        """

    @abc.abstractmethod
    def save(self, folder: Path | str) -> dict[str, Any]:
        """Write the model as a folder; the same model gives the same bytes.

        Returns:
            The complete config.

        Raises:
            DataError: an embedding matrix is not finite, or the folder cannot be written.
        """

    @abc.abstractmethod
    def _ids(self, texts: list[str], first: int) -> Any:
        """The input of :meth:`_pool`; ``first`` is the index of the first text, for errors."""

    @abc.abstractmethod
    def _pool(self, encoded: Any, out: np.ndarray) -> None:
        """Write the vectors of texts, float32 (n, dim), into ``out``."""

    @abc.abstractmethod
    def _understood(self, encoded: Any) -> np.ndarray:
        """Tell of each text of :meth:`_ids` whether it has a known piece, bool (n,)."""

    @abc.abstractmethod
    def identity(self) -> str:
        """A SHA-256 of all that determines its vectors: its embedding matrix, pieces and text processing."""

    def embed_raw_text(self, texts: Sequence[str], batch_size: int = BATCH) -> np.ndarray:
        """Embed sentences, float32 (n, dim), in order; a vector depends only on its own text (an LSTM's to rounding).

        Unknown pieces, and those of the config's ``left_out``, are left out; a text without other pieces gets zeros, as
        one without any (empty, white space, invisible characters). If the model names a segmenter, it splits texts that
        contain Han ideographs, whatever their language.

        Args:
            texts: a list of str.
            batch_size: texts encoded at a time; limits the memory needed besides the result.

        Raises:
            TypeError: ``texts`` is a str, or an element is not (its index is named).
            DataError: a text contains half a surrogate pair, which UTF-8 cannot encode (its index is named).
            ValueError: ``batch_size`` is not positive.
        """
        texts = checked_texts(texts)
        vectors = np.empty((len(texts), self.dim), np.float32)
        for part in _batches(len(texts), batch_size):
            self._pool(self._ids(texts[part], part.start), vectors[part])
        return vectors

    def embed_understood(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The vectors of texts, as :meth:`embed_raw_text` gives them, and :meth:`understood`, embedded at once."""
        encoded = self._ids(checked_texts(texts), 0)
        vectors = np.empty((len(texts), self.dim), np.float32)
        self._pool(encoded, vectors)
        return vectors, self._understood(encoded)

    def understood(self, texts: Sequence[str]) -> np.ndarray:
        """Tell of each text whether it has a known piece, bool (n,); of a combination, one that any part knows."""
        return self._understood(self._ids(checked_texts(texts), 0))

    def _embed(self, texts: list[str], batch_size: int, dim: int, *, normalize: bool, shown: bool) -> np.ndarray:
        vectors = np.empty((len(texts), dim), np.float32)
        with contextlib.ExitStack() as stack:
            bar = stack.enter_context(Progress("embedding", "sentences", len(texts))) if shown else None
            for part in _batches(len(texts), batch_size):
                batch = np.empty((len(texts[part]), self.dim), np.float32)
                self._pool(self._ids(texts[part], part.start), batch)
                batch = batch[:, :dim]
                vectors[part] = unit(batch) if normalize else batch
                if bar is not None:
                    bar.add(len(batch))
        return vectors

    def similarity(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Cosines of all vectors of ``a`` (n, dim) with all of ``b`` (m, dim): float32 (n, m); 0 for zero vectors.

        A single vector, (dim,), counts as (1, dim). For torch tensors, or lists of them, the result is a tensor.

        Raises:
            ValueError: ``a`` and ``b`` differ in the number of dimensions.
        """
        left, right = unit(_vectors(a)), unit(_vectors(b))
        if left.shape[1] != right.shape[1]:
            raise ValueError(
                f"vectors of {left.shape[1]} and of {right.shape[1]} dimensions have no cosine; take both from one "
                "model, with the same truncate_dim"
            )
        return as_given(np.clip(left @ right.T, -1, 1, dtype=np.float32), a, b)

    def similarity_pairwise(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The cosine of each vector of ``a`` with the same row of ``b``, both (n, dim): float32 (n,); 0 for zeros.

        For torch tensors, or lists of them, the result is a tensor.

        Raises:
            ValueError: the shapes differ.
        """
        left, right = _vectors(a), _vectors(b)
        if left.shape != right.shape:
            raise ValueError(f"vectors of shape {left.shape} and {right.shape} are not pairs")
        return as_given(fast_cosines(left, right).astype(np.float32), a, b)

    def score_raw_text(self, pairs: Iterable[tuple[str, str]], batch_size: int = BATCH // 2) -> list[float]:
        """The cosine of each pair of texts, -1 to 1; 0 if a text has no pieces.

        Raises:
            TypeError: an element is not a pair of str (its index is named).
            DataError: as :meth:`embed_raw_text`; pair i consists of texts 2i and 2i + 1.
            ValueError: ``batch_size``, in pairs, is not positive.
        """
        flat: list[str] = []
        for index, pair in enumerate(pairs):
            if isinstance(pair, str | bytes) or not isinstance(pair, Sequence) or len(pair) != 2:
                raise TypeError(f"pair {index} is {pair!r:.80}, not two texts")
            flat.extend(pair)
        flat = checked_texts(flat)
        scores: list[float] = []
        for part in _batches(len(flat) // 2, batch_size):
            texts = flat[2 * part.start : 2 * part.stop]
            vectors = np.empty((len(texts), self.dim), np.float32)
            self._pool(self._ids(texts, 2 * part.start), vectors)
            scores.extend(fast_cosines(vectors[0::2], vectors[1::2]).tolist())
        return scores


def _batches(count: int, size: int) -> Iterator[slice]:
    if size < 1:
        raise ValueError(f"batch_size is {size}; it must be 1 or more")
    for start in range(0, count, size):
        yield slice(start, start + size)


def _vectors(vectors: np.ndarray) -> np.ndarray:
    rows = np.asarray(vectors, np.float32)
    rows = rows[None] if rows.ndim == 1 else rows
    if rows.ndim != 2:
        raise ValueError(f"vectors of shape {rows.shape}, not (dim,) or (n, dim)")
    return rows
