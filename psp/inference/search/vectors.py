"""The vectors of texts as search needs them: of length 1, of texts that say something, in the chosen dtype."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from psp.core.errors import DataError
from psp.core.logs import Progress
from psp.models import text_model
from psp.models.combined import parts_of
from psp.models.text_model import TextModel
from psp.text.lines import LineFile

#: Lines embedded at a time: 32 MB of vectors at 1,024 dimensions.
CHUNK = 8192
#: Size of float64 rows that fit into a core's cache.
CACHE_BYTES = 512 << 10


class Rows(Protocol):
    """Stored unit vectors, float32, float16 or int8 (rows, dim): a NumPy array, in memory or memory-mapped, or what
    copies rows from one.
    """

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype: ...

    def __len__(self) -> int: ...

    def __getitem__(self, which: Any, /) -> Any: ...


class IndexBlock(NamedTuple):
    """A part of a corpus.

    Attributes:
        rows: float32 (m, dim), unit vectors.
        lines: int64 (m,), each row's line number, from 0.
        read: number of lines in the part, including those without a row.
    """

    rows: np.ndarray
    lines: np.ndarray
    read: int


def unit(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the non-zero vectors scaled to unit length, float32 (m, dim), and their indices, int64 (m,)."""
    made, kept = np.empty(vectors.shape, np.float32), np.empty(len(vectors), bool)
    step = max(1, CACHE_BYTES // (8 * vectors.shape[1]))
    for start in range(0, len(vectors), step):  # converting all to float64 at once takes three times as long
        part = slice(start, start + step)
        made[part] = text_model.unit(vectors[part].astype(np.float64))
        kept[part] = vectors[part].any(axis=1)
    return (made if kept.all() else made[kept]), np.flatnonzero(kept)


def embed(model: TextModel, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors of the texts with at least one known piece, and the indices of these texts.

    Blank texts have a zero vector, and texts of unknown pieces all have the same vector; neither can be searched for.

    Returns:
        float32 (m, dim) and int64 (m,).
    """
    embedded, understood = model.embed_understood(texts)
    vectors, kept = unit(embedded)
    both = understood[kept]
    return (vectors, kept) if both.all() else (vectors[both], kept[both])


def readings(model: TextModel, texts: Sequence[str]) -> list[bytes]:
    """What a model reads of each text: its ids, which are the same for texts that differ in case or spaces alone."""
    whole = [b""] * len(texts)
    for part in parts_of(model):
        ids, offsets = part.ids(texts)
        ends = (offsets * ids.itemsize).tolist()
        read = ids.tobytes()
        # The ids of a combination's part, and how many, so that those of two parts are never mistaken for others.
        whole = [
            before + (end - start).to_bytes(4, "little") + read[start:end]
            for before, (start, end) in zip(whole, itertools.pairwise(ends), strict=True)
        ]
    return whole


def embedded(
    model: TextModel, corpus: LineFile, first: int = 0, wanted: np.ndarray | None = None
) -> Iterator[IndexBlock]:
    """Embed a corpus from a line on, a chunk at a time; of lines that are not ``wanted``, bool (lines,), none."""
    for texts in corpus.chunks(CHUNK, first):
        numbers = np.arange(len(texts)) if wanted is None else np.flatnonzero(wanted[first : first + len(texts)])
        rows, kept = embed(model, [texts[number] for number in numbers.tolist()])
        yield IndexBlock(rows, numbers[kept] + first, len(texts))
        first += len(texts)


def to_stored(rows: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Round unit vectors to the dtype in which they are stored; in int8, a row's largest number becomes 127 or -127."""
    if dtype != np.int8:
        return rows.astype(dtype, copy=False)
    return np.rint(rows * (127 / np.abs(rows).max(axis=-1, keepdims=True))).astype(np.int8)


def from_stored(rows: np.ndarray, dtype: Any) -> np.ndarray:
    """Return stored vectors (..., dim) as floats; those of int8 are given length 1 again."""
    if rows.dtype != np.int8:
        return rows.astype(dtype, copy=False)
    floats = rows.astype(dtype)
    floats /= np.sqrt(np.einsum("...d,...d->...", floats, floats))[..., None]  # the same for any batch, unlike a BLAS
    return floats


def fill(table: np.ndarray, blocks: Iterator[IndexBlock], corpus: LineFile) -> np.ndarray:
    """Copy the rows of a corpus's blocks into the first rows of a matrix; return each row's line, int64 (m,).

    Raises:
        DataError: there are no rows.
    """
    numbers, count = [], 0
    with Progress(f"embedding {corpus.path.name}", "lines", len(corpus)) as bar:
        for block in blocks:
            table[count : count + len(block.rows)] = to_stored(block.rows, table.dtype)
            numbers.append(block.lines)
            count += len(block.rows)
            bar.add(block.read)
    if count == 0:
        raise nothing_known(corpus)
    return np.concatenate(numbers)


def nothing_known(corpus: LineFile) -> DataError:
    """The error of a corpus without a vector."""
    return DataError("no line has a piece known to the model; is the text in the model's languages?", corpus.path)
