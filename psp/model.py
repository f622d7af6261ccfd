"""A trained model as people use it: text in, vectors out, with numpy, sentencepiece and safetensors alone.

A sentence's vector is the mean of its subwords' rows of one table (paper, section 2). On disk a model is a folder:
:mod:`psp.modelfolder`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import sentencepiece

from psp.accelerate import Accelerator
from psp.cosine import fast_cosines, normalized
from psp.errors import DataError
from psp.interface import BATCH, SentenceEncoder, as_given, checked_prompts
from psp.modelfolder import OURS, SENTENCEPIECE, checked_table, read_model, save_model
from psp.subword import drop, encode, load_sentencepiece
from psp.table import Table

if TYPE_CHECKING:
    from psp.segment import Segmenter
    from psp.words import WordCache

#: Sentences for which a thread is worth starting.
MIN_PART = 512


class Model(SentenceEncoder):
    """A table of subword vectors and the sentencepiece model whose ids are its rows.

    ``encode`` and what else sentence-transformers' models have: :class:`psp.interface.SentenceEncoder`.

    Args:
        weight: float32 (vocab_size, dim), or a :class:`psp.table.Table`; kept, not copied.
        sentencepiece_model: path of the sentencepiece model.
        config: of its keys, ``lower_case`` (default false), ``segment`` (default {}) and ``left_out`` (default [])
            decide how text is read, and ``prompts`` (default {}) are those of ``encode``.
        threads: of sentencepiece, and of compiled pooling.
        accelerate: use compiled code (the extra ``fast``): the same vectors, several times as fast. By default where
            it is installed, and there is enough text for it to pay.

    Raises:
        DataError: the table and the sentencepiece model do not belong together, or the config names two segmenters
            leaves out ids that there are not, or has prompts that are no texts.
        PspError: the config names a segmenter that is not installed; or ``accelerate`` is true, and numba is not
            there.
    """

    def __init__(
        self,
        weight: np.ndarray | Table,
        sentencepiece_model: Path | str,
        config: Mapping[str, Any] | None = None,
        *,
        threads: int = 1,
        accelerate: bool | None = None,
    ) -> None:
        self.sentencepiece_model = Path(sentencepiece_model)
        self.sentencepiece: sentencepiece.SentencePieceProcessor = load_sentencepiece(self.sentencepiece_model)
        self.table = checked_table(weight, self.sentencepiece.get_piece_size(), self.sentencepiece_model)
        self.config = dict(config or {})
        self.threads = threads
        self.unknown_id: int = self.sentencepiece.unk_id()
        self._lower_case = bool(self.config.get("lower_case", False))
        self._segmenter = _segmenter(self.config.get("segment") or {})
        self._left_out = _left_out(self.config.get("left_out") or [], len(self.table), self.unknown_id)
        self._accelerator = Accelerator(accelerate, self._words)
        checked_prompts(self.config)

    @classmethod
    def load(
        cls,
        folder: Path | str,
        *,
        dtype: str | None = None,
        dim: int | None = None,
        threads: int = 1,
        accelerate: bool | None = None,
    ) -> Model:
        """Load a model's folder. The table is mapped from its file: processes that load it share its memory.

        Args:
            folder: the folder.
            dtype: turn the table into "float32", "float16" or "int8" (default: as it was saved).
            dim: keep the first so many dimensions (default: all).
            threads: as of the class.
            accelerate: as of the class.

        Raises:
            DataError: a file is missing, damaged, of another version, or does not fit the others.
            PspError: the model needs a segmenter that is not installed.
            ValueError: ``dtype`` or ``dim`` cannot be had.
        """
        folder = Path(folder)
        config, table = read_model(folder)
        model = cls(table, folder / SENTENCEPIECE, config, threads=threads, accelerate=accelerate)
        return model.quantized(dtype, dim)

    @classmethod
    def from_pretrained(cls, path: Path | str, **options: Any) -> Model:
        """:func:`load_model` by another name: of a folder, or of ``hf://user/name``."""
        return load_model(path, **options)

    def __repr__(self) -> str:
        languages = ", ".join(self.config.get("languages") or []) or "unknown languages"
        return f"<psp.Model: {languages}; {self.vocab_size:,} subwords, {self.dim} dimensions, {self.dtype}>"

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self.table.dim

    @property
    def vocab_size(self) -> int:
        """The number of subwords, which are the table's rows."""
        return len(self.table)

    @property
    def dtype(self) -> str:
        """What the table holds: float32, float16 or int8."""
        return self.table.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the table."""
        return self.table.nbytes

    @property
    def weight(self) -> np.ndarray:
        """The table as float32 (vocab_size, dim); of float16 and int8 a new one at each call."""
        return self.table.rows()

    def embed_raw_text(self, texts: Sequence[str], batch_size: int = BATCH) -> np.ndarray:
        """Vectors of sentences, float32 (n, dim), in their order; none depends on another or on ``batch_size``.

        Unknown pieces, and those of the config's ``left_out``, are left out; a text of nothing else has the unknown
        piece's row. A text without pieces (empty, white space, invisible characters) has zeros. Where the model names
        a segmenter, it splits the texts that hold Han ideographs, whatever their language, and leaves the others alone.

        Args:
            texts: a list of str.
            batch_size: texts encoded at a time: memory beside the result.

        Raises:
            TypeError: ``texts`` is a str, or holds something that is not (its index is named).
            DataError: a text holds half a surrogate pair, which no UTF-8 can express (its index is named).
            ValueError: ``batch_size`` is not positive.
        """
        texts = _checked_texts(texts)
        vectors = np.empty((len(texts), self.dim), np.float32)
        for part in _batches(len(texts), batch_size):
            self._pool(*self._ids(texts[part], part.start), out=vectors[part])
        return vectors

    def _texts(self, texts: Iterable[str]) -> list[str]:
        return _checked_texts(texts)

    def _embed(self, texts: list[str], batch_size: int, dim: int, *, normalize: bool, shown: bool) -> np.ndarray:
        vectors = np.empty((len(texts), dim), np.float32)
        with _bar(shown, len(texts)) as done:
            for part in _batches(len(texts), batch_size):
                batch = np.empty((len(texts[part]), self.dim), np.float32)
                self._pool(*self._ids(texts[part], part.start), out=batch)
                batch = batch[:, :dim]
                vectors[part] = normalized(batch) if normalize else batch
                done(len(batch))
        return vectors

    def similarity(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Cosines of all vectors of ``a`` (n, dim) with all of ``b`` (m, dim): float32 (n, m); 0 beside zeros.

        One vector, (dim,), counts as (1, dim). Tensors of torch, or lists of them, give a tensor.

        Raises:
            ValueError: vectors of ``a`` and of ``b`` differ in length.
        """
        left, right = normalized(_vectors(a)), normalized(_vectors(b))
        if left.shape[1] != right.shape[1]:
            raise ValueError(
                f"vectors of {left.shape[1]} and of {right.shape[1]} dimensions have no cosine; take both from one "
                "model, with the same truncate_dim"
            )
        return as_given(np.clip(left @ right.T, -1, 1, dtype=np.float32), a, b)

    def similarity_pairwise(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """The cosine of each vector of ``a`` (n, dim) with that of ``b`` (n, dim): float32 (n,); 0 beside zeros.

        Tensors of torch, or lists of them, give a tensor.

        Raises:
            ValueError: their numbers differ.
        """
        left, right = _vectors(a), _vectors(b)
        if left.shape != right.shape:
            raise ValueError(f"vectors of shape {left.shape} and {right.shape} are not pairs")
        return as_given(fast_cosines(left, right).astype(np.float32), a, b)

    def score_raw_text(self, pairs: Iterable[tuple[str, str]], batch_size: int = BATCH // 2) -> list[float]:
        """The cosine of each pair of texts, -1 to 1; 0 where a text has no pieces.

        Raises:
            TypeError: an element is not a pair of str (its index is named).
            DataError: as :meth:`embed_raw_text`; pair i holds the texts 2i and 2i + 1.
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
            self._pool(*self._ids(texts, 2 * part.start), out=vectors)
            scores.extend(fast_cosines(vectors[0::2], vectors[1::2]).tolist())
        return scores

    def ids(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Subword ids of texts: flat int32 ids and int64 offsets; text i has ``ids[offsets[i]:offsets[i + 1]]``.

        What is left out, lower-cased and segmented, and what is raised: as in :meth:`embed_raw_text`.
        """
        return self._ids(_checked_texts(texts), 0)

    def pool(self, ids: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """Mean of each sentence's rows, float32 (n, dim); zeros for a sentence without ids.

        Raises:
            ValueError: ids outside the table, or offsets that do not fit the ids.
        """
        ids, offsets = np.asarray(ids), np.asarray(offsets, np.int64)
        self._accelerator.expect(len(offsets) - 1)
        if (compiled := self._accelerator.pooling) is None or not compiled.fit(ids, offsets, self.vocab_size):
            self._check_ids(ids, offsets)
        vectors = np.empty((len(offsets) - 1, self.dim), np.float32)
        self._pool(ids, offsets, vectors)
        return vectors

    def _check_ids(self, ids: np.ndarray, offsets: np.ndarray) -> None:
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(ids) or (np.diff(offsets) < 0).any():
            raise ValueError(f"offsets must rise from 0 to the {len(ids)} ids")
        if len(ids) and not 0 <= ids.min() <= ids.max() < self.vocab_size:
            raise ValueError(f"ids from {ids.min()} to {ids.max()}, but the table has {self.vocab_size} rows")

    def quantized(self, dtype: str | None = None, dim: int | None = None) -> Model:
        """A model with a smaller table of the same pieces; this one where nothing changes.

        Args:
            dtype: "float32", "float16" or "int8" (default: as it is). What is lost does not come back.
            dim: the first so many dimensions (default: all).

        Raises:
            ValueError: one of the two cannot be had.
        """
        table = self.table.converted(dtype, dim)
        if table is self.table:
            return self
        made = object.__new__(Model)  # sentencepiece, and what is compiled, are shared
        made.__dict__.update(self.__dict__)
        made.table, made.config, made._card = table, dict(self.config), None  # whose metrics are of this one
        if made.truncate_dim is not None and made.truncate_dim >= table.dim:
            made.truncate_dim = None
        if "dim" in made.config:  # it was read from a file
            made.config |= {"dim": table.dim, "dtype": table.dtype}
        return made

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["_accelerator"] = self._accelerator.wanted  # what is compiled, and the words, stay behind
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._accelerator = Accelerator(state["_accelerator"], self._words)

    def save(self, folder: Path | str) -> dict[str, Any]:
        """Write the model as a folder: :func:`psp.modelfolder.save_model`."""
        config = {key: value for key, value in self.config.items() if key not in OURS}
        return save_model(folder, self.table, self.sentencepiece_model, config)

    def push_to_hub(self, repo_id: str, **options: Any) -> str:
        """Upload the model: :func:`psp.hub.push`."""
        from psp.hub import push

        return push(self, repo_id, **options)

    def prepared(self, texts: list[str]) -> list[str]:
        """Texts as sentencepiece is given them: segmented and lower-cased, where the model does so."""
        # In this order, as the training text was prepared: jieba's words depend on the case of letters among them.
        texts = self._segmented(texts)
        return [text.lower() for text in texts] if self._lower_case else texts

    def _segmented(self, texts: list[str]) -> list[str]:
        return texts if self._segmenter is None else [self._segmenter.segment(text) for text in texts]

    def _words(self) -> WordCache:
        from psp.words import WordCache

        return WordCache(self.sentencepiece, self._lower_case, self.config.get("left_out") or [])

    def _ids(self, texts: list[str], first: int) -> tuple[np.ndarray, np.ndarray]:
        self._accelerator.expect(len(texts))
        if (words := self._accelerator.words) is not None:
            return self._ids_by(words, texts, first)
        texts = self.prepared(texts)
        try:
            encoded = encode(self.sentencepiece, texts, self.threads)
        except Exception as error:  # which class it is depends on sentencepiece's version
            if (problem := _surrogate(texts, first)) is None:
                raise
            raise DataError(problem) from error
        if self._left_out is not None:
            encoded = drop(encoded.ids, encoded.offsets, self._left_out[encoded.ids], self.unknown_id)
        return encoded.ids, encoded.offsets

    def _ids_by(self, words: WordCache, texts: list[str], first: int) -> tuple[np.ndarray, np.ndarray]:
        texts = self._segmented(texts)
        try:
            return words.encode(texts, self.threads)
        except UnicodeEncodeError as error:
            raise DataError(_surrogate(texts, first) or str(error)) from error

    def _pool(self, ids: np.ndarray, offsets: np.ndarray, out: np.ndarray) -> None:
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


@overload
def load_model(
    path: Path | str,
    *,
    dtype: str | None = None,
    dim: int | None = None,
    threads: int = 1,
    accelerate: bool | None = None,
) -> Model: ...


@overload
def load_model(*, model_name: Path | str, sp_model: Path | str, threads: int = 1) -> tuple[Model, None]: ...


def load_model(
    path: Path | str | None = None,
    *,
    model_name: Path | str | None = None,
    sp_model: Path | str | None = None,
    dtype: str | None = None,
    dim: int | None = None,
    threads: int = 1,
    accelerate: bool | None = None,
) -> Model | tuple[Model, None]:
    """Load a model's folder, or one of the Hugging Face Hub (``hf://user/name``, ``hf://user/name@revision``).

    The other arguments are those of :meth:`Model.load`.

    Or, by the names that the published code has for them, one of its checkpoints and the sentencepiece model of that:
    ``model, _ = load_model(model_name="model.pt", sp_model="sp.model")``. See :mod:`psp.importing`; this needs torch.

    Raises:
        TypeError: arguments of the one way are mixed with those of the other.
        DataError, PspError, ValueError: as :meth:`Model.load`, :func:`psp.hub.fetch` and
            :func:`psp.importing.read_checkpoint`.
    """
    if path is not None and model_name is None and sp_model is None:
        if str(path).startswith("hf://"):
            from psp.hub import fetch

            path = fetch(str(path))
        return Model.load(path, dtype=dtype, dim=dim, threads=threads, accelerate=accelerate)
    if path is not None or model_name is None or sp_model is None:
        raise TypeError("load_model: give the path of a model's folder, or both model_name and sp_model")
    if (dtype, dim, accelerate) != (None, None, None):
        raise TypeError("load_model: dtype, dim and accelerate are for a model's folder; import the checkpoint first")
    from psp.importing import load_checkpoint

    return load_checkpoint(model_name, sp_model, threads=threads), None


def _segmenter(settings: Mapping[str, Any]) -> Segmenter | None:
    distinct = {json.dumps(value, sort_keys=True): value for value in settings.values()}
    if len(distinct) > 1:
        raise DataError(f"config.json: two segmenters, {sorted(distinct)}: a text does not say whose it is; keep one")
    for value in distinct.values():
        if not isinstance(value, dict) or "name" not in value:
            raise DataError(f'config.json: segment holds {value!r}, not {{"name": "jieba", "cut_all": false}}')
        from psp.segment import Segmenter

        return Segmenter(value["name"], cut_all=bool(value.get("cut_all", False)))
    return None


def _left_out(ids: Any, pieces: int, unknown: int) -> np.ndarray | None:
    """A mask over the pieces, bool; None, which costs nothing, for no ids."""
    if not isinstance(ids, list) or not all(type(number) is int and 0 <= number < pieces for number in ids):
        raise DataError(f"config.json: left_out is {str(ids)[:60]}, not a list of ids below {pieces}")
    if unknown in ids:
        raise DataError(
            f"config.json: left_out holds {unknown}, the unknown piece, which stands for a text of no other"
        )
    if not ids:
        return None
    mask = np.zeros(pieces, bool)
    mask[ids] = True
    return mask


def _batches(count: int, size: int) -> Iterator[slice]:
    if size < 1:
        raise ValueError(f"batch_size is {size}; it must be 1 or more")
    for start in range(0, count, size):
        yield slice(start, start + size)


def _checked_texts(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str | bytes):
        raise TypeError(f"texts must be a list of str, not one {type(texts).__name__}: write [text]")
    if (columns := getattr(texts, "columns", None)) is not None:  # pandas' and polars' tables
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


def _surrogate(texts: list[str], first: int) -> str | None:
    for index, text in enumerate(texts):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return f"texts[{first + index}] is not valid Unicode: half a surrogate pair at character {error.start}"
    return None


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
    from psp.progress import Progress

    with Progress("embedding", "sentences", total) as progress:
        yield progress.add
