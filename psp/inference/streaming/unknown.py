"""The share of a text that a model does not know, reported once at the end of a command."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from psp.inference.streaming.chunks import Chunk
from psp.models.token_model import unknown_alone

if TYPE_CHECKING:
    from psp.models.text_model import TextModel

log = logging.getLogger(__name__)

#: Lines examined: all at first, then this many of each chunk, which takes 1% of the time of embedding them.
FIRST, OF_CHUNK = 4096, 32


def percent(share: float) -> str:
    """A share above 0 in %, never as 0."""
    return "less than 1%" if share < 0.01 else f"{share:.0%}"


class UnknownShare:
    """Gathers the share of unknown pieces; :meth:`say` logs it.

    Args:
        model: the model.
        name: name of the file.
        columns: the tab-separated texts of a line; None: the line is one text.
    """

    def __init__(self, model: TextModel, name: Path | str, columns: int | None = None) -> None:
        self._model, self._name, self._columns = model, name, columns
        self._lines = self._texts = self._whole = self._first = 0
        self._unknown = 0.0
        self._all = True

    def add(self, chunk: Chunk) -> None:
        """Examine some lines of a chunk that has been embedded or scored."""
        most = OF_CHUNK if self._lines >= FIRST else FIRST
        lines = chunk.text.decode(errors="replace").split("\n", most)[: min(most, chunk.rows)]
        texts = (
            lines if self._columns is None else [text for line in lines for text in line.split("\t")[: self._columns]]
        )
        shares = self._model.unknown_shares(texts)
        whole = (shares == 1).nonzero()[0]
        if len(whole) and not self._whole:
            self._first = chunk.first + int(whole[0]) // (self._columns or 1)
        self._all &= len(lines) == chunk.rows
        self._lines += len(lines)
        self._texts += len(texts)
        self._whole += len(whole)
        self._unknown += float(shares.sum())

    def say(self) -> None:
        """Log the share, if there is any."""
        if not self._unknown:
            return
        message = f"{self._name}: {percent(self._unknown / self._texts)} of its text is unknown to the model"
        if self._whole:
            message += (
                f"; {self._whole:,} of {self._texts:,} texts are entirely unknown, the first in line {self._first}"
            )
            message += ", whose vectors are zeros" if not unknown_alone(self._model.config) else ""
        if not self._all:
            message += f" (by {self._lines:,} lines)"
        log.warning("%s", message)
