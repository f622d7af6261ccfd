"""Models with one tokenizer, whose ids index the rows of one table of embeddings."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psp.models.accelerate import Accelerator
from psp.models.interface import checked_texts, quantized
from psp.models.table import EmbeddingMatrix
from psp.models.text_model import TextModel
from psp.text.encoded import Encoded, offsets_of
from psp.text.tokenizer import Tokenizer

#: Rows whose vectors are hashed at a time; an LSTM's depend on it in their last bits.
HASHED = 8192


class TokenModel(TextModel):
    """A model whose tokenizer's ids index the rows of its table.

    Attributes:
        tokenizer, table: both.
        contextual: makes a sentence's vector from its rows, with methods ``pool`` and ``states`` like those of
            :class:`psp.models.lstm.Lstm`; None for their mean.
    """

    tokenizer: Tokenizer
    table: EmbeddingMatrix
    contextual: Any
    _accelerator: Accelerator

    @property
    def unknown_id(self) -> int:
        """The id of the unknown piece."""
        return self.tokenizer.unknown_id

    @property
    def dim(self) -> int:
        """The number of dimensions of a vector."""
        return self.table.dim if self.contextual is None else self.contextual.dim

    @property
    def vocab_size(self) -> int:
        """The number of subwords, and of rows of the embedding matrix."""
        return len(self.table)

    @property
    def dtype(self) -> str:
        """The data type of the embedding matrix: float32, float16 or int8."""
        return self.table.dtype

    @property
    def nbytes(self) -> int:
        """The size of the embedding matrix, and of an LSTM's matrices, in bytes."""
        return self.table.nbytes + (0 if self.contextual is None else self.contextual.nbytes)

    @property
    def weight(self) -> np.ndarray:
        """The embedding matrix as float32 (vocab_size, dim); float16 and int8 are converted at each call."""
        return self.table.rows()

    def unknown_shares(self, texts: Sequence[str]) -> np.ndarray:
        return self.tokenizer.unknown_shares(checked_texts(texts))

    def ids(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Subword ids of texts: flat int32 ids and int64 offsets; text i has ``ids[offsets[i]:offsets[i + 1]]``.

        Texts are read as by :meth:`embed_raw_text`, with the same errors.
        """
        encoded = self._ids(checked_texts(texts), 0)
        return encoded.ids, encoded.offsets

    def pool(self, ids: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Make vectors from ids, as from texts: float32 (n, dim), zeros for a sentence without ids.

        Raises:
            ValueError: ids are out of range, or offsets do not fit them.
        """
        ids, offsets = np.asarray(ids), np.asarray(offsets, np.int64)
        self._accelerator.expect(len(offsets) - 1)
        if (compiled := self._accelerator.pooling) is None or not compiled.fit(ids, offsets, self.vocab_size):
            self._check_ids(ids, offsets)
        vectors = np.empty((len(offsets) - 1, self.dim), np.float32)
        self._pool(Encoded(ids, offsets), vectors)
        return vectors

    def token_vectors(self, ids: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """The vectors whose mean is a sentence's vector: embeddings, or an LSTM's states; float32 (ids, dim).

        Raises:
            ValueError: as :meth:`pool`.
        """
        if self.contextual is None:
            return self.pool(ids, np.arange(len(ids) + 1))
        ids, offsets = np.asarray(ids), np.asarray(offsets, np.int64)
        self._check_ids(ids, offsets)
        return self.contextual.states(self.table, Encoded(ids, offsets))

    def _check_ids(self, ids: np.ndarray, offsets: np.ndarray) -> None:
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(ids) or (np.diff(offsets) < 0).any():
            raise ValueError(f"offsets must increase from 0 to the number of ids, {len(ids)}")
        if len(ids) and not 0 <= ids.min() <= ids.max() < self.vocab_size:
            raise ValueError(
                f"ids from {ids.min()} to {ids.max()}, but the embedding matrix has {self.vocab_size} rows"
            )

    def _by_tokens(self, texts: list[str], vectors: np.ndarray | None, precision: str, form: Any) -> list[Any]:
        """The token embeddings of each text; with ``vectors``, dicts of ids, token embeddings and vector."""
        ids, offsets = self.ids(texts)
        rows = quantized(self.token_vectors(ids, offsets), precision)
        by_text = []
        for number, (start, stop) in enumerate(itertools.pairwise(offsets)):
            tokens = form(rows[start:stop])
            if vectors is None:
                by_text.append(tokens)
            else:
                by_text.append(
                    {
                        "input_ids": form(ids[start:stop]),
                        "token_embeddings": tokens,
                        "sentence_embedding": form(vectors[number]),
                    }
                )
        return by_text

    def tokenize(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """The name of :meth:`preprocess` before version 6."""
        return self.preprocess(texts)

    def preprocess(self, inputs: Sequence[str], prompt: str | None = None) -> dict[str, np.ndarray]:
        """Flat ``input_ids``, int64, and ``offsets``, int64 (n,), the beginning of each text."""
        before = self._prompt(None, prompt)
        ids, offsets = self.ids([before + text for text in checked_texts(inputs)])
        return {"input_ids": ids.astype(np.int64), "offsets": offsets[:-1]}

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["_accelerator"] = self._accelerator.wanted  # compiled code and its words are not pickled
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._accelerator = Accelerator(state["_accelerator"], self.tokenizer.fast)

    def prepared(self, texts: list[str]) -> list[str]:
        """Prepare texts for the tokenizer: segment and lower-case them, if the model does so."""
        return self.tokenizer.prepared(texts)

    def _ids(self, texts: list[str], first: int) -> Encoded:
        self._accelerator.expect(len(texts))
        encoded = self.tokenizer.encode(texts, self.threads, first=first, fast=self._accelerator.words)
        return encoded if unknown_alone(self.config) else self.tokenizer.meaningful(encoded)

    def _understood(self, encoded: Encoded) -> np.ndarray:
        known = offsets_of(~np.isin(encoded.ids, self.tokenizer.silent_ids))[encoded.offsets]
        return known[1:] > known[:-1]

    def identity(self) -> str:
        digest = self._described()
        for start in range(0, self.vocab_size, HASHED):
            ids = np.arange(start, min(start + HASHED, self.vocab_size))
            digest.update(self.pool(ids, np.arange(len(ids) + 1)).tobytes())
        return digest.hexdigest()

    def _described(self) -> hashlib._Hash:
        """A SHA-256 of all that determines its vectors but the embedding matrix."""
        reads = {key: self.config.get(key) for key in ("lower_case", "segment", "left_out")}
        if "normalisation" in self.config:
            reads["normalisation"] = self.config["normalisation"]
        reads["tokenizer"] = [self.tokenizer.name_on_disk(), self.tokenizer.sha256()]
        if self.contextual is not None:
            reads["sequence"] = [self.contextual.keys(), self.contextual.sha256()]
        return hashlib.sha256(json.dumps([self.vocab_size, self.dim, reads], sort_keys=True).encode())


def unknown_alone(config: Mapping[str, Any]) -> bool:
    """Whether a text of only unknown pieces has the unknown piece's vector.

    Checkpoints imported before config.json had this key have it, too.
    """
    return bool(config.get("unknown_alone", "imported_from" in config))
