"""The tokenizer of the kind ``bigram``: all runs of two characters within words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from psp.core.errors import DataError
from psp.text.tokenizer import Encoded, Example, register
from psp.text.vocabulary import VocabularyTokenizer


def bigrams(text: str) -> list[str]:
    return [word[start : start + 2] for word in text.split() for start in range(len(word) - 1)]


class BigramTokenizer(VocabularyTokenizer):
    kind = "bigram"
    pieces_called, pieces_in_full = "bigrams", "character bigrams"

    @classmethod
    def splitter(cls, **settings: Any) -> Callable[[str], list[str]]:
        return bigrams

    @classmethod
    def of_settings(cls, settings: list[str], entries: Sequence[tuple[str, int]]) -> Self:
        if settings:
            raise DataError(f"bigrams with {' '.join(settings)}; install a newer psp")
        return cls(entries)

    def settings(self) -> list[str]:
        return []

    def tokens(self, text: str) -> list[str]:
        return bigrams(text)

    def possible(self, token: str) -> bool:
        return len(token) == 2 and not any(character.isspace() for character in token)

    def spellings(self) -> None:
        return None

    def decode(self, encoded: Encoded) -> list[str]:
        ids, offsets = encoded.ids.tolist(), encoded.offsets.tolist()
        rows = [ids[offsets[number] : offsets[number + 1]] for number in range(len(encoded))]
        return [" ".join(map(self.piece, row)) for row in rows]

    def example(self) -> Example:
        return self._example("(word[i : i + 2] for word in text.split() for i in range(len(word) - 1))")


if __name__.startswith("psp."):
    register(BigramTokenizer)
