"""The interface of translators: texts in, the best translations of each out, with their scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

from psp.core.errors import PspError


class Hypothesis(NamedTuple):
    """A translation.

    Attributes:
        text: the translation; empty if the translator has none.
        score: its log-probability divided by its number of subwords, the end of the sentence included; None if the
            translator does not report it.
        ended: whether it ended by itself, and was not cut at :func:`limit`.
    """

    text: str
    score: float | None
    ended: bool = True


def limit(pieces: int) -> int:
    """The maximum length of a translation in subwords: one that reaches it is repeating itself."""
    return 2 * pieces + 10


class TranslatorError(PspError):
    """A translator failed on a text.

    Attributes:
        place: the number of the text in the call, from 0; None if it is not known which.
    """

    def __init__(self, message: str, place: int | None = None) -> None:
        super().__init__(message)
        self.place = place


class Translator(ABC):
    """Translates text in its original case and unsegmented.

    Attributes:
        cut: texts that were longer than the translator takes, and were cut, so far.
    """

    cut: int = 0

    @abstractmethod
    def translate(self, texts: Sequence[str], *, n: int = 1) -> list[list[Hypothesis]]:
        """Return for each text its ``n`` best translations, or fewer, the best first; at least one.

        Raises:
            TranslatorError: the translator failed; its ``place`` says on which text.
            ConfigError: it cannot give that many.
            TypeError: ``texts`` is not a list of str.
        """

    @property
    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Everything that decides its output, as JSON: ``kind``, ``settings``, and ``files``, their SHA-256 by name."""
