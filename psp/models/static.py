"""A trained model: text in, vectors out, with only numpy, sentencepiece and safetensors.

A sentence's vector is the mean of its subwords' embeddings (paper, section 2), or an LSTM's vector of them
(:mod:`psp.models.lstm`). On disk a model is a folder: :mod:`psp.models.folder`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import numpy as np
import sentencepiece

from psp.core.errors import PspError
from psp.models.accelerate import Accelerator
from psp.models.folder import OURS, checked_table, read_contextual, read_folder, save_model
from psp.models.interface import checked_prompts
from psp.models.lstm import Lstm
from psp.models.table import EmbeddingMatrix
from psp.models.token_model import TokenModel
from psp.text.encoded import Encoded
from psp.text.sentencepiece_tokenizer import SentencepieceTokenizer
from psp.text.tokenizer import Tokenizer
from psp.text.tokenizer_kinds import as_tokenizer

#: Sentences per thread from which another thread pays.
MIN_PART = 512


class StaticModel(TokenModel):
    """An embedding matrix and the tokenizer whose ids index its rows.

    Args:
        weight: float32 (vocab_size, dim), or a :class:`psp.models.table.EmbeddingMatrix`; not copied.
        sentencepiece_model: the path of a sentencepiece model, or a tokenizer of any kind.
        config: ``lower_case`` (default false), ``segment`` (default {}) and ``left_out`` (default []) decide how text
            is read; ``prompts`` (default {}) are those of ``encode``; with ``unknown_alone``, a text of unknown pieces
            alone has the unknown piece's vector, as in the published code, not zeros.
        threads: threads of the tokenizer and of compiled pooling.
        accelerate: use compiled code (the extra ``fast``): the same vectors, several times as fast. Default: if it is
            installed and there is enough text for it to pay.
        contextual: what reads the embeddings in the order of the text; None: their mean is taken.

    Raises:
        DataError: the embedding matrix and the tokenizer do not match, or the config names two segmenters, leaves out
            ids that do not exist, or has prompts that are not text.
        PspError: the config names a segmenter that is not installed; or ``accelerate`` is true and numba is not
            installed.
        ValueError: ``accelerate`` is a string, which only transformers have.
    """

    def __init__(
        self,
        weight: np.ndarray | EmbeddingMatrix,
        sentencepiece_model: Path | str | Tokenizer,
        config: Mapping[str, Any] | None = None,
        *,
        threads: int = 1,
        accelerate: bool | str | None = None,
        contextual: Lstm | None = None,
    ) -> None:
        self.tokenizer = as_tokenizer(sentencepiece_model, config)
        self.table = checked_table(weight, self.tokenizer)
        self.config = self.tokenizer.to_config(config or {})
        self.threads, self.contextual = threads, contextual
        self._accelerator = Accelerator(accelerate, self.tokenizer.fast)
        checked_prompts(self.config)

    @classmethod
    def _load(cls, folder: Path, threads: int, accelerate: bool | str | None) -> Self:
        config, table, tokenizer, others = read_folder(folder)
        contextual = read_contextual(config, table, others, folder)
        return cls(table, tokenizer, config, threads=threads, accelerate=accelerate, contextual=contextual)

    def __repr__(self) -> str:
        languages = ", ".join(self.config.get("languages") or []) or "unknown languages"
        rows = f"{self.vocab_size:,} {self.tokenizer.pieces_called}"
        what = "" if self.contextual is None else f", {self.contextual.kind.upper()}"
        return f"<psp.Model: {languages}; {rows}{what}, {self.dim} dimensions, {self.dtype}>"

    @property
    def sentencepiece(self) -> sentencepiece.SentencePieceProcessor:
        """The sentencepiece model; PspError if the tokenizer is of another kind."""
        return self._sentencepiece().processor

    @property
    def sentencepiece_model(self) -> Path:
        """The sentencepiece model's path; PspError if the tokenizer is of another kind."""
        return self._sentencepiece().path

    def _sentencepiece(self) -> SentencepieceTokenizer:
        if not isinstance(self.tokenizer, SentencepieceTokenizer):
            raise PspError(
                "only for models with a sentencepiece tokenizer; this one's is of the kind "
                f"{self.tokenizer.name_on_disk()}"
            )
        return self.tokenizer

    def quantized(self, dtype: str | None = None, dim: int | None = None) -> Self:
        if self.contextual is not None and dim not in (None, self.dim):
            raise ValueError(
                f"dim is {dim}, but this model's {self.contextual.kind.upper()} needs all dimensions of its "
                "embeddings; cut its vectors instead: encode(texts, truncate_dim=...)"
            )
        table = self.table.converted(dtype, None if self.contextual is not None else dim)
        if table is self.table:
            return self
        made = object.__new__(type(self))  # shares sentencepiece and compiled code
        made.__dict__.update(self.__dict__)
        made.table, made.config, made._card = table, dict(self.config), None  # the card has metrics of this model
        if made.truncate_dim is not None and made.truncate_dim >= made.dim:
            made.truncate_dim = None
        if "dim" in made.config:  # the config was read from a file
            made.config |= {"dim": table.dim, "dtype": table.dtype}
        return made

    def save(self, folder: Path | str) -> dict[str, Any]:
        """Write the model as a folder: :func:`psp.models.folder.save_model`."""
        config = {key: value for key, value in self.config.items() if key not in OURS}
        if self.contextual is None:
            return save_model(folder, self.table, self.tokenizer, config)
        keys, tensors = self.contextual.keys(), self.contextual.tensors()
        return save_model(folder, self.table, self.tokenizer, config, encoder=keys, tensors=tensors)

    def _pool(self, encoded: Encoded, out: np.ndarray) -> None:
        if self.contextual is not None:
            self.contextual.pool(self.table, encoded, out)
            return
        ids, offsets = encoded.ids, encoded.offsets
        compiled = self._accelerator.pooling
        parts = min(self.threads, len(out) // MIN_PART) if compiled else 1
        if parts < 2:
            self.table.pool(ids, offsets, out, compiled)
            return
        edges = np.linspace(0, len(out), parts + 1).astype(int).tolist()
        with ThreadPoolExecutor(parts) as pool:
            list(
                pool.map(
                    lambda edge: self.table.pool(ids, offsets[edge[0] : edge[1] + 1], out[edge[0] : edge[1]], compiled),
                    itertools.pairwise(edges),
                )
            )
