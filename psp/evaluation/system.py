"""Systems compared with a model: untrained baselines and other people's encoders, scored by the same evaluation.

A system is a name and an encoder: one of the baselines (:mod:`psp.evaluation.baselines`), which use the model's own
subwords, or any that :func:`psp.models.registry.load_encoder` loads.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from psp.core.errors import ConfigError, DataError
from psp.evaluation.baselines import WordOverlap, piece_counts, random_table, sif_weights, untrained
from psp.evaluation.scorers import EmbeddingScorer, Scorer
from psp.evaluation.systems import BASELINES, UNTRAINED_SIF, WORD_OVERLAP
from psp.models import HUB, STARTER
from psp.models.embedding_cache import cached
from psp.models.folder import load_model
from psp.models.static import StaticModel


def scorer_of(
    encoder: str,
    *,
    languages: Sequence[str] = (),
    cache: Path | str | None = None,
    model_dir: Path | str | None = None,
    store: Path | str | None = None,
    seed: int = 0,
) -> Scorer:
    """Make a system ready to be scored.

    Args:
        encoder: a baseline, what :func:`psp.models.registry.load_encoder` takes, ``hf://user/name`` or ``starter``.
        languages: those of the text: Chinese is segmented for encoders that need words.
        cache: the folder that keeps other libraries' vectors; None: they are not kept.
        model_dir, store: for the baselines with subwords: the model that has them, and its training store.
        seed: seed of their random embeddings.

    Raises:
        DataError, PspError: the encoder, model or store cannot be loaded.
    """
    if encoder == WORD_OVERLAP:
        return WordOverlap()
    if encoder in BASELINES:
        if model_dir is None or (store is None and encoder == UNTRAINED_SIF):
            raise ConfigError(f"{encoder} has the subwords of a trained model, and is scored with it, by snakemake")
        model = StaticModel.load(model_dir)
        table = random_table(model.vocab_size, model.dim, seed)
        if encoder == UNTRAINED_SIF:
            assert store is not None
            table *= sif_weights(piece_counts(store, model.tokenizer))[:, None]
        return untrained(model, table)
    if encoder.startswith(HUB) or encoder == STARTER:  # not in the registry, which filters use
        return EmbeddingScorer(load_model(encoder))
    return EmbeddingScorer(_Texts(cached(encoder, cache), encoder, languages))


class _Texts:
    """An encoder as the source of a scorer's vectors; errors name the encoder's faults."""

    def __init__(self, encoder: Any, name: str, languages: Sequence[str]) -> None:
        self._encoder, self._name = encoder, name
        self._segmenter: Any = None
        if encoder.segmented and "zh" in languages:
            from psp.text.segment import Segmenter

            self._segmenter = Segmenter("jieba")
        self._dim: int | None = None

    def embed_raw_text(self, sentences: list[str], /) -> np.ndarray:
        texts = sentences if self._segmenter is None else [self._segmenter.segment(text) for text in sentences]
        try:
            vectors = np.asarray(self._encoder.embed(texts), np.float64)
        except (ValueError, TypeError) as error:  # rows of different lengths are not an array
            raise DataError(
                f"did not return a matrix of vectors ({error}); every text needs one of the same length", self._name
            ) from None
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise DataError(f"gave vectors of shape {vectors.shape} for {len(texts)} texts", self._name)
        if self._dim not in (None, vectors.shape[1]):
            raise DataError(f"gave vectors of {self._dim} and of {vectors.shape[1]} dimensions", self._name)
        if not np.isfinite(vectors).all():
            row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise DataError(
                f"the vector of {texts[row]!r} is not finite; leave the system out, or try another version of it",
                self._name,
            )
        self._dim = vectors.shape[1]
        return vectors
