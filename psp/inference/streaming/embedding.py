"""The work done on each chunk: embed its lines, or score the two texts on each line."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from psp.core.errors import DataError, PspError
from psp.inference.streaming.chunks import TEXT_BYTES, Chunk, texts_of

if TYPE_CHECKING:
    from psp.models.text_model import TextModel

_VECTOR_BYTES = 8 << 20  # float32 vectors of a chunk
_MOST_ROWS = 8192
_TOO_LARGE = 65520  # rounds to infinity in float16
_SCORE_BYTES = len("\t-1.0000\n")
#: The end of a line that had CR LF.
_BEFORE_SCORE = re.compile(rb"\r(\t[^\t\n]*)\n")
_NOT_SEPARATORS = bytes(byte for byte in range(256) if byte not in b"\t\n")


class Embed:
    """Embeds lines.

    Args:
        model: the model.
        name: name of the file, for errors.
        dtype: dtype of the vectors, float32 or float16.
        normalize: scale vectors to unit length; zero vectors stay zero.
    """

    def __init__(self, model: TextModel, name: Path | str, dtype: str = "float32", *, normalize: bool = False) -> None:
        self._model, self._name, self._normalize = model, name, normalize
        self._dtype = np.dtype(dtype).newbyteorder("<")
        self.rows = max(1, min(_MOST_ROWS, _VECTOR_BYTES // (4 * model.dim)))
        self.room = self.rows * model.dim * self._dtype.itemsize

    def __call__(self, chunk: Chunk, room: memoryview) -> tuple[int, PspError | None]:
        """Write the vectors, (rows, dim), into ``room``; write nothing if a line is not UTF-8."""
        texts, error = texts_of(chunk, self._name)
        if error is not None:
            return 0, error
        shape = (chunk.rows, self._model.dim)
        out = np.frombuffer(room, self._dtype, shape[0] * shape[1]).reshape(shape)
        if self._normalize:
            vectors = self._model.encode(texts, normalize_embeddings=True)
        else:
            vectors = self._model.embed_raw_text(texts)  # encode would copy them
        try:
            if self._dtype.itemsize == 2 and "psp.models.pooling" in sys.modules:  # compiled code is already loaded
                from psp.inference.streaming import halves

                halves.write(vectors, out)
            else:
                with np.errstate(over="raise"):
                    out[:] = vectors
        except FloatingPointError:
            row = int(np.flatnonzero((np.abs(vectors) >= _TOO_LARGE).any(axis=1))[0])
            message = "its vector is too large for float16; use float32"
            return 0, DataError(message, self._name, chunk.first + row)
        return out.nbytes, None


class PairScore:
    r"""Appends the cosine of the first two columns to each line. One that ends in ``\r\n`` still does so.

    Args:
        model: the model.
        name: name of the file, for errors.
    """

    def __init__(self, model: TextModel, name: Path | str) -> None:
        self._model, self._name = model, name
        self.rows = max(1, min(_MOST_ROWS, _VECTOR_BYTES // (4 * model.dim)) // 2)
        self.room = TEXT_BYTES + self.rows * _SCORE_BYTES

    def __call__(self, chunk: Chunk, room: memoryview) -> tuple[int | bytes, PspError | None]:
        """Write the lines into ``room``, up to the first that is not UTF-8 or has no second column."""
        lines, error = texts_of(chunk, self._name)
        if error is None and chunk.text.translate(None, _NOT_SEPARATORS) == (b"\t\n" * chunk.rows)[:-1]:
            columns = "\t".join(lines).split("\t")  # all lines at once: 5 times as fast
            pairs = list(zip(columns[0::2], columns[1::2], strict=True))
        else:
            pairs = []
            for number, line in enumerate(lines):
                left, tab, rest = line.partition("\t")
                if not tab:
                    message = "has one column; write two sentences separated by a tab"
                    lines, error = lines[:number], DataError(message, self._name, chunk.first + number)
                    break
                pairs.append((left, rest.partition("\t")[0]))
        scores = self._model.score_raw_text(pairs)
        made = "".join([f"{line}\t{score:.4f}\n" for line, score in zip(lines, scores, strict=True)]).encode()
        if b"\r" in made:
            made = _BEFORE_SCORE.sub(rb"\1\r\n", made)
        if len(made) > len(room):
            return made, error
        room[: len(made)] = made
        return len(made), error
