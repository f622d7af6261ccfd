"""Tokenizers with a list of entries, such as words or trigrams, and the text file that holds it.

``vocabulary.txt``: UTF-8, lines end in ``\\n``. The first line is ``psp vocabulary 1``, the kind of tokenizer and its
settings, if any, separated by tabs; each further line is an entry, a tab, and how often it occurs in the training text.
Id 0 is everything that is not in the list, id 1 the first entry, and so on.
"""

from __future__ import annotations

import abc
import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from psp.core.errors import DataError
from psp.core.files import open_regular, read_bytes
from psp.text.tokenizer import Encoded, Example, Fast, Folder, Tokenizer

FILE = "vocabulary.txt"
MAGIC = "psp vocabulary 1"
UNKNOWN = "<unk>"

_EXAMPLE = """
with open("{file}", encoding="utf-8", newline="\\n") as file:
    entries = file.read().split("\\n")[1:-1]
numbers{end} = {{entry.split("\\t")[0]: number for number, entry in enumerate(entries, start=1)}}
{before}

def ids{end}(text):
    text = text{lower}{after}
    found = [numbers{end}.get(token, 0) for token in {tokens}]
"""
_AGAIN = "make it again, or copy the model's whole folder"


#: Splits prepared texts and looks up all tokens, ids int32: entry i of the vocabulary is id i + 1, all else is 0.
#: UnicodeEncodeError for half a surrogate pair.
Lookup = Callable[[Sequence[str]], Encoded]


class VocabularyTokenizer(Tokenizer):
    """Splits a text into tokens and looks each of them up.

    Args:
        entries: distinct tokens, and how often each occurs in the training text (at least once).
        config: as for :class:`psp.text.tokenizer.Tokenizer`.

    Raises:
        DataError: there are no entries, or one is not a token of this kind or is listed twice; or as for the class.
        PspError: as for the class.
    """

    file = FILE
    #: The keys of the config's block `vocabulary` besides the number of entries; also arguments of the class.
    block_keys: ClassVar[tuple[str, ...]] = ()

    def __init__(self, entries: Sequence[tuple[str, int]], config: Mapping[str, Any] | None = None) -> None:
        self._entries = list(entries)
        self._ids = {token: number for number, (token, _) in enumerate(self._entries, start=1)}
        self._lookup: Lookup | None = None
        if not self._entries:
            raise DataError(f"no {self.kind}s; a vocabulary needs at least one")
        if len(self._ids) < len(self._entries):
            raise DataError(f"lists {len(self._entries) - len(self._ids)} entries twice; {_AGAIN}")
        for token, count in self._entries:
            if count < 1 or not self.possible(token):
                raise DataError(f"the entry {token!r}, with count {count}, cannot be a {self.kind}; {_AGAIN}")
        super().__init__(config)

    @classmethod
    @abc.abstractmethod
    def of_settings(cls, settings: list[str], entries: Sequence[tuple[str, int]]) -> Self:
        """Make a tokenizer; ``settings`` come from the file's first line.

        Raises:
            DataError: there are no such settings; or as for the class.
        """

    @abc.abstractmethod
    def settings(self) -> list[str]:
        """Its settings, as in the file's first line."""

    @abc.abstractmethod
    def tokens(self, text: str) -> list[str]:
        """Split a prepared text. This is the definition: compiled code finds the same tokens."""

    @abc.abstractmethod
    def possible(self, token: str) -> bool:
        """Whether a token can be an entry; a cheap check, which tokens that occur in no text may pass."""

    @classmethod
    @abc.abstractmethod
    def splitter(cls, **settings: Any) -> Callable[[str], list[str]]:
        """What splits a prepared text of the training pairs, by the settings of :attr:`block_keys`: :meth:`tokens`."""

    def _make_lookup(self) -> Lookup | None:
        """Compiled code that splits texts and looks their tokens up; None if there is none."""
        return None

    def _example(self, tokens: str, *, before: str = "", after: str = "", imports: Sequence[str] = ()) -> Example:
        """:meth:`example`, by expressions: what makes the tokens of ``text``, and lines before that."""
        parts = {"{tokens}": tokens, "{before}": before, "{after}": after, "{lower}": ".lower()" * self.lower_case}
        code = _EXAMPLE
        for name, part in parts.items():
            code = code.replace(name, part)
        return Example(imports, code)

    @classmethod
    def read(cls, path: Path, config: Mapping[str, Any] | None = None) -> Self:
        """Read a vocabulary file of this kind.

        Raises:
            DataError: the file cannot be read, or is damaged (the line is named); or as for the class.
        """
        (kind, *settings), entries = _read(path)
        if kind != cls.kind:
            raise DataError(f"a vocabulary of the kind {kind!r}, not {cls.kind!r}; {_AGAIN}", path, 1)
        try:
            made = cls.of_settings(settings, entries)
        except DataError as error:
            raise DataError(str(error), path) from None
        made.path = path
        return made.with_preprocessing(config or {})

    @classmethod
    def load(cls, folder: Folder, config: Mapping[str, Any]) -> Self:
        return cls.read(folder / FILE, config)

    def contents(self) -> dict[str, bytes]:
        lines = ["\t".join([MAGIC, self.kind, *self.settings()]), *(f"{token}\t{n}" for token, n in self._entries)]
        return {FILE: ("\n".join(lines) + "\n").encode()}

    def __len__(self) -> int:
        return len(self._entries) + 1

    @property
    def unknown_id(self) -> int:
        return 0

    def piece(self, number: int) -> str:
        return self._entries[number - 1][0] if number else UNKNOWN

    def spelled(self, text: str) -> list[tuple[str, int]]:
        return [(token, self._ids.get(token, 0)) for token in self.tokens(text)]

    def unsupported_reason(self) -> str | None:
        return super().unsupported_reason() if type(self)._make_lookup is VocabularyTokenizer._make_lookup else None

    def fast(self) -> Fast:
        lookup = self._compiled()
        return super().fast() if lookup is None else VocabularyIds(self, lookup)

    def encode_whole(self, texts: list[str], threads: int = 1) -> Encoded:
        # Training data is encoded by this method; models decide by themselves when to load numba (fast).
        lookup = None if importlib.util.find_spec("numba") is None else self._compiled()
        return self._encode(texts, threads) if lookup is None else lookup(texts)

    def _compiled(self) -> Lookup | None:
        if self._lookup is None:
            self._lookup = self._make_lookup()
        return self._lookup

    def _encode(self, texts: list[str], threads: int) -> Encoded:
        rows = [[self._ids.get(token, 0) for token in self.tokens(text)] for text in texts]
        ids = np.array([number for text in rows for number in text], np.int32)
        return Encoded(ids, np.cumsum([0, *map(len, rows)], dtype=np.int64))


class VocabularyIds:
    """Compiled code of a vocabulary: :class:`psp.text.tokenizer.Fast`."""

    def __init__(self, tokenizer: VocabularyTokenizer, lookup: Lookup) -> None:
        self._tokenizer, self._lookup = tokenizer, lookup

    def encode(self, texts: Sequence[str], threads: int = 1) -> Encoded:
        return self._lookup(self._tokenizer.normalised(list(texts)))


def kind_of(path: Path) -> str | None:
    """The kind of a vocabulary file; None if the file is something else or cannot be read."""
    try:
        with open_regular(path) as file:
            line = file.readline(200)
    except (OSError, DataError):
        return None
    magic, *fields = line.decode(errors="replace").rstrip("\n").split("\t")
    return fields[0] if magic == MAGIC and fields else None


def _read(path: Path) -> tuple[list[str], list[tuple[str, int]]]:
    """Read the kind and settings, and the entries."""
    try:
        lines = read_bytes(path).decode().split("\n")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}; run the vocabulary step to make it", path) from None
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 (byte {error.start}); {_AGAIN}", path) from None
    magic, *fields = lines[0].split("\t")
    if magic != MAGIC or not fields:
        raise DataError(f"not a psp vocabulary: the first line is not {MAGIC!r} and a kind; {_AGAIN}", path, 1)
    if lines.pop():
        raise DataError(f"the last line has no line break, so the file is incomplete; {_AGAIN}", path)
    entries = []
    for number, line in enumerate(lines[1:], start=2):
        token, tab, count = line.partition("\t")
        # The file written from this content must equal the file read.
        if not (tab and re.fullmatch("0|[1-9][0-9]{0,17}", count)):
            raise DataError(f"{line[:60]!r} is not an entry, a tab and its count; {_AGAIN}", path, number)
        entries.append((token, int(count)))
    return fields, entries
