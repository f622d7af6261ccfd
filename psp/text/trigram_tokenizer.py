"""The tokenizer of the kind ``trigram``: all runs of three characters, across words, looked up in a list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

from psp.core.errors import DataError
from psp.text.tokenizer import Encoded, Example, register
from psp.text.vocabulary import Lookup, VocabularyTokenizer


def trigrams(text: str) -> list[str]:
    """All runs of three characters of a text with a space before and after it; white space counts as one space.

    >>> trigrams("to  be")
    [' to', 'to ', 'o b', ' be', 'be ']
    """
    padded = f" {' '.join(text.split())} "  # two characters, and so no trigram, if there is no text
    return [padded[start : start + 3] for start in range(len(padded) - 2)]


@register
class TrigramTokenizer(VocabularyTokenizer):
    """The character trigrams of a vocabulary file; arguments and errors as in its base class."""

    kind = "trigram"
    pieces_called, pieces_in_full = "trigrams", "character trigrams"
    looked_up = "all trigrams looked up"
    unsupported: ClassVar = {
        "word2vec": "separates columns by spaces, which trigrams contain",
        "static-embedding": "has a tokenizer whose pieces do not overlap, as trigrams do",
    }

    @classmethod
    def splitter(cls, **settings: Any) -> Callable[[str], list[str]]:
        return trigrams

    @classmethod
    def of_settings(cls, settings: list[str], entries: Sequence[tuple[str, int]]) -> Self:
        if settings:
            raise DataError(f"trigrams with {' '.join(settings)}, which this psp does not know; install a newer one")
        return cls(entries)

    def settings(self) -> list[str]:
        return []

    def tokens(self, text: str) -> list[str]:
        return trigrams(text)

    def spellings(self) -> None:
        return None  # resembling means to share a run of three characters, and each is another one

    def possible(self, token: str) -> bool:
        words = token.split()
        return len(token) == 3 and "  " not in token and bool(words) and " ".join(words) == token.strip(" ")

    def decode(self, encoded: Encoded) -> list[str]:
        ids, offsets = encoded.ids.tolist(), encoded.offsets.tolist()
        return [self._text(ids[offsets[number] : offsets[number + 1]]) for number in range(len(encoded))]

    def _text(self, ids: list[int]) -> str:
        """Join overlapping trigrams; where some are missing, join the text on both sides of the gap."""
        text = ""
        for piece in map(self.piece, ids):
            text += piece[2:] if len(text) > 2 and text.endswith(piece[:2]) else piece
        return text.strip()

    def example(self) -> Example:
        padded = "\n    text = f\" {{' '.join(text.split())}} \""
        return self._example("(text[i : i + 3] for i in range(len(text) - 2))", after=padded)

    def _make_lookup(self) -> Lookup:
        from psp.text.vocabulary_ids import Trigrams

        return Trigrams([token for token, _ in self._entries])
