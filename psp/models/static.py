"""A trained model: text in, vectors out, with only numpy, sentencepiece and safetensors.

A sentence's vector is the mean of its subwords' embeddings (paper, section 2), or an LSTM's vector of them
(:mod:`psp.models.lstm`). On disk a model is a folder: :mod:`psp.models.folder`.

Compiled code gives the same ids and vectors, so only time matters. Importing numba takes half a second, in which 50,000
sentences can be embedded without it. So compiled code is loaded once that many were requested, or earlier if numba is
already imported. The very first use compiles the code, which takes ten seconds.
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import json
import logging
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import sentencepiece

from psp.core.errors import PspError
from psp.models.folder import OURS, as_tokenizer, checked_table, read_contextual, read_folder, save_model
from psp.models.table import EmbeddingMatrix
from psp.models.text_model import TextModel, checked_prompts, checked_texts, quantized
from psp.text.sentencepiece_tokenizer import SentencepieceTokenizer
from psp.text.tokenizer import Encoded, Tokenizer, offsets_of

if TYPE_CHECKING:
    from psp.models.lstm import Lstm
    from psp.text.tokenizer import Fast

log = logging.getLogger(__name__)

# Rows are gathered into a buffer and added up from there, and the buffer must stay in a core's own cache. Measured at
# 1024 dimensions (2 MB of L2), sentences/s for 128 KB to 1 MB: 132k 150k 170k (384 KB) 178k 180k (768 KB) 173k.
BUFFER_BYTES = 768 << 10
#: Sentences before numba is imported, and before compiled code is loaded where it is imported.
WORTH_IMPORT, WORTH_LOADING = 50_000, 20_000


class Accelerator:
    """Counts a model's sentences and loads compiled code when it pays.

    Args:
        wanted: True: from the first sentence; False: never; None: when it pays.
        cache: creates the compiled encoder of text, or raises ValueError if there is none.

    Raises:
        PspError: ``wanted`` is true, and numba is not installed.
        ValueError: ``wanted`` is a string, which only transformers have.
    """

    def __init__(self, wanted: bool | str | None, cache: Callable[[], Fast]) -> None:
        if isinstance(wanted, str):
            raise ValueError(f"accelerate is {wanted!r}; it is True, False or None for models that are no transformers")
        self._seen = 0
        self.wanted, self._cache_of = wanted, cache
        self._lock = threading.Lock()
        self._never = wanted is False or importlib.util.find_spec("numba") is None
        self.pooling: ModuleType | None = None
        """:mod:`psp.models.pooling`, once it is in use."""
        self.words: Fast | None = None
        """The compiled encoder of text, once it is in use, if the tokenizer has one."""
        if wanted and self._never:
            raise PspError("accelerate=True needs numba: pip install 'paraphrastic[fast]'")
        if wanted:
            self._load()

    def expect(self, sentences: int) -> None:
        """Count sentences that are about to be embedded."""
        if self.pooling is None and not self._never:
            self._seen += sentences
            if self._seen >= (WORTH_LOADING if "numba" in sys.modules else WORTH_IMPORT):
                self._load()

    def _load(self) -> None:
        with self._lock:
            if self.pooling is not None:
                return
            import psp.models.pooling

            try:
                self.words = self._cache_of()
            except ValueError as error:
                log.info("sentences are encoded without compiled code: %s", error)
            self.pooling = psp.models.pooling


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
        """The data type of the embedding matrix: float32, float16, int8 or int4."""
        return self.table.dtype

    @property
    def nbytes(self) -> int:
        """The size of the embedding matrix, and of an LSTM's matrices, in bytes."""
        return self.table.nbytes + (0 if self.contextual is None else self.contextual.nbytes)

    @property
    def weight(self) -> np.ndarray:
        """The embedding matrix as float32 (vocab_size, dim); others are converted at each call."""
        return self.table.rows()

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

    def _read(self, texts: list[str], first: int) -> Encoded:
        self._accelerator.expect(len(texts))
        return self.tokenizer.raw_ids(texts, self.threads, first=first, fast=self._accelerator.words)

    def _kept(self, whole: Encoded) -> Encoded:
        encoded = self.tokenizer.kept(whole)
        return encoded if unknown_alone(self.config) else self.tokenizer.meaningful(encoded)

    def _unknown(self, whole: Encoded) -> np.ndarray:
        return self.tokenizer.unknown_shares(whole)

    def _count(self, encoded: Encoded) -> int:
        return len(encoded.ids)

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
    """Whether a text of only unknown pieces has the unknown piece's vector."""
    return bool(config.get("unknown_alone", False))


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

    def _write(self, folder: Path) -> dict[str, Any]:
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
            write_means(self.table, ids, offsets, out, compiled)
            return
        edges = np.linspace(0, len(out), parts + 1).astype(int).tolist()
        with ThreadPoolExecutor(parts) as pool:
            list(
                pool.map(
                    lambda edge: write_means(
                        self.table, ids, offsets[edge[0] : edge[1] + 1], out[edge[0] : edge[1]], compiled
                    ),
                    itertools.pairwise(edges),
                )
            )


def write_means(
    table: EmbeddingMatrix, ids: np.ndarray, offsets: np.ndarray, out: np.ndarray, compiled: ModuleType | None = None
) -> None:
    """Write the mean of each sentence's rows to ``out``, float32 (sentences, dim); zeros if it has no ids.

    A mean adds up a sentence's rows one after another, in order, in float32 (8 bits with a scale per dimension: in
    integers), and then divides. This is NumPy; compiled code gives bitwise the same.

    Args:
        table: the embeddings.
        ids: int32, known to be in range.
        offsets: int64; sentence i has ``ids[offsets[i]:offsets[i + 1]]``.
        out: the output.
        compiled: :mod:`psp.models.pooling`, to use compiled code.
    """
    if compiled is not None and compiled.fits(table):
        compiled.pool(table, ids, offsets, out)
        return
    lengths = np.diff(offsets)
    order = np.argsort(lengths, kind="stable")
    ordered = lengths[order]
    edges = [0, *(np.flatnonzero(np.diff(ordered)) + 1).tolist(), len(order)]
    rows = max(1, BUFFER_BYTES // (4 * table.dim))
    buffer = np.empty((rows, table.dim), table.values.dtype)
    # Sentences of the same number of pieces are pooled together: a gather and one sum over an axis. Measured,
    # sentences/s at 1024 dimensions: this 180k; a loop over sentences 105k; np.add.reduceat 57k at best.
    for start, stop in itertools.pairwise(edges):
        pieces = int(ordered[start]) if stop > start else 0
        if pieces == 0:
            out[order[start:stop]] = 0.0
            continue
        if pieces > rows:
            for number in order[start:stop].tolist():
                out[number] = _long_sum(table, ids[offsets[number] : offsets[number + 1]], buffer)
                out[number] /= np.float32(pieces)
            continue
        within = np.arange(pieces)
        step = max(1, rows // pieces)
        for low in range(start, stop, step):
            chosen = order[low : min(low + step, stop)]
            flat = ids[(offsets[chosen][:, None] + within).ravel()]
            gathered = buffer[: len(flat)]
            # mode="clip" gathers straight into the buffer, "raise" copies first; the ids are known to be valid.
            np.take(table.values, flat, axis=0, out=gathered, mode="clip")
            sums = _sums(table, gathered, flat, len(chosen))
            sums /= np.float32(pieces)
            out[chosen] = sums


def _long_sum(table: EmbeddingMatrix, ids: np.ndarray, buffer: np.ndarray) -> np.ndarray:
    """Sum more rows than the buffer holds, float32 (dim,): gathered at once, a text of 10 MB would take 9 GB.

    Rows are added one after another, as everywhere, so that the result is bitwise that of a single sum.
    """
    by_dimension = None if table.by_row else table.scale  # integers, whose sum is scaled
    total: np.ndarray = np.zeros(table.dim, np.float32 if by_dimension is None else np.int64)
    for start in range(0, len(ids), len(buffer)):
        flat = ids[start : start + len(buffer)]
        rows = np.take(table.values, flat, axis=0, out=buffer[: len(flat)], mode="clip")
        if by_dimension is not None:
            total = total + np.add.reduce(rows, axis=0, dtype=np.int64)
            continue
        if table.scale is not None:
            rows = rows * table.scale[flat].reshape(-1, 1)
        parts = np.concatenate([total[None], rows], dtype=np.float32) if start else rows.astype(np.float32)
        total = np.add.accumulate(parts, axis=0)[-1] if table.dim == 1 else np.add.reduce(parts, axis=0)
    return total if by_dimension is None else total.astype(np.float32) * by_dimension


def _sums(table: EmbeddingMatrix, gathered: np.ndarray, flat: np.ndarray, sentences: int) -> np.ndarray:
    """Sum the rows of each sentence, float32 (sentences, dim)."""
    parts = gathered.reshape(sentences, -1, table.dim)
    if table.scale is not None and not table.by_row:
        return np.add.reduce(parts, axis=1, dtype=np.int32).astype(np.float32) * table.scale
    if table.scale is not None:
        parts = parts * table.scale[flat].reshape(sentences, -1, 1)
    parts = parts.astype(np.float32, copy=False)
    if table.dim == 1:  # reduce does not add contiguous numbers in order
        return np.add.accumulate(parts, axis=1)[:, -1]
    return np.add.reduce(parts, axis=1)
