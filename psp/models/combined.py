"""Combinations: several models used as one, with only NumPy.

A text's vector joins the parts' vectors, each scaled to length 1 and multiplied by the square root of its part's
weight. So a cosine is the weighted mean of the parts' cosines, if no part's vector is zero; a zero vector stays zero.
Subwords and character trigrams together give better scores than either alone (Wieting & Gimpel 2018).

On disk a combination is a model's folder (:mod:`psp.models.folder`):

- ``config.json``: format (2), kind ("psp"), dim (of the whole), languages, recipe, psp_version; ``encoder``, with kind
  "concat" and ``parts``, each the config.json of that model with its ``weight``; ``tokenizer``, with kind "parts" and
  ``files``: the SHA-256 of all parts' files by their names in this folder
- ``model.safetensors``: the tensors of part 0 as ``parts.0.embedding.weight`` and so on
- the tokenizers' files: ``0.sentencepiece.model``, ``1.vocabulary.txt`` and so on

Parts that were trained together may be joined in other ways: concatenated as they are (``encoder`` then has ``scaled``,
false), or added (its kind is "add"). Vectors of models trained apart are not in the same space, so their sum is
meaningless, and the longer ones would dominate.
"""

from __future__ import annotations

import hashlib
import json
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from psp.core import __version__
from psp.core.errors import DataError
from psp.models import CONFIG, WEIGHTS, lstm, tokenizer_files
from psp.models.cosines import unit
from psp.models.folder import (
    ADD,
    CONCAT,
    FORMAT,
    KIND,
    MEAN,
    OURS,
    PARTS,
    check_config,
    described,
    encoder_kind,
    read_config,
    read_contextual,
    read_parts,
    sums,
    table_tensors,
    write_folder,
)
from psp.models.static import StaticModel, TokenModel
from psp.models.table import LARGEST, NOT_FINITE, read_table
from psp.models.text_model import TextModel, checked_prompts

#: Bytes of vectors scaled at a time, so that all passes but the first find them in a core's own cache: 2.0 million
#: vectors of 300 dimensions a second on one core, instead of 1.5 million.
CACHE_BYTES = 512 << 10
#: Keys that a combination takes from its parts' configs if they all agree.
_SHARED = ("recipe", "licence", "prompts")


#: What needs one vocabulary or one embedding matrix, and so a part.
OF_PARTS = frozenset(
    {
        "weight", "table", "tokenizer", "sentencepiece", "sentencepiece_model", "unknown_id", "vocab_size", "ids",
        "pool", "prepared", "preprocess", "tokenize", "contextual", "token_vectors",
    }
)  # fmt: skip


class _Renamed:
    """A combination's folder as a part's tokenizer sees it: :class:`psp.text.tokenizer.Folder`."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder, self._number = folder, number

    def __truediv__(self, name: str) -> Path:
        return self._folder / f"{self._number}.{name}"


class CombinedModel(TextModel):
    """Several models as one, whose vectors are joined.

    It lacks all that needs one vocabulary or one embedding matrix (``ids``, ``pool``, ``weight``, ``tokenizer``,
    token embeddings); the models in :attr:`parts` have it.

    Args:
        parts: two models or more, not copied; a combination among them is replaced by its own parts.
        weights: a number from 1e-15 to 1e15 for each (default: 1). A combination's weight is divided among its parts in
            proportion to theirs, so that it counts like any other model of this weight.
        config: further keys of config.json, such as ``prompts`` (default: ``recipe``, ``licence`` and
            ``prompts`` if all parts have the same, and the ``languages`` of all).
        join: ``concat`` or ``add``; to add them, the parts must have been trained together.
        scaled: whether parts are scaled to length 1 and weighted before they are concatenated; never if they are added.

    Raises:
        TypeError: a part is not a psp model.
        ValueError: there are fewer than two parts, or the weights do not fit them.
        DataError: a part is of a kind that cannot be saved as one, or the prompts are not text.
    """

    def __init__(
        self,
        parts: Sequence[TextModel],
        weights: Sequence[float] | None = None,
        config: Mapping[str, Any] | None = None,
        *,
        join: str = CONCAT,
        scaled: bool = True,
    ) -> None:
        self.joined_by, self.scaled = join, scaled and join != ADD
        given = checked_weights([1.0] * len(parts) if weights is None else weights, len(parts))
        flat = [pair for part, weight in zip(parts, given, strict=True) for pair in _flattened(part, weight)]
        self.parts = tuple(part for part, _ in flat)
        self.weights = tuple(checked_weights((weight for _, weight in flat), len(flat)))
        if not self.scaled and set(self.weights) != {1.0}:
            raise ValueError("weights are for parts that are scaled to length 1; leave them out")
        if join == ADD and len({part.dim for part in self.parts}) > 1:
            raise ValueError(f"vectors of {' and '.join(str(part.dim) for part in self.parts)} dimensions have no sum")
        shared = {}
        for key in _SHARED:
            first, *others = (part.config.get(key) for part in self.parts)
            if first is not None and all(other == first for other in others):
                shared[key] = first
        languages = dict.fromkeys(code for part in self.parts for code in part.config.get("languages") or [])
        self.config = {
            "languages": list(languages),
            "recipe": None,
            **shared,
            **(config or {}),
        }
        checked_prompts(self.config)

    @classmethod
    def _load(cls, folder: Path, threads: int, accelerate: bool | str | None) -> Self:
        config = read_config(folder)
        path = folder / CONFIG
        if (join := encoder_kind(config)) not in (CONCAT, ADD):
            raise DataError("not a combination of models; load it with psp.load_model", folder)
        entries = config["encoder"].get("parts")
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise DataError("encoder lists no parts; copy the model's folder again", path)
        scaled = config["encoder"].get("scaled", True)
        if not isinstance(scaled, bool):
            raise DataError(f"encoder: scaled is {scaled!r:.40}, not true or false; copy the folder again", path)
        try:
            weights = checked_weights([entry.get("weight") for entry in entries], len(entries))
        except ValueError as error:
            raise DataError(f"encoder: {error}; copy the model's folder again", path) from None
        configs = [{key: value for key, value in entry.items() if key != "weight"} for entry in entries]
        listed: dict[str, str] = {}
        for number, one in enumerate(configs):
            check_config(one, path)
            if encoder_kind(one) not in (MEAN, *lstm.KINDS):
                raise DataError(f"part {number} has an encoder that no part can have; copy the folder again", path)
            listed |= {f"{number}.{name}": digest for name, digest in tokenizer_files(one, path).items()}
        if tokenizer_files(config, path) != listed:
            raise DataError("tokenizer and encoder list different files; copy the model's folder again", path)
        divided = _divided(read_table(folder / WEIGHTS), len(configs), folder / WEIGHTS)
        parts = []
        for number, (one, tensors) in enumerate(zip(configs, divided, strict=True)):
            table, tokenizer, others = read_parts(one, tensors, _Renamed(folder, number), folder)
            contextual = read_contextual(one, table, others, folder)
            parts.append(
                StaticModel(table, tokenizer, one, threads=threads, accelerate=accelerate, contextual=contextual)
            )
        own = {
            key: value for key, value in config.items() if key not in ("tokenizer", "encoder")
        }  # the parts have them
        try:
            model = cls(parts, weights, own, join=join, scaled=scaled)
        except ValueError as error:
            raise DataError(f"encoder: {error}; copy the model's folder again", path) from None
        if model.dim != config["dim"]:
            raise DataError(f"dim is {config['dim']}, but the parts have {model.dim}; copy the folder again", path)
        return model

    def __repr__(self) -> str:
        languages = ", ".join(self.config.get("languages") or []) or "unknown languages"
        between = " + " if self.scaled or self.joined_by == ADD else ", "
        parts = between.join(
            (f"{weight:g} x " if self.scaled else "")
            + f"{len(part.table):,} {part.tokenizer.pieces_called}"
            + ("" if part.contextual is None else f" ({part.contextual.kind.upper()})")
            for part, weight in zip(self.parts, self.weights, strict=True)
        )
        return f"<psp.Model: {languages}; {parts}, {self.dim} dimensions, {self.dtype}>"

    @property
    def dim(self) -> int:
        """The number of dimensions of a vector: the sum over all parts, unless they are added."""
        return self.parts[0].dim if self.joined_by == ADD else sum(part.dim for part in self.parts)

    @property
    def dtype(self) -> str:
        """The data type of the embedding matrices; if parts differ, all types, joined by "+"."""
        return "+".join(dict.fromkeys(part.dtype for part in self.parts))

    @property
    def nbytes(self) -> int:
        """The size of all parts in bytes."""
        return sum(part.nbytes for part in self.parts)

    @property
    def threads(self) -> int:
        """The number of threads; setting it sets it for all parts."""
        return max(part.threads for part in self.parts)

    @threads.setter
    def threads(self, value: int) -> None:
        for part in self.parts:
            part.threads = value

    def join(self, vectors: Sequence[np.ndarray]) -> np.ndarray:
        """Join vectors of the parts: the combination's vectors, float32 (n, dim).

        Args:
            vectors: for each part its vectors of the same n texts, float32 (n, dim of the part).
        """
        out = np.empty((len(vectors[0]), self.dim), np.float32)
        self._join(vectors, out)
        return out

    def _join(self, vectors: Iterable[np.ndarray], out: np.ndarray) -> None:
        if self.joined_by == ADD:
            out[:] = 0
            for own in vectors:
                out += own
            return
        start = 0
        for part, weight, own in zip(self.parts, self.weights, vectors, strict=True):
            place = out[:, start : start + part.dim]
            start += part.dim
            if not self.scaled:
                place[:] = own
                continue
            rows = max(1, CACHE_BYTES // (4 * part.dim))
            for first in range(0, len(own), rows):
                some = slice(first, first + rows)
                np.multiply(unit(own[some]), np.float32(math.sqrt(weight)), out=place[some])

    def quantized(self, dtype: str | None = None, dim: int | None = None) -> Self:
        if dim not in (None, self.dim):
            raise ValueError(
                f"dim is {dim}, but the first dimensions of a combination are those of its first parts alone; cut the "
                "models themselves, and combine them again"
            )
        parts = tuple(part.quantized(dtype) for part in self.parts)
        if all(new is old for new, old in zip(parts, self.parts, strict=True)):
            return self
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made.parts, made.config, made._card = parts, dict(self.config), None  # the card has metrics of this model
        return made

    def _write(self, folder: Path) -> dict[str, Any]:
        entries: list[dict[str, Any]] = []
        tensors: dict[str, np.ndarray] = {}
        contents: dict[str, bytes] = {}
        for number, (part, weight) in enumerate(zip(self.parts, self.weights, strict=True)):
            if not part.table.finite():
                raise DataError(
                    f"part {number} has {NOT_FINITE}; it was not saved",
                    folder,
                )
            files = part.tokenizer.contents()
            own = part.contextual
            keys, others = ({"kind": MEAN}, {}) if own is None else (own.keys(), own.tensors())
            config = {key: value for key, value in part.config.items() if key not in OURS}
            entries.append({"weight": weight, **described(part.table, part.tokenizer, config, sums(files), keys)})
            tensors |= {f"parts.{number}.{name}": one for name, one in {**table_tensors(part.table), **others}.items()}
            contents |= {f"{number}.{name}": content for name, content in files.items()}
        unscaled = {"scaled": False} if self.joined_by == CONCAT and not self.scaled else {}
        full = {
            "format": FORMAT,
            "kind": KIND,
            "tokenizer": {"kind": PARTS, "files": sums(contents)},
            "encoder": {"kind": self.joined_by, **unscaled, "parts": entries},
            "dim": self.dim,
            "psp_version": __version__,
            **{key: value for key, value in self.config.items() if key not in OURS},
        }
        return write_folder(folder, full, tensors, contents)

    def __getattr__(self, name: str) -> Any:
        if name in OF_PARTS:
            raise AttributeError(
                f"a combination of models has no {name}: use that of a part, model.parts[0].{name}", name=name, obj=self
            )
        return super().__getattr__(name)

    # Ids are a list, of each part's.

    def _read(self, texts: list[str], first: int) -> Any:
        return [part._read(texts, first) for part in self.parts]

    def _kept(self, whole: Any) -> Any:
        return [part._kept(ids) for part, ids in zip(self.parts, whole, strict=True)]

    def _unknown(self, whole: Any) -> np.ndarray:
        """By the part that knows most of the text."""
        return np.min([part._unknown(ids) for part, ids in zip(self.parts, whole, strict=True)], axis=0)

    def _count(self, encoded: Any) -> int:
        return sum(len(ids.ids) for ids in encoded)

    def _pool(self, encoded: Any, out: np.ndarray) -> None:
        def pooled(part: StaticModel, ids: Any) -> np.ndarray:
            vectors = np.empty((len(out), part.dim), np.float32)
            part._pool(ids, vectors)
            return vectors

        self._join(map(pooled, self.parts, encoded), out)  # one part's vectors in memory at a time

    def _understood(self, encoded: Any) -> np.ndarray:
        return np.logical_or.reduce([part._understood(ids) for part, ids in zip(self.parts, encoded, strict=True)])

    def identity(self) -> str:
        parts = [[weight, part.identity()] for weight, part in zip(self.weights, self.parts, strict=True)]
        unscaled = [] if self.scaled else [self.joined_by]
        return hashlib.sha256(json.dumps(["parts", parts, *unscaled]).encode()).hexdigest()

    def _by_tokens(self, texts: list[str], vectors: np.ndarray | None, precision: str, form: Any) -> list[Any]:
        raise ValueError(
            f"output_value is {None if vectors is not None else 'token_embeddings'!r}: each part of a combination "
            "splits a text in its own way; use model.parts[0].encode"
        )


def parts_of(model: TextModel) -> tuple[TokenModel, ...]:
    """The parts of a combination; of any other model, itself alone."""
    if isinstance(model, CombinedModel):
        return model.parts
    assert isinstance(model, TokenModel)
    return (model,)


def checked_weights(weights: Iterable[Any], parts: int) -> list[float]:
    """Weights as float, after checking that there is one positive number for each of two or more parts.

    Raises:
        ValueError: they are not.
    """
    given = list(weights)
    if parts < 2:
        raise ValueError(f"a combination of {parts} models; it needs two or more")
    if len(given) != parts:
        raise ValueError(f"{len(given)} weights for {parts} models; give one for each")
    for weight in given:
        number = not isinstance(weight, bool) and isinstance(weight, numbers.Real)
        if not number or not 1 / LARGEST <= float(weight) <= LARGEST:
            raise ValueError(f"the weight {weight!r} is not a number from {1 / LARGEST:g} to {LARGEST:g}")
    return [float(weight) for weight in given]


def _flattened(part: TextModel, weight: float) -> list[tuple[StaticModel, float]]:
    """A part, or the parts of a combination, with their weights in the whole."""
    if isinstance(part, CombinedModel):
        if not part.scaled:
            raise DataError("its parts are joined as they are, not scaled to length 1; it cannot be combined further")
        # Its vectors would be scaled to length 1, and its cosines be the means of its parts' by their weights.
        return [(one, weight * (own / sum(part.weights))) for one, own in zip(part.parts, part.weights, strict=True)]
    if not isinstance(part, TextModel):
        raise TypeError(f"a part is {type(part).__name__}, not a psp model")
    if not isinstance(part, StaticModel) or type(part)._pool is not StaticModel._pool:
        raise DataError(f"{type(part).__name__}: models of this class cannot be combined; psp does not know its files")
    return [(part, weight)]


def _divided(tensors: Mapping[str, np.ndarray], parts: int, path: Path) -> list[dict[str, np.ndarray]]:
    """The tensors of each part, by the names that they have in its own folder."""
    by_part: list[dict[str, np.ndarray]] = [{} for _ in range(parts)]
    for name, tensor in tensors.items():
        prefix, number, own = [*name.split(".", 2), "", ""][:3]
        if prefix != "parts" or number not in map(str, range(parts)):
            raise DataError(f"holds {name}, which is in none of the {parts} parts; copy the model's folder again", path)
        by_part[int(number)][own] = tensor
    return by_part
