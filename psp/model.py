"""A trained model as people use it: text in, vectors out, with numpy, sentencepiece and safetensors alone.

A sentence's vector is the mean of its subwords' rows of one table (paper, section 2). A model is a folder:

- ``model.safetensors``: one tensor, ``embedding.weight``, float32 (vocab_size, dim); row i belongs to piece i
- ``sentencepiece.model``
- ``config.json``: format (1), kind ("psp"), dim, vocab_size, languages, lower_case, segment ({} or, by language,
  {"name": "jieba", "cut_all": bool}), unknown_id, sentencepiece_sha256, recipe, psp_version; and left_out, ids that are
  passed over as unknown ones are, where there are such (imported models: pieces without a row)
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
import safetensors
import safetensors.numpy
import sentencepiece

from psp import __version__
from psp.errors import DataError
from psp.files import atomic, read_json, sha256, write_json
from psp.subword import drop, encode, load_sentencepiece

FORMAT, KIND = 1, "psp"
TENSOR = "embedding.weight"
WEIGHTS, SENTENCEPIECE, CONFIG = "model.safetensors", "sentencepiece.model", "config.json"

# Rows are gathered into a buffer and added up from there, and the buffer must stay in a core's own cache. Measured at
# 1024 dimensions (2 MB of L2), sentences/s for 128 KB to 1 MB: 132k 150k 170k (384 KB) 178k 180k (768 KB) 173k.
BUFFER_BYTES = 768 << 10


class Model:
    """A table of subword vectors and the sentencepiece model whose ids are its rows.

    Args:
        weight: float32 (vocab_size, dim); kept, not copied.
        sentencepiece_model: path of the sentencepiece model.
        config: of its keys, ``lower_case`` (default false), ``segment`` (default {}) and ``left_out`` (default [])
            decide how text is read.
        threads: of sentencepiece.

    Raises:
        DataError: the table and the sentencepiece model do not belong together, or the config names two segmenters
            or leaves out ids that there are not.
        PspError: the config names a segmenter that is not installed.
    """

    def __init__(
        self,
        weight: np.ndarray,
        sentencepiece_model: Path | str,
        config: Mapping[str, Any] | None = None,
        *,
        threads: int = 1,
    ) -> None:
        path = Path(sentencepiece_model)
        self.sentencepiece: sentencepiece.SentencePieceProcessor = load_sentencepiece(path)
        self.weight = _checked_table(weight, self.sentencepiece.get_piece_size(), path)
        self.config = dict(config or {})
        self.threads = threads
        self.unknown_id: int = self.sentencepiece.unk_id()
        self._lower_case = bool(self.config.get("lower_case", False))
        self._segmenter = _segmenter(self.config.get("segment") or {})
        self._left_out = _left_out(self.config.get("left_out") or [], len(self.weight), self.unknown_id)

    @classmethod
    def load(cls, folder: Path | str, *, threads: int = 1) -> Model:
        """Load a model's folder.

        Raises:
            DataError: a file is missing, damaged, of another version, or does not fit the others.
            PspError: the model needs a segmenter that is not installed.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise DataError("no such folder; a model is a folder with config.json in it", folder)
        config = read_json(folder / CONFIG)
        _check_config(config, folder / CONFIG)
        if sha256_of(folder / SENTENCEPIECE) != config["sentencepiece_sha256"]:
            raise DataError("not the file of config.json; copy the whole folder", folder / SENTENCEPIECE)
        weight = _read_table(folder / WEIGHTS)
        shape = (config["vocab_size"], config["dim"])
        if weight.shape != shape:
            raise DataError(f"{weight.shape} numbers, {shape} in config.json; copy the whole folder", folder / WEIGHTS)
        return cls(weight, folder / SENTENCEPIECE, config, threads=threads)

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return int(self.weight.shape[1])

    @property
    def vocab_size(self) -> int:
        """The number of subwords, which are the table's rows."""
        return len(self.weight)

    def embed_raw_text(self, texts: Sequence[str], batch_size: int = 8192) -> np.ndarray:
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
        """
        texts = _checked_texts(texts)
        vectors = np.empty((len(texts), self.dim), np.float32)
        for start in range(0, len(texts), batch_size):
            stop = start + batch_size
            self._pool(*self._ids(texts[start:stop], start), out=vectors[start:stop])
        return vectors

    def score_raw_text(self, pairs: Iterable[tuple[str, str]], batch_size: int = 4096) -> list[float]:
        """The cosine of each pair of texts, -1 to 1; 0 where a text has no pieces.

        Raises:
            TypeError: an element is not a pair of str (its index is named).
            DataError: as :meth:`embed_raw_text`; pair i holds the texts 2i and 2i + 1.
        """
        flat: list[str] = []
        for index, pair in enumerate(pairs):
            if isinstance(pair, str | bytes) or not isinstance(pair, Sequence) or len(pair) != 2:
                raise TypeError(f"pair {index} is {pair!r:.80}, not two texts")
            flat.extend(pair)
        flat = _checked_texts(flat)
        scores: list[float] = []
        for start in range(0, len(flat), 2 * batch_size):
            vectors = np.empty((len(flat[start : start + 2 * batch_size]), self.dim), np.float32)
            self._pool(*self._ids(flat[start : start + 2 * batch_size], start), out=vectors)
            scores.extend(_cosines(vectors[0::2], vectors[1::2]).tolist())
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
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(ids) or (np.diff(offsets) < 0).any():
            raise ValueError(f"offsets must rise from 0 to the {len(ids)} ids")
        if len(ids) and not 0 <= ids.min() <= ids.max() < self.vocab_size:
            raise ValueError(f"ids from {ids.min()} to {ids.max()}, but the table has {self.vocab_size} rows")
        vectors = np.empty((len(offsets) - 1, self.dim), np.float32)
        self._pool(ids, offsets, vectors)
        return vectors

    def _ids(self, texts: list[str], first: int) -> tuple[np.ndarray, np.ndarray]:
        # In this order, as the training text was prepared: jieba's words depend on the case of letters among them.
        if self._segmenter is not None:
            texts = [self._segmenter.segment(text) for text in texts]
        if self._lower_case:
            texts = [text.lower() for text in texts]
        try:
            encoded = encode(self.sentencepiece, texts, self.threads)
        except Exception as error:  # which class it is depends on sentencepiece's version
            if (problem := _surrogate(texts, first)) is None:
                raise
            raise DataError(problem) from error
        if self._left_out is not None:
            encoded = drop(encoded.ids, encoded.offsets, self._left_out[encoded.ids], self.unknown_id)
        return encoded.ids, encoded.offsets

    def _pool(self, ids: np.ndarray, offsets: np.ndarray, out: np.ndarray) -> None:
        """Sentences of the same number of pieces are pooled together: a gather and one sum over an axis.

        Measured, sentences/s at 1024 dimensions: this 180k; a loop over sentences 105k; np.add.reduceat, which needs no
        grouping, 57k at best.
        """
        lengths = np.diff(offsets)
        order = np.argsort(lengths, kind="stable")
        ordered = lengths[order]
        edges = [0, *(np.flatnonzero(np.diff(ordered)) + 1).tolist(), len(order)]
        rows = max(1, BUFFER_BYTES // (4 * self.dim))
        buffer = np.empty((max(rows, int(ordered[-1]) if len(ordered) else 0), self.dim), np.float32)
        for start, stop in itertools.pairwise(edges):
            pieces = int(ordered[start]) if stop > start else 0
            if pieces == 0:
                out[order[start:stop]] = 0.0
                continue
            within = np.arange(pieces)
            step = max(1, rows // pieces)
            for low in range(start, stop, step):
                chosen = order[low : min(low + step, stop)]
                flat = ids[(offsets[chosen][:, None] + within).ravel()]
                gathered = buffer[: len(flat)]
                # mode="clip" gathers straight into the buffer, "raise" by way of a copy; the ids are known to be good.
                np.take(self.weight, flat, axis=0, out=gathered, mode="clip")
                sums = np.add.reduce(gathered.reshape(len(chosen), pieces, -1), axis=1)
                sums /= np.float32(pieces)
                out[chosen] = sums


@overload
def load_model(path: Path | str, *, threads: int = 1) -> Model: ...


@overload
def load_model(*, model_name: Path | str, sp_model: Path | str, threads: int = 1) -> tuple[Model, None]: ...


def load_model(
    path: Path | str | None = None,
    *,
    model_name: Path | str | None = None,
    sp_model: Path | str | None = None,
    threads: int = 1,
) -> Model | tuple[Model, None]:
    """Load a model's folder: :meth:`Model.load`.

    Or, by the names that the published code has for them, one of its checkpoints and the sentencepiece model of that:
    ``model, _ = load_model(model_name="model.pt", sp_model="sp.model")``. See :mod:`psp.importing`; this needs torch.
    """
    if path is not None and model_name is None and sp_model is None:
        return Model.load(path, threads=threads)
    if path is not None or model_name is None or sp_model is None:
        raise TypeError("load_model: give the path of a model's folder, or both model_name and sp_model")
    from psp.importing import load_checkpoint

    return load_checkpoint(model_name, sp_model, threads=threads), None


def save_model(
    folder: Path | str, weight: np.ndarray, sentencepiece_model: Path | str, config: Mapping[str, Any]
) -> dict[str, Any]:
    """Write a model's folder; what an older one held is replaced. The same input gives the same bytes.

    ``config.json`` goes first and comes last: a folder that is half-written has none, and does not load.

    Args:
        folder: where.
        weight: (vocab_size, dim), saved as float32.
        sentencepiece_model: path of the sentencepiece model; copied.
        config: languages, lower_case, segment, recipe and what else should be on record; the other keys are filled in.

    Returns:
        The whole config.

    Raises:
        DataError: the table does not fit the sentencepiece model or is not finite, or the folder cannot be written.
    """
    folder, source = Path(folder), Path(sentencepiece_model)
    processor = load_sentencepiece(source)
    table = np.ascontiguousarray(_checked_table(weight, processor.get_piece_size(), source), np.float32)
    if not np.isfinite(table).all():
        raise DataError("the table holds values that are not finite numbers; it is not saved", folder)
    serialised = source.read_bytes()  # before anything is removed: it may lie in this very folder
    full = {
        "format": FORMAT,
        "kind": KIND,
        "dim": table.shape[1],
        "vocab_size": table.shape[0],
        "languages": [],
        "lower_case": False,
        "segment": {},
        "unknown_id": processor.unk_id(),
        "sentencepiece_sha256": hashlib.sha256(serialised).hexdigest(),
        "recipe": None,
        "psp_version": __version__,
    }
    if clash := sorted(key for key in config if key in full and key in OURS and config[key] != full[key]):
        raise ValueError(f"config: {', '.join(clash)} is filled in by save_model and says something else")
    full |= dict(config)
    try:
        (folder / CONFIG).unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"cannot be replaced: {error.strerror}", folder / CONFIG) from error
    write_table(folder / WEIGHTS, TENSOR, table)
    with atomic(folder / SENTENCEPIECE) as temporary:
        temporary.write_bytes(serialised)
    write_json(folder / CONFIG, full)
    return full


#: Keys of config.json that save_model fills in.
OURS = {"format", "kind", "dim", "vocab_size", "unknown_id", "sentencepiece_sha256", "psp_version"}
_TYPES: dict[str, type | tuple[type, ...]] = {
    "dim": int,
    "vocab_size": int,
    "languages": list,
    "lower_case": bool,
    "segment": dict,
    "unknown_id": int,
    "sentencepiece_sha256": str,
}


def _check_config(config: Any, path: Path) -> None:
    if not isinstance(config, dict) or config.get("kind") != KIND:
        raise DataError('not the config of a psp model ("kind": "psp" is missing)', path)
    if config.get("format") != FORMAT:
        raise DataError(f"format {config.get('format')}, this psp reads {FORMAT}; install the psp that wrote it", path)
    for key, kind in _TYPES.items():
        if not isinstance(config.get(key), kind):
            raise DataError(f"{key} is {config.get(key)!r} or missing; copy the model's folder again", path)


def write_table(path: Path, name: str, table: np.ndarray) -> None:
    """Write a safetensors file of one tensor.

    Raises:
        DataError: the disk is full, or the folder cannot be written to.
    """
    with atomic(path) as temporary:
        try:
            safetensors.numpy.save_file({name: table}, temporary)
        except safetensors.SafetensorError as error:  # this, and no OSError, where the disk is full
            raise DataError(f"cannot be written: {error}; free space or choose another folder", path) from error


def sha256_of(path: Path) -> str:
    """SHA-256 of a model's file.

    Raises:
        DataError: it cannot be read.
    """
    try:
        return sha256(path)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}; copy the model's whole folder", path) from None


def _read_table(path: Path) -> np.ndarray:
    try:
        tensors = safetensors.numpy.load_file(path)
    except FileNotFoundError:
        raise DataError("no such file; copy the model's whole folder", path) from None
    except (OSError, safetensors.SafetensorError) as error:
        raise DataError(f"cut short or damaged ({error}); copy it again", path) from None
    weight = tensors.get(TENSOR)
    if weight is None or weight.dtype != np.float32 or weight.ndim != 2:
        raise DataError(f"no float32 table named {TENSOR} in it", path)
    if not np.isfinite(weight).all():
        raise DataError("the table holds values that are not finite numbers; copy it again", path)
    return weight


def _checked_table(weight: np.ndarray, pieces: int, path: Path) -> np.ndarray:
    if weight.ndim != 2 or weight.shape[1] < 1 or len(weight) != pieces:
        raise DataError(f"has {pieces} pieces, which a table of {weight.shape} does not fit; each needs a row", path)
    return weight.astype(np.float32, copy=False)


def _segmenter(settings: Mapping[str, Any]) -> Any:
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


def _checked_texts(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str | bytes):
        raise TypeError(f"texts must be a list of str, not one {type(texts).__name__}: write [text]")
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


def _cosines(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Row by row, float64; 0 where a row is zeros. In float64, so that no square over- or underflows."""
    a, b = left.astype(np.float64), right.astype(np.float64)
    dots = np.einsum("ij,ij->i", a, b)
    norms = np.sqrt(np.einsum("ij,ij->i", a, a)) * np.sqrt(np.einsum("ij,ij->i", b, b))
    return np.clip(np.divide(dots, norms, out=np.zeros_like(dots), where=norms > 0), -1.0, 1.0)
