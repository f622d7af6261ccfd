"""A trained model: text in, vectors out, with only numpy, sentencepiece and safetensors.

A sentence's vector is the mean of its subwords' embeddings (paper, section 2), or what an LSTM makes of them
(:mod:`psp.models.lstm`). On disk a model is a folder: :mod:`psp.models.folder`.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Self

import numpy as np
import sentencepiece

from psp.core.errors import PspError
from psp.models.accelerate import Accelerator, accelerated
from psp.models.folder import OURS, checked_table, loader, read_model, save_model
from psp.models.interface import BATCH, SentenceEncoder, as_given, checked_prompts
from psp.models.lstm import Lstm
from psp.models.similarity import fast_cosines, unit
from psp.models.table import Table
from psp.text.encoded import Encoded
from psp.text.sentencepiece_tokenizer import SentencepieceTokenizer
from psp.text.tokenizer import Tokenizer
from psp.text.tokenizer_kinds import as_tokenizer

#: Sentences per thread from which another thread pays.
MIN_PART = 512


class StaticModel(SentenceEncoder):
    """An embedding matrix and the tokenizer whose ids index its rows.

    ``encode`` and the rest of sentence-transformers' interface are in :class:`psp.models.interface.SentenceEncoder`.

    Args:
        weight: float32 (vocab_size, dim), or a :class:`psp.models.table.Table`; not copied.
        sentencepiece_model: the path of a sentencepiece model, or a tokenizer of any kind.
        config: ``lower_case`` (default false), ``segment`` (default {}) and ``left_out`` (default []) decide how text
            is read; ``prompts`` (default {}) are those of ``encode``; with ``unknown_alone``, a text of unknown pieces
            alone has the unknown piece's vector, as in the published code, not zeros.
        threads: threads of the tokenizer and of compiled pooling.
        accelerate: use compiled code (the extra ``fast``): the same vectors, several times as fast. Default: if it is
            installed and there is enough text for it to pay. For LSTMs also "torch", which has the same vectors within
            1e-5, or "bfloat16", with cosines to them above 0.999 in half the time on processors that multiply it
            (:mod:`psp.models.lstm_torch`).
        sequence: what reads the embeddings in the order of the text; None: their mean is taken.

    Raises:
        DataError: the embedding matrix and the tokenizer do not match, or the config names two segmenters, leaves out
            ids that do not exist, or has prompts that are not text.
        PspError: the config names a segmenter that is not installed; or ``accelerate`` is true, and numba is not
            installed, or a word, and torch is not.
        ValueError: ``accelerate`` is a word of LSTMs, and the model has none, or is another word.
    """

    def __init__(
        self,
        weight: np.ndarray | Table,
        sentencepiece_model: Path | str | Tokenizer,
        config: Mapping[str, Any] | None = None,
        *,
        threads: int = 1,
        accelerate: bool | str | None = None,
        sequence: Lstm | None = None,
    ) -> None:
        self.tokenizer = as_tokenizer(sentencepiece_model, config)
        self.table = checked_table(weight, self.tokenizer)
        self.config = self.tokenizer.recorded(config or {})
        self.threads, self.sequence = threads, accelerated(sequence, accelerate)
        self._accelerator = Accelerator(None if isinstance(accelerate, str) else accelerate, self.tokenizer.fast)
        checked_prompts(self.config)

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
            dim: keep only the first ``dim`` dimensions (default: all); not for LSTMs.
            threads: as for the class.
            accelerate: as for the class.

        Raises:
            DataError: a file is missing, damaged, of another version, or does not fit the others.
            PspError: the model needs a segmenter that is not installed.
            ValueError: ``dtype`` or ``dim`` is not available; or as of the class.
        """
        folder = Path(folder)
        config, table, tokenizer, sequence = read_model(folder)
        model = cls(table, tokenizer, config, threads=threads, accelerate=accelerate, sequence=sequence)
        return model.quantized(dtype, dim)

    def __repr__(self) -> str:
        languages = ", ".join(self.config.get("languages") or []) or "unknown languages"
        rows = f"{self.vocab_size:,} {self.tokenizer.pieces_called}"
        what = "" if self.sequence is None else f", {self.sequence.kind.upper()}"
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

    @property
    def unknown_id(self) -> int:
        """The id of the unknown piece."""
        return self.tokenizer.unknown_id

    @property
    def dim(self) -> int:
        """The number of dimensions of a vector."""
        return self.table.dim if self.sequence is None else self.sequence.dim

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
        return self.table.nbytes + (0 if self.sequence is None else self.sequence.nbytes)

    @property
    def weight(self) -> np.ndarray:
        """The embedding matrix as float32 (vocab_size, dim); float16 and int8 are converted at each call."""
        return self.table.rows()

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
        texts = _checked_texts(texts)
        vectors = np.empty((len(texts), self.dim), np.float32)
        for part in _batches(len(texts), batch_size):
            self._pool(self._ids(texts[part], part.start), vectors[part])
        return vectors

    def _texts(self, texts: Iterable[str]) -> list[str]:
        return _checked_texts(texts)

    def _embed(self, texts: list[str], batch_size: int, dim: int, *, normalize: bool, shown: bool) -> np.ndarray:
        vectors = np.empty((len(texts), dim), np.float32)
        with _bar(shown, len(texts)) as done:
            for part in _batches(len(texts), batch_size):
                batch = np.empty((len(texts[part]), self.dim), np.float32)
                self._pool(self._ids(texts[part], part.start), batch)
                batch = batch[:, :dim]
                vectors[part] = unit(batch) if normalize else batch
                done(len(batch))
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
        flat = _checked_texts(flat)
        scores: list[float] = []
        for part in _batches(len(flat) // 2, batch_size):
            texts = flat[2 * part.start : 2 * part.stop]
            vectors = np.empty((len(texts), self.dim), np.float32)
            self._pool(self._ids(texts, 2 * part.start), vectors)
            scores.extend(fast_cosines(vectors[0::2], vectors[1::2]).tolist())
        return scores

    def unknown_shares(self, texts: Sequence[str]) -> np.ndarray:
        """The share of each text's pieces that the model does not know, 0 to 1: float64 (n,).

        Those of the config's ``left_out`` count as unknown. A text whose share is 1 gets zeros as its vector.

        Raises:
            TypeError, DataError: as :meth:`embed_raw_text`.
        """
        return self.tokenizer.unknown_shares(_checked_texts(texts))

    def ids(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Subword ids of texts: flat int32 ids and int64 offsets; text i has ``ids[offsets[i]:offsets[i + 1]]``.

        Texts are read as by :meth:`embed_raw_text`, with the same errors.
        """
        encoded = self._ids(_checked_texts(texts), 0)
        return encoded.ids, encoded.offsets

    def pool(self, ids: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Make vectors of ids, as of texts: float32 (n, dim), zeros for a sentence without ids.

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
        """The vectors of which a sentence's is the mean: embeddings, or an LSTM's states; float32 (ids, dim).

        Raises:
            ValueError: as :meth:`pool`.
        """
        if self.sequence is None:
            return self.pool(ids, np.arange(len(ids) + 1))
        ids, offsets = np.asarray(ids), np.asarray(offsets, np.int64)
        self._check_ids(ids, offsets)
        return self.sequence.states(self.table, Encoded(ids, offsets))

    def _check_ids(self, ids: np.ndarray, offsets: np.ndarray) -> None:
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(ids) or (np.diff(offsets) < 0).any():
            raise ValueError(f"offsets must increase from 0 to the number of ids, {len(ids)}")
        if len(ids) and not 0 <= ids.min() <= ids.max() < self.vocab_size:
            raise ValueError(
                f"ids from {ids.min()} to {ids.max()}, but the embedding matrix has {self.vocab_size} rows"
            )

    def quantized(self, dtype: str | None = None, dim: int | None = None) -> Self:
        """Return a model with a smaller embedding matrix of the same pieces, or itself if nothing changes.

        Args:
            dtype: "float32", "float16" or "int8" (default: unchanged). Lost precision cannot be recovered.
            dim: the number of leading dimensions to keep (default: all).

        Raises:
            ValueError: ``dtype`` or ``dim`` is not available; an LSTM needs all dimensions of its embeddings.
        """
        if self.sequence is not None and dim not in (None, self.dim):
            raise ValueError(
                f"dim is {dim}, but this model's {self.sequence.kind.upper()} needs all dimensions of its embeddings; "
                "cut its vectors instead: encode(texts, truncate_dim=...)"
            )
        table = self.table.converted(dtype, None if self.sequence is not None else dim)
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

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["_accelerator"] = self._accelerator.wanted  # compiled code and its words are not pickled
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._accelerator = Accelerator(state["_accelerator"], self.tokenizer.fast)

    def save(self, folder: Path | str) -> dict[str, Any]:
        """Write the model as a folder: :func:`psp.models.folder.save_model`."""
        config = {key: value for key, value in self.config.items() if key not in OURS}
        if self.sequence is None:
            return save_model(folder, self.table, self.tokenizer, config)
        keys, tensors = self.sequence.keys(), self.sequence.tensors()
        return save_model(folder, self.table, self.tokenizer, config, encoder=keys, tensors=tensors)

    def prepared(self, texts: list[str]) -> list[str]:
        """Prepare texts for the tokenizer: segment and lower-case them, if the model does so."""
        return self.tokenizer.prepared(texts)

    def _ids(self, texts: list[str], first: int) -> Encoded:
        self._accelerator.expect(len(texts))
        encoded = self.tokenizer.encode(texts, self.threads, first=first, fast=self._accelerator.words)
        return encoded if unknown_alone(self.config) else self.tokenizer.meaningful(encoded)

    def _pool(self, encoded: Encoded, out: np.ndarray) -> None:
        if self.sequence is not None:
            self.sequence.pool(self.table, encoded, out)
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


def unknown_alone(config: Mapping[str, Any]) -> bool:
    """Whether a text of unknown pieces alone has the unknown piece's vector.

    Checkpoints that were imported before config.json said so have it, too.
    """
    return bool(config.get("unknown_alone", "imported_from" in config))


def load(folder: Path | str, **options: Any) -> StaticModel:
    """Load a model's folder, with any kind of encoder; the options are those of :meth:`StaticModel.load`.

    Raises:
        DataError, PspError, ValueError: as :meth:`StaticModel.load`.
    """
    made: StaticModel = (loader(Path(folder)) or StaticModel.load)(folder, **options)
    return made


def _batches(count: int, size: int) -> Iterator[slice]:
    if size < 1:
        raise ValueError(f"batch_size is {size}; it must be 1 or more")
    for start in range(0, count, size):
        yield slice(start, start + size)


def _checked_texts(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str | bytes):
        raise TypeError(f"texts must be a list of str, not one {type(texts).__name__}: write [text]")
    if (columns := getattr(texts, "columns", None)) is not None:  # pandas and polars data frames
        names = [str(name) for name in columns]
        raise TypeError(
            f"texts must be a list of str, not a {type(texts).__name__}: write df[{next(iter(names), 'text')!r}]"
            f".tolist() for the column that holds them ({', '.join(names[:8])})"
        )
    if isinstance(texts, Mapping):  # its keys would be embedded
        raise TypeError(f"texts must be a list of str, not a {type(texts).__name__}: write list(texts.values())")
    if isinstance(texts, Set):
        raise TypeError(
            f"texts must be a list of str, not a {type(texts).__name__}, which has no order: write sorted(texts)"
        )
    result = list(texts)
    for index, text in enumerate(result):
        if not isinstance(text, str):
            raise TypeError(f"texts[{index}] is {type(text).__name__}, not str")
    return result


def _vectors(vectors: np.ndarray) -> np.ndarray:
    found = np.asarray(vectors, np.float32)
    found = found[None] if found.ndim == 1 else found
    if found.ndim != 2:
        raise ValueError(f"vectors of shape {found.shape}, not (dim,) or (n, dim)")
    return found


@contextlib.contextmanager
def _bar(shown: bool, total: int) -> Iterator[Callable[[int], None]]:
    if not shown:
        yield lambda count: None
        return
    from psp.core.progress import Progress

    with Progress("embedding", "sentences", total) as progress:
        yield progress.add
