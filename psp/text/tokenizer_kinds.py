"""All kinds of tokenizers that psp has, registered by importing this module, and the tokenizer of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.core.errors import DataError
from psp.text.parts_tokenizer import PartsTokenizer
from psp.text.sentencepiece_tokenizer import SentencepieceTokenizer
from psp.text.tokenizer import Tokenizer, of_kind, on_disk
from psp.text.tokenizer import kinds as registered
from psp.text.trigram_tokenizer import TrigramTokenizer
from psp.text.vocabulary import VocabularyTokenizer, kind_of
from psp.text.word_tokenizer import WordTokenizer

#: Imported for their registration; the first is the config's default.
TOKENIZERS: tuple[type[Tokenizer], ...] = (SentencepieceTokenizer, WordTokenizer, TrigramTokenizer)


def kinds() -> list[str]:
    """The registered kinds: psp's own, then others."""
    own = [tokenizer.kind for tokenizer in TOKENIZERS]
    return own + [kind for kind in registered() if kind not in own]


def those(says: Callable[[type[Tokenizer]], bool]) -> list[str]:
    """The kinds that fulfil a condition."""
    return [kind for kind in kinds() if says(of_kind(kind))]


def named(says: Callable[[type[Tokenizer]], bool], how: Callable[[type[Tokenizer]], str]) -> str:
    """The names of the kinds that fulfil a condition, as in "words or trigrams"."""
    *first, last = (how(of_kind(kind)) for kind in those(says))
    return f"{', '.join(first)} or {last}" if first else last


#: The names of the pieces of the kinds whose vocabulary is a list, collected from the text.
COLLECTED = named(lambda kind: kind.collected, lambda kind: kind.pieces_called)


def of_vocabulary(kind: str) -> type[VocabularyTokenizer]:
    """A kind that has a list of entries, which training pairs give.

    Raises:
        DataError: there is no such kind, or it has none.
    """
    tokenizer = of_kind(kind)
    if not issubclass(tokenizer, VocabularyTokenizer):
        listed = those(lambda one: issubclass(one, VocabularyTokenizer))
        raise DataError(f"{kind} has no vocabulary that is collected from pairs; {' and '.join(listed)} have one")
    return tokenizer


def as_tokenizer(
    given: Tokenizer | Path | str | Sequence[Path | str], config: Mapping[str, Any] | None = None
) -> Tokenizer:
    """Make a tokenizer that reads text as ``config`` says.

    Args:
        given: a tokenizer; or the path of a vocabulary file (:mod:`psp.text.vocabulary`) or a sentencepiece model; or
            several such paths, for a tokenizer of parts.
        config: as for :class:`psp.text.tokenizer.Tokenizer`.

    Raises:
        DataError, PspError: as for the classes.
    """
    if isinstance(given, Tokenizer):
        return given.with_preprocessing(config or {})
    if not isinstance(given, (Path, str)):
        return PartsTokenizer([as_tokenizer(one) for one in given], config)
    path = Path(given)
    if (kind := kind_of(path)) is not None:
        tokenizer = on_disk(kind, path)
        if not issubclass(tokenizer, VocabularyTokenizer):
            raise DataError(f"is a vocabulary of {tokenizer.pieces_called}, which have none of this form", path, 1)
        return tokenizer.read(path, config)
    return SentencepieceTokenizer(path, config)
