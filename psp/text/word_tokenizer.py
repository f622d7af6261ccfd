"""The tokenizer of the kind ``word``: whole words, looked up in a list."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from psp.core.errors import DataError
from psp.text.tokenizer import Example, register
from psp.text.vocabulary import Lookup, VocabularyTokenizer
from psp.text.words import BEYOND_BMP, word_pattern

LETTERS, WHITESPACE = "letters", "whitespace"
#: The ways to split a text into words.
SPLITS = (LETTERS, WHITESPACE)
#: Between two letters or digits, these are part of a word.
APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"
_WORDS = f"""\
marks = re.escape("".join(c for c in map(chr, range(0x110000)) if unicodedata.category(c)[0] in "PS"))
words = re.compile(rf"[^\\s{{{{marks}}}}]+(?:[{APOSTROPHES}][^\\s{{{{marks}}}}]+)*|[{{{{marks}}}}]")
"""


def split_words(text: str, split: str = LETTERS) -> list[str]:
    """Split a text into words.

    ``whitespace``: at white space alone. ``letters``: a word is a run of letters and digits, including the combining
    marks of letters, with single apostrophes inside it; every punctuation mark or symbol is a word of its own. As a
    regular expression, where W is any character that is not white space, punctuation or a symbol (Unicode's general
    categories P and S), and M a punctuation mark or symbol: ``W+(?:['’]W+)*|M``.

    >>> split_words("don't say 'C3PO'!")
    ["don't", 'say', "'", 'C3PO', "'", '!']
    """
    if split == WHITESPACE:
        return text.split()
    return _expression(BEYOND_BMP.search(text) is not None).findall(text)


@functools.cache
def _expression(whole: bool) -> re.Pattern[str]:
    """Compile the expression, for texts within the basic multilingual plane or for all."""
    run, either = (word_pattern(marks, whole).pattern for marks in (False, True))
    return re.compile(f"{run}(?:[{APOSTROPHES}]{run})*{either.removeprefix(run)}")


@register
class WordTokenizer(VocabularyTokenizer):
    """The words of a vocabulary file.

    Args:
        entries, config: as for :class:`psp.text.vocabulary.VocabularyTokenizer`.
        split: how a text is split into words: one of :data:`SPLITS`.

    Raises:
        DataError, PspError: as for the class.
        ValueError: there is no such way to split.
    """

    kind = "word"
    pieces_called = pieces_in_full = "words"
    is_words = read_in_order = True
    block_keys = ("split",)

    def __init__(
        self, entries: Sequence[tuple[str, int]], config: Mapping[str, Any] | None = None, *, split: str = LETTERS
    ) -> None:
        if split not in SPLITS:
            raise ValueError(f"split is {split!r}; there are {', '.join(SPLITS)}")
        self.split = split
        super().__init__(entries, config)

    @classmethod
    def splitter(cls, **settings: Any) -> Callable[[str], list[str]]:
        return functools.partial(split_words, **settings)

    @classmethod
    def of_settings(cls, settings: list[str], entries: Sequence[tuple[str, int]]) -> Self:
        if len(settings) != 1 or settings[0] not in SPLITS:
            raise DataError(
                f"its words are split by {' '.join(settings) or 'nothing'}, which this psp does not know "
                f"(known: {', '.join(SPLITS)}); install the psp that wrote it"
            )
        return cls(entries, split=settings[0])

    def settings(self) -> list[str]:
        return [self.split]

    def tokens(self, text: str) -> list[str]:
        return split_words(text, self.split)

    def spellings(self) -> list[str]:
        return [self.piece(self.unknown_id), *(f"\N{LOWER ONE EIGHTH BLOCK}{token}" for token, _ in self._entries)]

    def possible(self, token: str) -> bool:
        return token.split() == [token]

    def example(self) -> Example:
        if self.split == WHITESPACE:
            return self._example("text.split()")
        return self._example("words.findall(text)", before=_WORDS, imports=("re", "unicodedata"))

    def _make_lookup(self) -> Lookup:
        from psp.text.vocabulary_ids import WordLookup

        return WordLookup([token for token, _ in self._entries], marks=self.split == LETTERS, apostrophes=APOSTROPHES)
