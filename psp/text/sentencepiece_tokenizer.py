"""The tokenizer of the kind ``subword``: splits text into the pieces of a sentencepiece model."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import sentencepiece

from psp.core.errors import DataError
from psp.core.files import read_bytes, sha256
from psp.text.tokenizer import Encoded, Example, Folder, Tokenizer, register

if TYPE_CHECKING:
    from psp.text.word_cache import WordCache

FILE = "sentencepiece.model"
#: Sentencepiece's mark before a word, in place of a space.
WORD_MARK = "▁"

_EXAMPLE = """
processor{end} = sentencepiece.SentencePieceProcessor(model_file="{file}")


def ids{end}(text):
    found = processor{end}.encode(text{lower})
"""


@register
class SentencepieceTokenizer(Tokenizer):
    """The pieces of a sentencepiece model.

    Args:
        path: the model's file; it stays in place, and is read again when the tokenizer is saved.
        config: as for :class:`psp.text.tokenizer.Tokenizer`.

    Raises:
        DataError: no such file, or not a sentencepiece model; or as for the class.
        PspError: as for the class.
    """

    kind = "subword"
    written_as = "sentencepiece"
    file = FILE
    pieces_called = "subwords"
    pieces_in_full = "sentencepiece pieces"
    looked_up = "encoded once, then looked up"
    collected = False
    against_unknown = "its characters are too rare to have pieces; raise subword.character_coverage, or vocab_size"
    read_in_order = True
    marks_spaces = normalises = True
    library = "sentencepiece"
    finds_surrogates = True
    path: Path

    def __init__(self, path: Path | str, config: Mapping[str, Any] | None = None) -> None:
        self.path = Path(path)
        self.processor: sentencepiece.SentencePieceProcessor = load_sentencepiece(self.path)
        self._size: int = self.processor.get_piece_size()
        self._unknown: int = self.processor.unk_id()
        super().__init__(config)

    @classmethod
    def load(cls, folder: Folder, config: Mapping[str, Any]) -> Self:
        return cls(folder / FILE, config)

    def contents(self) -> dict[str, bytes]:
        try:
            return {FILE: read_bytes(self.path)}
        except OSError as error:
            raise DataError(
                f"cannot be read: {error.strerror}; name another, or copy the model's whole folder",
                self.path,
            ) from None

    def sha256(self) -> str:
        return sha256(self.path)

    def __len__(self) -> int:
        return self._size

    @property
    def unknown_id(self) -> int:
        return self._unknown

    def piece(self, number: int) -> str:
        piece: str = self.processor.id_to_piece(number)
        return piece

    @property
    def silent_ids(self) -> list[int]:
        # A word of unknown characters leaves the word mark before it behind, which is a piece.
        return [self.unknown_id, self.processor.piece_to_id(WORD_MARK)]

    @property
    def control_ids(self) -> list[int]:
        return [number for number in range(len(self)) if self.processor.is_control(number)]

    def spelled(self, text: str) -> list[tuple[str, int]]:
        pieces = self.processor.encode(text, out_type=str), self.processor.encode(text, out_type=int)
        return list(zip(*pieces, strict=True))

    def example(self) -> Example:
        lower = ".lower()" if self.lower_case else ""
        return Example(["sentencepiece"], _EXAMPLE.replace("{lower}", lower))

    def decode(self, encoded: Encoded) -> list[str]:
        if not len(encoded):  # sentencepiece takes no lists for one of no ids
            return []
        ids = encoded.ids.tolist()
        texts: list[str] = self.processor.decode(
            [ids[start:stop] for start, stop in itertools.pairwise(encoded.offsets.tolist())]
        )
        return texts

    def unsupported_reason(self) -> str | None:
        from psp.text.unigram import unsupported_reason

        return unsupported_reason(self.processor)

    def fast(self) -> WordCache:
        from psp.text.word_cache import WordCache

        return WordCache(self.processor, self.lower_case)

    def _encode(self, texts: list[str], threads: int) -> Encoded:
        return Encoded.of_lists(self.processor.encode(texts, out_type=int, num_threads=threads))


def load_sentencepiece(path: Path) -> sentencepiece.SentencePieceProcessor:
    """Load a sentencepiece model.

    Raises:
        DataError: no such file, or not a sentencepiece model.
    """
    try:
        serialised = read_bytes(path)
    except OSError as error:
        raise DataError(
            f"cannot be read: {error.strerror}; name another, or copy the model's whole folder",
            path,
        ) from None
    if not serialised:  # sentencepiece takes this for "no model yet", without an error
        raise DataError("an empty file where a sentencepiece model should be; make it again", path)
    try:
        # From memory: the library's own reading prints to stderr where the file is bad.
        return sentencepiece.SentencePieceProcessor(model_proto=serialised)
    except Exception as error:  # which class it is depends on sentencepiece's version
        raise DataError(f"not a sentencepiece model, or damaged ({error}); make it again", path) from None
