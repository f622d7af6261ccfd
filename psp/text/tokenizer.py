"""Turn text into ids: the interface of tokenizers, and the registry of their kinds.

Stores, training, models and their folders use a tokenizer only through this interface. Sentencepiece is the first kind
(:mod:`psp.text.sentencepiece_tokenizer`); to add another, subclass :class:`Tokenizer` and register it::

    @register
    class Bigrams(Tokenizer):
        kind = "bigram"
        ...

and import its module in :mod:`psp.text.tokenizer_kinds`.
"""

from __future__ import annotations

import abc
import copy
import functools
import hashlib
import importlib
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from psp.core.errors import DataError


def offsets_of(lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Where things of these lengths, one after another, begin, and where the last ends: 0 and the running sums."""
    lengths = np.asarray(lengths)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, dtype=np.int64, out=offsets[1:])
    return offsets


@dataclass(frozen=True)
class Encoded:
    """Encoded sentences, flat.

    Attributes:
        ids: subword ids of all sentences, one after another, shape (tokens,); int32 from a tokenizer, uint16 from a
            store of a small vocabulary.
        offsets: sentence i is ``ids[offsets[i]:offsets[i + 1]]``; int64, shape (sentences + 1,), starting at 0.
    """

    ids: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: npt.NDArray[np.int64]) -> Encoded:
        """Select the sentences ``rows``, in that order; rows may repeat."""
        if len(rows) == len(self) and np.array_equal(rows, np.arange(len(rows))):
            return self
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        offsets = offsets_of(lengths)
        places = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
        return Encoded(self.ids[places], offsets)

    @staticmethod
    def of_lists(lists: Sequence[Sequence[int]]) -> Encoded:
        """The sentences of a library that gives a list of ids for each; ids int32."""
        # Measured, 2 cores, en-fr: sentencepiece's lists of ints 244k sentences/s per thread, its return_type="numpy"
        # 209k (an array object a sentence), and 394k against 292k on two.
        offsets = offsets_of(np.fromiter(map(len, lists), np.int64, len(lists)))
        return Encoded(np.fromiter(itertools.chain.from_iterable(lists), np.int32, int(offsets[-1])), offsets)

    @staticmethod
    def join(parts: Sequence[Encoded]) -> Encoded:
        """Concatenate the sentences of ``parts``."""
        if len(parts) == 1:
            return parts[0]
        shifts = np.cumsum([0, *(part.offsets[-1] for part in parts)])
        offsets = [part.offsets[:-1] + shift for part, shift in zip(parts, shifts, strict=False)]
        return Encoded(np.concatenate([part.ids for part in parts]), np.concatenate([*offsets, shifts[-1:]]))

    def without(self, dropped: npt.NDArray[np.bool_], unknown: int) -> Encoded:
        """Remove the ids where ``dropped``, shape (tokens,), is true.

        A sentence that would lose all of its ids gets one, ``unknown``; one without ids stays so.
        """
        places = np.flatnonzero(dropped)  # few
        if not len(places):
            return self
        kept = np.diff(self.offsets - np.searchsorted(places, self.offsets))
        lost = (kept == 0) & (np.diff(self.offsets) > 0)
        keep = ~dropped
        keep[self.offsets[:-1][lost]] = True
        kept[lost] = 1
        offsets = offsets_of(kept)
        ids = self.ids[keep]
        ids[offsets[:-1][lost]] = unknown
        return Encoded(ids, offsets)

    def without_sentences_of(self, silent: npt.NDArray[np.bool_]) -> Encoded:
        """Remove all ids of the sentences that have only such ids; ``silent`` tells of each, shape (vocabulary,)."""
        starts = self.offsets[:-1]
        rows = np.flatnonzero(starts < self.offsets[1:])
        rows = rows[silent[self.ids[starts[rows]]]]  # most texts begin with another id: 2% of the time
        if not len(rows):
            return self
        some = self.take(rows)
        rows = rows[np.logical_and.reduceat(silent[some.ids], some.offsets[:-1])]
        lengths = np.diff(self.offsets)
        dropped = np.zeros(len(self), bool)
        dropped[rows] = True
        kept = self.ids[np.repeat(~dropped, lengths)]
        lengths[rows] = 0
        return Encoded(kept, offsets_of(lengths))


if TYPE_CHECKING:
    from psp.text.segment import Segmenter

#: Keys of a model's config.json that say how text is read, and their defaults.
READING: dict[str, Any] = {"lower_case": False, "segment": {}, "normalisation": None, "left_out": []}


class Fast(Protocol):
    """Compiled code that encodes segmented text with all ids of its tokenizer, the unknown ones too, but faster."""

    def encode(self, texts: Sequence[str], threads: int = 1) -> Encoded:
        """Encode sentences, ids int32; UnicodeEncodeError for half a surrogate pair."""
        ...


class Folder(Protocol):
    """Where a tokenizer finds its files: a path, or files under other names."""

    def __truediv__(self, name: str) -> Path:
        """The path of a file."""
        ...


class Example(NamedTuple):
    """Code without psp that makes a tokenizer's ids.

    Attributes:
        imports: the modules that it needs.
        code: lines that define a function ``ids{end}(text)`` up to ``found``, all ids of a text; ``{end}`` ends the
            names of what they define, ``{file}`` is the tokenizer's file, both filled in by ``str.format``.
    """

    imports: Sequence[str]
    code: str


class Tokenizer(abc.ABC):
    """Text in, flat ids out. Immutable: :meth:`with_preprocessing` gives another tokenizer with the same vocabulary.

    A kind implements the abstract methods, and overrides what it can do better than the default.

    Args:
        config: of its keys, ``lower_case`` (default false), ``segment`` (default {}), ``normalisation`` (default none)
            and ``left_out`` (default []) say how text is read.

    Raises:
        DataError: the config names two segmenters or an unknown normalisation, or leaves out ids that do not exist.
        PspError: it names a segmenter that is not installed.
    """

    # A kind's description. Code that writes, shows or exports models asks for these properties, never for its name.

    #: Its name in the registry and in a config's `encoder`.
    kind: ClassVar[str]
    #: Its name in config.json and in stores, if different.
    written_as: ClassVar[str | None] = None
    #: Its file in a model's folder.
    file: ClassVar[str]
    #: The name of its pieces, in the plural; and in full, for a card.
    pieces_called: ClassVar[str] = "pieces"
    pieces_in_full: ClassVar[str] = "pieces"
    #: How compiled code finds the pieces of a word, for `psp info`.
    looked_up: ClassVar[str] = "looked up"
    #: Whether a vocabulary can be collected from the text itself where training begins.
    collected: ClassVar[bool] = True
    #: What to do where much of a text has no piece.
    against_unknown: ClassVar[str] = "they are too rare for the vocabulary; raise vocabulary.size, or lower min_count"
    #: Whether its pieces are words, which have vectors that others have trained; and whether an LSTM reads them.
    is_words: ClassVar[bool] = False
    read_in_order: ClassVar[bool] = False
    #: Whether its file has the rules by which text is normalised, and it applies them.
    normalises: ClassVar[bool] = False
    #: Whether a piece marks a space before it (U+2581).
    marks_spaces: ClassVar[bool] = False
    #: The library that encodes text, for people.
    library: ClassVar[str] = "psp"
    #: Why an export format cannot hold this kind, by format; the graph and psp's own format hold any.
    unsupported: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def name_on_disk(cls) -> str:
        """Its name in config.json and in stores."""
        return cls.written_as or cls.kind

    #: Whether :meth:`_encode` itself fails on half a surrogate pair, so that texts need not be searched for one.
    finds_surrogates: ClassVar[bool] = False
    #: The file that it was read from, for errors; None without a file.
    path: Path | None = None

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        self._read(config or {})

    def _read(self, config: Mapping[str, Any]) -> None:
        self.lower_case = bool(config.get("lower_case", False))
        self.segment: dict[str, Any] = config.get("segment") or {}
        self.excluded_ids: list[int] = config.get("left_out") or []
        self.normalisation: str | None = config.get("normalisation")
        self._normaliser = None if self.normalisation is None or self.normalises else _normaliser(self.normalisation)
        self._segmenter = _segmenter(self.segment) if self.segment else None
        self._dropped = _dropped(self.excluded_ids, len(self), self.unknown_id)

    def with_preprocessing(self, config: Mapping[str, Any]) -> Self:
        """Copy this tokenizer so that it reads text as ``config`` says, otherwise unchanged.

        Raises:
            DataError, PspError: as for the class.
        """
        if not any(key in config for key in READING):
            return self
        made = copy.copy(self)
        made._read(self.to_config({key: config[key] for key in READING if key in config}))
        return made

    def to_config(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Add to ``config`` how this tokenizer reads text, if the config does not say and it is not the default."""
        settings = {
            "lower_case": self.lower_case,
            "segment": self.segment,
            "normalisation": self.normalisation,
            "left_out": self.excluded_ids,
        }
        changed = {key: value for key, value in settings.items() if key not in config and value != READING[key]}
        return dict(config) | changed

    # What a kind must implement.

    @abc.abstractmethod
    def __len__(self) -> int:
        """The number of ids, which start at 0."""

    @property
    @abc.abstractmethod
    def unknown_id(self) -> int:
        """The id of everything outside the vocabulary."""

    @abc.abstractmethod
    def piece(self, number: int) -> str:
        """The text of an id."""

    @abc.abstractmethod
    def _encode(self, texts: list[str], threads: int) -> Encoded:
        """Encode prepared texts, ids int32, including unknown ones."""

    @abc.abstractmethod
    def contents(self) -> dict[str, bytes]:
        """The contents of its files in a model's folder, by name. The same tokenizer gives the same bytes.

        Raises:
            DataError: the file that it was read from can no longer be read.
        """

    @classmethod
    @abc.abstractmethod
    def load(cls, folder: Folder, config: Mapping[str, Any]) -> Self:
        """Load the tokenizer of a model's folder, whose config.json is ``config``; checksums are already verified.

        Its files are ``folder / name``, by the names that :meth:`contents` gives them.

        Raises:
            DataError: a file is missing or damaged.
        """

    # What a kind may override.

    def keys(self) -> dict[str, Any]:
        """Its entry ``tokenizer`` in config.json, without its kind and files."""
        return {}

    @property
    def silent_ids(self) -> list[int]:
        """The ids without meaning: a text that has no others has no vector, and cannot be searched for."""
        return [self.unknown_id]

    @property
    def control_ids(self) -> list[int]:
        """The ids that stand for no text, such as an end of a sentence."""
        return []

    @property
    def parts(self) -> tuple[Tokenizer, ...]:
        """The tokenizers that each have a range of the ids: itself alone, but for one of several vocabularies."""
        return (self,)

    @functools.cached_property
    def starts(self) -> list[int]:
        """The first id of each part, and the number of all ids."""
        return [0, *itertools.accumulate(map(len, self.parts))]

    def join(self, encoded: Sequence[Encoded]) -> Encoded:
        """Make the ids of sentences, int32, of those that each part gives them."""
        (whole,) = encoded
        return whole

    def spelled(self, text: str) -> list[tuple[str, int]]:
        """Each piece of a prepared text, as spelled there, with its id."""
        return [(self.piece(number), number) for number in self._encode([text], 1).ids.tolist()]

    def spellings(self) -> list[str] | None:
        """The spelling of each piece, by id; None if spelling does not show which pieces are similar.

        A piece at the beginning of a word starts with U+2581, as in sentencepiece.
        """
        return self.pieces()

    def example(self) -> Example | None:
        """Python code that makes its ids without psp, for the README of an exported graph; None if there is none."""
        return None

    def decode(self, encoded: Encoded) -> list[str]:
        """Texts that may have given these ids."""
        ids, offsets = encoded.ids.tolist(), encoded.offsets.tolist()
        return [" ".join(map(self.piece, ids[offsets[i] : offsets[i + 1]])) for i in range(len(encoded))]

    def unsupported_reason(self) -> str | None:
        """Why no compiled code encodes like this tokenizer; None if some does."""
        return f"there is none for tokenizers of the kind {self.name_on_disk()}"

    def fast(self) -> Fast:
        """Compiled code that encodes like this tokenizer; needs numba.

        Raises:
            ValueError: there is none; :meth:`unsupported_reason` says why.
        """
        raise ValueError(self.unsupported_reason())

    def sha256(self) -> str:
        """SHA-256 of the vocabulary's file, or of all its files, by which stores identify it."""
        contents = self.contents()
        if len(contents) == 1:
            return hashlib.sha256(*contents.values()).hexdigest()
        sums = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(contents.items())}
        return hashlib.sha256(json.dumps(sums).encode()).hexdigest()

    def __str__(self) -> str:
        """Its name in errors."""
        return f"the tokenizer of the kind {self.name_on_disk()}" if self.path is None else str(self.path)

    # What all kinds do.

    def pieces(self) -> list[str]:
        """All pieces, by their ids."""
        return [self.piece(number) for number in range(len(self))]

    def prepared(self, texts: list[str]) -> list[str]:
        """Prepare raw texts for encoding: segment, lower-case and normalise them, if required."""
        # In this order, as the training text was prepared: jieba's words depend on the case of letters among them, and
        # a sentencepiece model normalises what it gets.
        return self.normalised(self._segmented(texts))

    def normalised(self, segmented: list[str]) -> list[str]:
        """Lower-case and normalise segmented texts, if required and not done by the kind's own code."""
        # Each by itself: what str.lower makes of a final sigma depends on the letters around it.
        texts = [text.lower() for text in segmented] if self.lower_case else segmented
        return texts if self._normaliser is None else self._normaliser(texts)

    def encode(self, texts: list[str], threads: int = 1, *, first: int = 0, fast: Fast | None = None) -> Encoded:
        """Encode raw texts, ids int32: :meth:`raw_ids` without ids that are unknown or left out.

        A text without other ids gets the unknown id; a text without pieces gets none.
        """
        return self.kept(self.raw_ids(texts, threads, first=first, fast=fast))

    def raw_ids(self, texts: list[str], threads: int = 1, *, first: int = 0, fast: Fast | None = None) -> Encoded:
        """All ids of raw texts, int32, the unknown ones too.

        Args:
            texts: the texts.
            threads: the maximum, if the kind uses threads; it does not change the ids.
            first: the number of the first text, for errors.
            fast: use this result of :meth:`fast`.

        Raises:
            DataError: a text holds half a surrogate pair, which no UTF-8 can express (its number is named).
        """
        if fast is None and not self.finds_surrogates and (problem := _surrogate(texts, first)):
            raise DataError(problem)
        try:
            if fast is not None:
                return fast.encode(self._segmented(texts), threads)
            return self._encode(self.prepared(texts), threads)
        except Exception as error:  # which class it is depends on the library
            if (problem := _surrogate(texts, first)) is None:
                raise
            raise DataError(problem) from error

    def encode_prepared(self, texts: list[str], threads: int = 1) -> Encoded:
        """:meth:`encode` of texts that are already lower-cased and segmented, like those that models are trained on."""
        return self.kept(self._encode(texts, threads))

    def encode_whole(self, texts: list[str], threads: int = 1) -> Encoded:
        """:meth:`encode_prepared` with nothing dropped: the unknown ids too."""
        return self._encode(texts, threads)

    def kept(self, whole: Encoded) -> Encoded:
        """Keep the ids that are neither unknown nor left out, or one unknown id if none remain."""
        dropped = whole.ids == self.unknown_id if self._dropped is None else self._dropped[whole.ids]
        return whole.without(dropped, self.unknown_id)

    def meaningful(self, encoded: Encoded) -> Encoded:
        """Remove all ids of sentences that have only :attr:`silent_ids`, so that these texts have no vector.

        Otherwise all text in an unknown script would have one and the same vector, and a cosine of 1.
        """
        return encoded.without_sentences_of(self._silent)

    def unknown_shares(self, whole: Encoded) -> npt.NDArray[np.float64]:
        """The share of each text's pieces that are unknown or left out, (texts,), by all ids, as :meth:`raw_ids` gives
        them; 0 for a text without pieces. Marks between words do not count.
        """
        dropped = whole.ids == self.unknown_id if self._dropped is None else self._dropped[whole.ids]
        rows = np.repeat(np.arange(len(whole)), np.diff(whole.offsets))
        pieces = np.bincount(rows[dropped | ~self._silent[whole.ids]], minlength=len(whole))
        return np.bincount(rows[dropped], minlength=len(whole)) / np.maximum(pieces, 1)

    @functools.cached_property
    def _silent(self) -> npt.NDArray[np.bool_]:
        mask = np.zeros(len(self), bool)
        mask[self.silent_ids] = True
        return mask

    def _segmented(self, texts: list[str]) -> list[str]:
        return texts if self._segmenter is None else [self._segmenter.segment(text) for text in texts]


def _normaliser(name: str) -> Callable[[list[str]], list[str]]:
    from psp.text.normalisation import Normaliser

    return Normaliser(name)


def _segmenter(segment: Mapping[str, Any]) -> Segmenter | None:
    from psp.text.segment import Segmenter

    return Segmenter.of_languages(segment)


_kinds: dict[str, type[Tokenizer]] = {}
#: psp's own kinds by their names on disk, each in a module of its own, which is imported when a model has it.
_OWN = {
    "sentencepiece": "sentencepiece_tokenizer",
    "word": "word_tokenizer",
    "trigram": "trigram_tokenizer",
}
T = TypeVar("T", bound=Tokenizer)


def register(tokenizer: type[T]) -> type[T]:
    """Register a kind of tokenizer by name, so that models with it can be loaded; a class decorator.

    Raises:
        ValueError: another class has this name.
    """
    for other in _kinds.values():
        if (other.__module__, other.__qualname__) == (tokenizer.__module__, tokenizer.__qualname__):
            continue  # of a module that is loaded again
        for name in {tokenizer.kind, tokenizer.name_on_disk()} & {other.kind, other.name_on_disk()}:
            raise ValueError(f"{name!r} is already the name of {other.__module__}.{other.__qualname__}")
    _kinds[tokenizer.kind] = tokenizer
    return tokenizer


def kinds() -> list[str]:
    """The kinds registered so far."""
    return list(_kinds)


def of_kind(kind: str) -> type[Tokenizer]:
    """The class of a registered kind of tokenizer.

    Raises:
        DataError: the kind is not registered.
    """
    if kind not in _kinds:
        raise DataError(f"unknown kind of tokenizer, {kind!r} (known: {', '.join(kinds())})")
    return _kinds[kind]


def known_on_disk() -> set[str]:
    """The names in config.json of psp's own kinds, and of those registered so far."""
    return {*_OWN, *(kind.name_on_disk() for kind in _kinds.values())}


def on_disk(name: str, path: Path | str | None = None) -> type[Tokenizer]:
    """The class of a kind by its name in config.json, in stores and in vocabularies; ``path`` is the file with it.

    Raises:
        DataError: no registered kind has it.
    """
    if name in _OWN:
        importlib.import_module(f"psp.text.{_OWN[name]}")
    known = {kind.name_on_disk(): kind for kind in _kinds.values()}
    if name not in known:
        raise DataError(
            f"unknown kind of tokenizer, {name!r} (known: {', '.join(sorted({*known, *_OWN}))}); import the module "
            "that registers it (psp.text.tokenizer.register), or install the psp that wrote it",
            path,
        )
    return known[name]


def _dropped(ids: Any, pieces: int, unknown: int) -> npt.NDArray[np.bool_] | None:
    """Mask of ids that are left out or unknown, bool (pieces,); None if none is left out, since comparing is faster."""
    if not isinstance(ids, list) or not all(type(number) is int and 0 <= number < pieces for number in ids):
        raise DataError(f"config.json: left_out is {str(ids)[:60]}, not a list of ids below {pieces}")
    if unknown in ids:
        raise DataError(
            f"config.json: left_out holds {unknown}, the unknown piece, which stands for a text without other pieces"
        )
    if not ids:
        return None
    mask = np.zeros(pieces, bool)
    mask[[unknown, *ids]] = True
    return mask


def _surrogate(texts: list[str], first: int) -> str | None:
    for index, text in enumerate(texts):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return f"texts[{first + index}] is not valid Unicode: half a surrogate pair at character {error.start}"
    return None
