"""What models of every kind do with text, by the interface of sentence-transformers (6.2).

Code written for that library's models runs unchanged with ours. Differences, and their reasons:

- ``batch_size`` defaults to 8,192, not 32: no vector depends on it, and nothing is padded.
- Where sentence-transformers returns tensors unless asked for numpy (token embeddings, similarities), this returns
  numpy unless tensors are requested or given; only then is torch imported.
- An empty list of texts gives an array of shape (0, dim), not (0,).
- A ``truncate_dim`` larger than the model's dimension is an error; it is not ignored.
- Whatever an embedding matrix on a CPU cannot do raises an error that says why: see :data:`UNAVAILABLE`, and the
  arguments ``device`` and ``pool``.
"""

from __future__ import annotations

import abc
import contextlib
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from psp.core.errors import DataError, PspError
from psp.core.logs import Progress
from psp.models.cosines import fast_cosines, unit

log = logging.getLogger(__name__)

BATCH = 8192
PRECISIONS = ("float32", "int8", "uint8", "binary", "ubinary")
OUTPUTS = ("sentence_embedding", "token_embeddings", None)
#: int8 and uint8 ranges taken from fewer vectors than this cause a warning, as in sentence-transformers.
FEW = 100
_ELSEWHERE = "it runs on the CPU; for a GPU, `psp export sentence-transformers` and load that"
_TRAINING = "a loaded model is not trained further here; `psp export sentence-transformers` gives one that can be"
_PROCESSES = "one process does the work: load_model(path, threads=N), or `psp embed --jobs N` for files"
#: Attributes of a SentenceTransformer that people use and a psp model lacks, and why.
UNAVAILABLE = {
    "to": _ELSEWHERE,
    "cuda": _ELSEWHERE,
    "half": 'the table can be smaller, the arithmetic not: load_model(path, dtype="float16")',
    "bfloat16": 'the table can be smaller, the arithmetic not: load_model(path, dtype="float16")',
    "fit": _TRAINING,
    "parameters": _TRAINING,
    "forward": _TRAINING,
    "start_multi_process_pool": _PROCESSES,
    "stop_multi_process_pool": _PROCESSES,
    "encode_multi_process": _PROCESSES,
    "processor": "its subwords are sentencepiece's: use .tokenize(texts), .ids(texts) or .sentencepiece",
}


@dataclass
class ModelCardData:
    """What sentence-transformers' evaluators record about a model; not shown in its README.md."""

    language: list[str]
    #: The metrics of each evaluator's last run.
    eval_results_dict: dict[Any, dict[str, Any]] = field(default_factory=dict)

    def set_evaluation_metrics(self, evaluator: Any, metrics: Mapping[str, Any], epoch: int = 0, step: int = 0) -> None:
        """Keep the metrics of an evaluator."""
        self.eval_results_dict[evaluator] = dict(metrics)


def checked_texts(texts: Iterable[str]) -> list[str]:
    """The texts as a list, after checking that each is a str."""
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


def checked_prompts(config: Mapping[str, Any]) -> dict[str, str]:
    """The prompts of a config, by name.

    Raises:
        DataError: they are not a mapping from names to texts.
    """
    prompts = config.get("prompts") or {}
    if not isinstance(prompts, Mapping) or not all(isinstance(part, str) for item in prompts.items() for part in item):
        raise DataError(f'config.json: prompts is {str(prompts)[:60]}, not names with texts such as {{"query": "q: "}}')
    return dict(prompts)


def quantized(vectors: np.ndarray, precision: str) -> np.ndarray:
    """Quantize vectors as sentence-transformers does; see :meth:`TextModel.encode`.

    Raises:
        ValueError: int8 or uint8 of a single vector, which has no range.
    """
    if precision == "float32":
        return vectors
    if precision in ("binary", "ubinary"):
        bits = np.packbits(vectors > 0, axis=-1)
        return (bits ^ 128).view(np.int8) if precision == "binary" else bits
    if not len(vectors):
        return vectors.astype(precision)
    if len(vectors) == 1:
        raise ValueError(
            f"precision is {precision!r}, whose ranges come from the vectors themselves; a single one has none"
        )
    if len(vectors) < FEW:
        log.warning(
            "encode: %s ranges are taken from only %d vectors; more vectors give better ranges", precision, len(vectors)
        )
    least = vectors.min(axis=0)
    steps = (vectors.max(axis=0) - least) / np.float32(255)
    steps[steps == 0] = 1
    whole = np.clip(np.floor((vectors - least) / steps), 0, 255)
    return whole.astype(np.uint8) if precision == "uint8" else (whole - 128).astype(np.int8)


def tensor(array: np.ndarray) -> Any:
    """Convert an array to a torch tensor, which shares its memory.

    Raises:
        PspError: torch is not installed.
    """
    try:
        import torch
    except ModuleNotFoundError:
        raise PspError(
            "tensors need the package torch: pip install torch, or leave convert_to_numpy as it is"
        ) from None
    return torch.from_numpy(array)


def as_given(vectors: np.ndarray, *given: Any) -> Any:
    """Return ``vectors``, as a tensor if any of ``given`` is a tensor or a list of tensors."""
    first = (one[0] if isinstance(one, list | tuple) and len(one) else one for one in given)
    return tensor(vectors) if any(type(one).__module__.partition(".")[0] == "torch" for one in first) else vectors


def _check_place(device: Any, pool: Any) -> None:
    if pool is not None or isinstance(device, list | tuple):
        raise ValueError(f"{'device is a list' if pool is None else 'pool is given'}: {_PROCESSES}")
    if device is not None and str(device).partition(":")[0] != "cpu":
        raise ValueError(f"device is {str(device)!r}: {_ELSEWHERE}")


class TextModel(abc.ABC):
    """A model: text in, vectors out; ``psp.Model``. A kind is a subclass, and an entry in :mod:`psp.models.folder`.

    :meth:`encode` and what is around it follow sentence-transformers.
    """

    config: dict[str, Any]
    #: The number of dimensions that :meth:`encode` keeps by default; None: all.
    truncate_dim: int | None = None
    _card: ModelCardData | None = None
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
            dtype: convert the embedding matrix to "float32", "float16", "int8" or "int4" (default: as saved).
            dim: keep only the first ``dim`` dimensions (default: all); not for LSTMs, combinations and transformers.
            threads: as for the class.
            accelerate: as for the class.

        Raises:
            DataError: a file is missing, damaged, of another version, or does not fit the others.
            PspError: the model needs a segmenter or a library that is not installed.
            ValueError: ``dtype`` or ``dim`` is not available; or as for the class.
        """
        if cls is TextModel:
            from psp.models.folder import load

            return load(folder, dtype=dtype, dim=dim, threads=threads, accelerate=accelerate)  # type: ignore[return-value]
        return cls._load(Path(folder), threads, accelerate).quantized(dtype, dim)

    @classmethod
    def from_pretrained(cls, path: Path | str, **options: Any) -> TextModel:
        """:func:`psp.load_model` by another name: of a folder, or of an address on the web."""
        from psp.models.folder import load_model

        return load_model(path, **options)

    def save(self, folder: Path | str, *, card: bool = True) -> dict[str, Any]:
        """Write the model as a folder; the same model gives the same bytes.

        Args:
            folder: the folder.
            card: also write README.md, a model card without scores; one that a person has edited stays.

        Returns:
            The complete config.

        Raises:
            DataError: an embedding matrix is not finite, or the folder cannot be written.
        """
        config = self._write(Path(folder))
        if card:
            from psp.models import card as cards
            from psp.models import card_file

            card_file.write(Path(folder), cards.card(config))
        return config

    def push_to_hub(self, repo_id: str, **options: Any) -> str:
        """Upload the model: :func:`psp.models.hub.push`."""
        from psp.models.hub import push

        return push(self, repo_id, **options)

    @classmethod
    @abc.abstractmethod
    def _load(cls, folder: Path, threads: int, accelerate: bool | str | None) -> Self:
        """Load a model's folder as it was saved."""

    @property
    @abc.abstractmethod
    def dtype(self) -> str:
        """The data type of the embedding matrix: float32, float16, int8 or int4."""

    @property
    @abc.abstractmethod
    def nbytes(self) -> int:
        """The size in bytes of the embedding matrix and everything else that vectors need."""

    @abc.abstractmethod
    def quantized(self, dtype: str | None = None, dim: int | None = None) -> Self:
        """Return a smaller model, or itself if nothing changes.

        Args:
            dtype: "float32", "float16", "int8" or "int4" (default: unchanged). Lost precision cannot be recovered.
            dim: the number of leading dimensions to keep (default: all). An LSTM needs all of its embeddings, a
                combination all its parts, and a transformer is neither converted nor cut.

        Raises:
            ValueError: ``dtype`` or ``dim`` is not available.
        """

    @abc.abstractmethod
    def _write(self, folder: Path) -> dict[str, Any]:
        """Write all files but the card; return the complete config."""

    @abc.abstractmethod
    def _read(self, texts: list[str], first: int) -> Any:
        """All ids of texts, the unknown ones too; ``first`` is the index of the first text, for errors."""

    @abc.abstractmethod
    def _kept(self, whole: Any) -> Any:
        """The ids that :meth:`_pool` takes, of those that :meth:`_read` gives."""

    @abc.abstractmethod
    def _unknown(self, whole: Any) -> np.ndarray:
        """:meth:`unknown_shares` by the ids that :meth:`_read` gives."""

    @abc.abstractmethod
    def _count(self, encoded: Any) -> int:
        """The number of ids that :meth:`_kept` gives."""

    def _ids(self, texts: list[str], first: int) -> Any:
        return self._kept(self._read(texts, first))

    @abc.abstractmethod
    def _pool(self, encoded: Any, out: np.ndarray) -> None:
        """Write the vectors of texts, float32 (n, dim), into ``out``."""

    @abc.abstractmethod
    def _understood(self, encoded: Any) -> np.ndarray:
        """Tell of each text of :meth:`_ids` whether it has a known piece, bool (n,)."""

    @abc.abstractmethod
    def identity(self) -> str:
        """A SHA-256 of all that determines its vectors: its embedding matrix, pieces and text processing."""

    @property
    @abc.abstractmethod
    def dim(self) -> int:
        """The number of dimensions of a vector."""

    def encode(
        self,
        inputs: str | Sequence[str] | None = None,
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = BATCH,
        show_progress_bar: bool | None = None,
        output_value: str | None = "sentence_embedding",
        precision: str | None = "float32",
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        device: Any = None,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        pool: None = None,
        chunk_size: int | None = None,
        *,
        sentences: str | Sequence[str] | None = None,
    ) -> Any:
        """Embed texts as ``SentenceTransformer.encode`` does; the module's docstring lists the differences.

        Args:
            inputs: a str, or a list of them.
            prompt_name: a key of :attr:`prompts`, whose text is prepended to each input.
            prompt: text to prepend to each input; overrides ``prompt_name``.
            batch_size: texts encoded at a time; limits the memory needed besides the result.
            show_progress_bar: default: no.
            output_value: "sentence_embedding"; "token_embeddings", the embeddings of a text's subwords, of which its
                vector is the mean, neither truncated nor normalised; or None, both of these and the subword ids.
            precision: "float32"; "int8" or "uint8", 256 steps per dimension between its minimum and maximum over these
                very texts, so that results of different calls are not comparable (for a smaller model:
                ``load_model(path, dtype="int8")``); "binary" or "ubinary", one bit per dimension, set if it is
                positive, packed eight to a number.
            convert_to_numpy: if false, and ``convert_to_tensor`` too, return a list of tensors.
            convert_to_tensor: return one tensor instead of an array; for token embeddings, a list of tensors.
            device: None or "cpu".
            normalize_embeddings: scale each vector to unit length; zero vectors stay zero.
            truncate_dim: keep this many leading dimensions of each vector, before normalisation (default:
                :attr:`truncate_dim`).
            pool: None.
            chunk_size: ignored; it belongs to ``pool``.
            sentences: the name of ``inputs`` before version 6.

        Returns:
            float32 (n, dim), or (dim,) for a str; int8 or uint8 according to ``precision``, with an eighth of the
            columns for "binary" and "ubinary". For tokens, a list of float32 (subwords, dim). For None, a list of dicts
            with ``input_ids``, int32 (subwords,), ``token_embeddings`` and ``sentence_embedding``. For a str, the one
            element of that list.

        Raises:
            TypeError: the texts or the prompt are not str.
            DataError: a text is not valid Unicode (its index is named).
            ValueError: an argument has an unsupported value; the message says why.
            PspError: tensors are requested, and torch is not installed.
        """
        given = sentences if inputs is None else inputs
        if given is None or (inputs is not None and sentences is not None):
            raise TypeError("encode: give inputs, a str or a list of them, or sentences, their older name")
        _check_place(device, pool)
        precision = precision or "float32"
        if precision not in PRECISIONS:
            raise ValueError(f"precision is {precision!r}; there are {', '.join(PRECISIONS)}")
        if output_value not in OUTPUTS:
            raise ValueError(f"output_value is {output_value!r}; there are {', '.join(map(repr, OUTPUTS))}")
        if output_value is None and precision != "float32":
            raise ValueError(f"precision is {precision!r}, which is for vectors alone; output_value=None gives ids too")
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}; it must be 1 or more")
        truncate_dim = self.truncate_dim if truncate_dim is None else truncate_dim
        dim = self.dim if truncate_dim is None else truncate_dim
        if not 1 <= dim <= self.dim:
            raise ValueError(f"truncate_dim is {dim}; the model has {self.dim} dimensions")
        before = self._prompt(prompt_name, prompt)

        texts = checked_texts([given] if isinstance(given, str) else given)
        texts = [before + text for text in texts] if before else texts
        as_tensors = convert_to_tensor or not convert_to_numpy
        vectors: Any = None
        if output_value != "token_embeddings":
            vectors = self._embed(texts, batch_size, dim, normalize=normalize_embeddings, shown=bool(show_progress_bar))
        if output_value == "sentence_embedding":
            vectors = quantized(vectors, precision)
            if as_tensors:
                vectors = tensor(vectors) if convert_to_tensor else list(tensor(vectors))
        else:
            vectors = self._by_tokens(texts, vectors, precision, tensor if as_tensors else np.asarray)
        return vectors[0] if isinstance(given, str) else vectors

    def encode_query(
        self, inputs: str | Sequence[str], prompt_name: str | None = None, prompt: str | None = None, **options: Any
    ) -> Any:
        """:meth:`encode` with the prompt "query", unless another is given."""
        if prompt_name is None and prompt is None:
            prompt_name = "query"
        return self.encode(inputs, prompt_name, prompt, **options)

    def encode_document(
        self, inputs: str | Sequence[str], prompt_name: str | None = None, prompt: str | None = None, **options: Any
    ) -> Any:
        """:meth:`encode` with the prompt "document", unless another is given."""
        if prompt_name is None and prompt is None:
            prompt_name = "document"
        return self.encode(inputs, prompt_name, prompt, **options)

    @property
    def prompts(self) -> Mapping[str, str]:
        """The config's ``prompts``, read-only; "query" and "document" are empty unless it has them."""
        return MappingProxyType({"query": "", "document": ""} | checked_prompts(self.config))

    def get_embedding_dimension(self) -> int:
        """The number of dimensions of the vectors that :meth:`encode` returns."""
        return self.dim if self.truncate_dim is None else min(self.dim, self.truncate_dim)

    def get_sentence_embedding_dimension(self) -> int:
        """The name of :meth:`get_embedding_dimension` before version 6."""
        return self.get_embedding_dimension()

    @property
    def max_seq_length(self) -> float:
        """Infinite: texts are never truncated."""
        return float("inf")

    @max_seq_length.setter
    def max_seq_length(self, value: float | None) -> None:
        if value not in (None, float("inf")):
            raise ValueError(f"max_seq_length is {value}: a psp model reads texts whole; cut them before")

    @property
    def device(self) -> str:
        """Where the model runs: "cpu"."""
        return "cpu"

    @property
    def similarity_fn_name(self) -> str:
        """The function that ``similarity`` computes: "cosine"."""
        return "cosine"

    @similarity_fn_name.setter
    def similarity_fn_name(self, value: Any) -> None:
        if (name := getattr(value, "value", value)) not in (None, "cosine"):
            raise ValueError(
                f"similarity_fn_name is {name!r}: psp models are trained for the cosine, and offer no other"
            )

    @property
    def model_card_data(self) -> ModelCardData:
        """Where sentence-transformers' evaluators store their metrics."""
        if self._card is None:
            self._card = ModelCardData(list(self.config.get("languages") or []))
        return self._card

    def evaluate(self, evaluator: Any, output_path: str | None = None) -> Any:
        """Run an evaluator of sentence-transformers on the model; return its result."""
        return evaluator(self, output_path)

    def __getattr__(self, name: str) -> Any:
        # Called only for attributes that do not exist.
        reason = f": {UNAVAILABLE[name]}" if name in UNAVAILABLE else ""
        raise AttributeError(f"a psp model has no {name}{reason}", name=name, obj=self)

    def _prompt(self, name: str | None, prompt: str | None) -> str:
        for key, value in (("prompt_name", name), ("prompt", prompt)):
            if value is not None and not isinstance(value, str):
                raise TypeError(f"{key} is {value!r:.40}, not a str; write batch_size=N for the size of a batch")
        if prompt is not None:
            if name is not None:
                log.warning("encode: prompt is given, so prompt_name, %r, is ignored", name)
            return prompt
        if name is None:
            return ""
        if name not in self.prompts:
            raise ValueError(f"prompt_name is {name!r}; the model's prompts are {', '.join(self.prompts)}")
        return self.prompts[name]

    @abc.abstractmethod
    def _by_tokens(self, texts: list[str], vectors: np.ndarray | None, precision: str, form: Any) -> list[Any]:
        """Token embeddings of each text, as ``form`` makes them; with ``vectors``, dicts of ids and both vectors."""

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

    def unknown_shares(self, texts: Sequence[str]) -> np.ndarray:
        """The share of each text's pieces that the model does not know, 0 to 1: float64 (n,).

        Those of the config's ``left_out`` count as unknown. A text whose share is 1 gets zeros as its vector.

        Raises:
            TypeError, DataError: as :meth:`embed_raw_text`.
        """
        return self._unknown(self._read(checked_texts(texts), 0))

    def embed_counted(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray, int]:
        """:meth:`embed_raw_text`, :meth:`unknown_shares` and the number of pieces in the vectors, of ids read once."""
        whole = self._read(checked_texts(texts), 0)
        encoded = self._kept(whole)
        vectors = np.empty((len(texts), self.dim), np.float32)
        self._pool(encoded, vectors)
        return vectors, self._unknown(whole), self._count(encoded)

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
