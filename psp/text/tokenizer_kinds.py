"""All kinds of tokenizers that psp has, registered by importing this module, and the tokenizer of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.text.parts_tokenizer import PartsTokenizer
from psp.text.sentencepiece_tokenizer import SentencepieceTokenizer
from psp.text.tokenizer import Tokenizer
from psp.text.trigram_tokenizer import TrigramTokenizer
from psp.text.vocabulary import VocabularyTokenizer, kind_of
from psp.text.word_tokenizer import WordTokenizer

_VOCABULARIES: dict[str | None, type[VocabularyTokenizer]] = {
    kind.kind: kind for kind in (WordTokenizer, TrigramTokenizer)
}


def as_tokenizer(
    given: Tokenizer | Path | str | Sequence[Path | str], config: Mapping[str, Any] | None = None
) -> Tokenizer:
    """Make a tokenizer that reads text as ``config`` says.

    Args:
        given: a tokenizer; or the path of a vocabulary file (:mod:`psp.text.vocabulary`) or a sentencepiece model; or
            several such paths, for a tokenizer of parts.
        config: as of :class:`psp.text.tokenizer.Tokenizer`.

    Raises:
        DataError, PspError: as of the classes.
    """
    if isinstance(given, Tokenizer):
        return given.reading(config or {})
    if not isinstance(given, (Path, str)):
        return PartsTokenizer([as_tokenizer(one) for one in given], config)
    path = Path(given)
    if (kind := kind_of(path)) in _VOCABULARIES:
        return _VOCABULARIES[kind].read(path, config)
    return SentencepieceTokenizer(path, config)
