"""Averaged word vectors, which the paper uses to score paraphrases (section 3.1).

Reads word2vec's text and binary formats, GloVe's and PARAGRAM's text without a header, and fastText's ``.vec``, each
optionally compressed. Memory holds one float32 matrix, of the wanted words only, whatever the file's size. gensim 4.4
takes 3 times as long (100,000 words of 300 numbers as text: 27 to 37 s, this code 10 to 11 s).
"""

from __future__ import annotations

import contextlib
import io
import itertools
import logging
import re
import warnings
from collections.abc import Container, Iterable, Sequence
from pathlib import Path
from typing import IO, cast

import numpy as np
import numpy.typing as npt

from psp.core.errors import DataError
from psp.core.files import opened
from psp.text import normalisation_name
from psp.text.lines import raw_lines
from psp.text.normalisation import Normaliser
from psp.text.words import words

log = logging.getLogger(__name__)

Floats = npt.NDArray[np.float32]

_HEADER = re.compile(rb"\s*(\d{1,15})[ \t]+(\d{1,6})\s*")
_DECIMAL = re.compile(rb"[-+]?\d*\.\d+([eE][-+]?\d+)?")
_IN_NUMBERS = b"0123456789+-.eE \t\rinfaINFA"
_BUFFER = 1 << 20
_BLOCK = 1000
_LONGEST_WORD = 10_000


class WordVectors:
    """Word vectors.

    Args:
        index: the row of each word.
        vectors: float32 (words, dim).
    """

    segmented = True  # needs text segmented into words

    def __init__(self, index: dict[str, int], vectors: Floats) -> None:
        self.index, self.vectors = index, vectors

    @property
    def dim(self) -> int:
        """The number of dimensions."""
        return int(self.vectors.shape[1])

    def embed(self, texts: Sequence[str]) -> Floats:
        """Average the vectors of each text's words, float32 (n, dim); zeros for a text without a known word.

        A word (:func:`psp.text.words.words`) is looked up unchanged, then lower-cased; unknown words are left out. A
        text is normalised (:mod:`psp.text.normalisation`) unless all of its words are known as they are.
        """
        normalise = Normaliser(normalisation_name(visible=True, arabic=False))
        means = np.zeros((len(texts), self.dim), np.float32)
        # The rows of a block of texts should fit into a core's cache.
        step = max(1, _BUFFER // (4 * self.dim * 16))
        for start in range(0, len(texts), step):
            rows: list[int] = []
            counts: list[int] = []
            block = list(texts[start : start + step])
            for text, normal in zip(block, normalise(block), strict=True):
                found = self._rows(text)
                if normal != text and None in found:
                    found = self._rows(normal)
                known = [row for row in found if row is not None]
                rows += known
                counts.append(len(known))
            sizes = np.array(counts)
            some = np.flatnonzero(sizes)
            if len(some):
                starts = (np.cumsum(sizes) - sizes)[some]
                sums = np.add.reduceat(self.vectors[rows], starts, axis=0)
                means[start + some] = sums / sizes[some, None].astype(np.float32)
        return means

    def _rows(self, text: str) -> list[int | None]:
        """The row of each word of a text; None for an unknown one."""
        get = self.index.get
        return [get(word.lower()) if (row := get(word)) is None else row for word in words(text)]


def read_vectors(
    path: Path | str,
    *,
    limit: int | None = None,
    vocabulary: Container[str] | None = None,
    strict: bool = False,
) -> WordVectors:
    """Read a file of word vectors, detecting its format.

    The first of duplicate words is kept. Words that are not UTF-8 are left out, with a warning.

    Args:
        path: the file; decompressed if its name ends in .gz, .bz2, .xz or .zst.
        limit: read only the first ``limit`` words; files list frequent words first.
        vocabulary: keep only these words.
        strict: duplicate words and words that are not UTF-8 are errors. All words of the file are then held in memory.

    Raises:
        DataError: the file is missing, empty or truncated, or has an invalid number or rows of different lengths, or an
            error by ``strict``; the line (in a binary file, the word) is named.
    """
    path = Path(path)
    with contextlib.ExitStack() as stack:
        _, unpacked = stack.enter_context(opened(path, regular=True))
        stream = io.BufferedReader(unpacked.raw, _BUFFER)  # type: ignore[attr-defined]
        first = stream.readline(_BUFFER)
        if not first.strip():
            raise DataError("is empty, or starts with an empty line; name a file of word vectors", path)
        header = _HEADER.fullmatch(first)
        count, dim = (int(header[1]), int(header[2])) if header else (None, len(first.split()) - 1)
        if dim < 1:
            raise DataError("no vectors: a line must be `word number number ...`", path, 1)
        table = _Table(path, dim, vocabulary, strict)
        if header and _is_binary(stream.peek(_BUFFER), dim):
            _read_binary(stream, path, cast(int, count), limit, table)
        else:
            if len(first) == _BUFFER:
                raise DataError("no line feed among its first bytes; name a file of word vectors", path, 1)
            rest = raw_lines(stream, path, first=2)
            lines = enumerate(rest, 2) if header else enumerate(itertools.chain([first], rest), 1)
            _read_text(lines, path, count, limit, table)
    return table.finish()


class _Table:
    """Collects rows in blocks, so that a matrix of unknown length is held in memory only once."""

    def __init__(self, path: Path, dim: int, vocabulary: Container[str] | None, strict: bool) -> None:
        self.path, self.dim, self._vocabulary = path, dim, vocabulary
        self._lines: dict[bytes, int] | None = {} if strict else None  # of all words
        self._index: dict[str, int] = {}
        self._blocks: list[Floats] = []
        self._unreadable = 0

    def wants(self, word: bytes, line: int) -> bool:
        """Register the word of a line; return whether its vector must be added, next and in this order."""
        if self._lines is not None and (before := self._lines.setdefault(word, line)) != line:
            shown = word.decode("utf-8", "replace")
            raise DataError(f"{shown!r} has a vector in line {before:,} already; remove one of them", self.path, line)
        try:
            text = word.decode("utf-8")
        except UnicodeDecodeError as error:
            if self._lines is not None:
                raise DataError(f"not UTF-8 ({error.reason}); convert the file to UTF-8", self.path, line) from None
            self._unreadable += 1
            return False
        if text in self._index or (self._vocabulary is not None and text not in self._vocabulary):
            return False
        self._index[text] = len(self._index)
        return True

    def add(self, block: Floats) -> None:
        self._blocks.append(block)

    def finish(self) -> WordVectors:
        if self._unreadable:
            log.warning("%s: %d words are not UTF-8 and were left out", self.path, self._unreadable)
        if not self._index:
            raise DataError("has none of the wanted words; name another file", self.path)
        vectors = np.empty((len(self._index), self.dim), np.float32)
        stop = len(vectors)
        while self._blocks:
            block = self._blocks.pop()
            vectors[stop - len(block) : stop] = block
            stop -= len(block)
        return WordVectors(self._index, vectors)


def _read_text(
    lines: Iterable[tuple[int, bytes]], path: Path, count: int | None, limit: int | None, table: _Table
) -> None:
    dim = table.dim
    waiting: list[tuple[int, bytes]] = []  # (line number, its numbers)

    def flush() -> None:
        if waiting:
            table.add(_numbers(waiting, dim, path))
            waiting.clear()

    line, seen = b"\n", 0
    for seen, (number, line) in enumerate(lines, 1):
        if limit is not None and seen > limit:
            break
        if count is not None and seen > count:
            raise DataError(f"more rows than the {count:,} of its first line", path, number)
        word, _, numbers = line.replace(b"\t", b" ").rstrip(b" \r\n").partition(b" ")
        if numbers.count(b" ") != dim - 1:
            word, numbers = _odd_row(line, dim, path, number)
        if table.wants(word, number):
            waiting.append((number, numbers))
            if len(waiting) == _BLOCK:
                flush()
    else:
        if count is not None and seen < count:
            raise DataError(f"cut off: {seen:,} rows of the {count:,} of its first line; fetch it again", path)
        if not line.endswith(b"\n"):
            log.warning("%s: no line feed at its end; if the file was cut off, its last number is wrong", path)
    flush()


def _odd_row(line: bytes, dim: int, path: Path, number: int) -> tuple[bytes, bytes]:
    """Split a row whose word contains spaces (as in GloVe) or that has extra spaces into word and numbers."""
    fields = line.split()
    if len(fields) <= dim:
        raise DataError(
            f"{max(len(fields) - 1, 0)} numbers, but the rows before have {dim}; the file is cut off or damaged, "
            "fetch it again",
            path,
            number,
        )
    if len(fields) > dim + 1 and _DECIMAL.fullmatch(fields[-dim - 1]):
        raise DataError(f"{len(fields) - 1} numbers, but the rows before have {dim}", path, number)
    return b" ".join(fields[:-dim]), b" ".join(fields[-dim:])


def _numbers(rows: list[tuple[int, bytes]], dim: int, path: Path) -> Floats:
    """Parse the rows' numbers, float32 (rows, dim): together, and if that fails one by one, to name the line."""
    try:
        numbers_of_rows = _parse(b" ".join(numbers for _, numbers in rows))
        if len(numbers_of_rows) == len(rows) * dim and np.isfinite(numbers_of_rows).all():
            return numbers_of_rows.reshape(len(rows), dim)
    except ValueError:
        pass
    parsed = []
    for number, numbers in rows:
        try:
            row = np.array([float(field) for field in numbers.split()], np.float32)
        except ValueError as error:
            raise DataError(f"{error}; the file is cut off or damaged, fetch it again", path, number) from None
        if len(row) != dim or not np.isfinite(row).all():
            raise DataError(f"not {dim} finite numbers; the file is damaged, fetch it again", path, number)
        parsed.append(row)
    return np.stack(parsed)


def _parse(numbers: bytes) -> Floats:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # at an invalid number, NumPy warns and stops
        try:
            return np.fromstring(numbers.decode("ascii"), np.float32, sep=" ")
        except DeprecationWarning as error:
            raise ValueError(str(error)) from None


def _read_binary(stream: IO[bytes], path: Path, count: int, limit: int | None, table: _Table) -> None:
    dim, buffer, place = table.dim, b"", 0
    block: list[Floats] = []
    wanted = count if limit is None else min(count, limit)
    for number in range(1, wanted + 1):
        while True:
            space = buffer.find(b" ", place, place + _LONGEST_WORD)
            stop = space + 1 + 4 * dim
            if space >= 0 and stop <= len(buffer):
                break
            more = stream.read(_BUFFER)
            if not more or (space < 0 and len(buffer) - place > _LONGEST_WORD):
                raise DataError(
                    f"cut off or damaged at word {number:,} of the {count:,} of its first line; fetch it again", path
                )
            buffer, place = buffer[place:] + more, 0
        word = buffer[place:space].lstrip(b"\n")  # word2vec ends a row with a line feed, gensim does not
        if table.wants(word, number):
            row = np.frombuffer(buffer, "<f4", dim, space + 1).astype(np.float32)
            if not np.isfinite(row).all():
                raise DataError(f"word {number:,} has numbers that are not finite; fetch it again", path)
            block.append(row)
            if len(block) == _BLOCK:
                table.add(np.stack(block))
                block.clear()
        place = stop
    if block:
        table.add(np.stack(block))
    if wanted == count and (buffer[place:] + stream.read(_BUFFER)).strip(b"\n"):
        raise DataError(f"more than the {count:,} words of its first line; fetch it again", path)


def _is_binary(sample: bytes, dim: int) -> bool:
    """Return whether the numbers after the first word of ``sample`` are binary."""
    _, space, numbers = sample.partition(b" ")
    row, end, _ = numbers[: 4 * dim].partition(b"\n") if space else (b"", b"", b"")
    # A line feed is also the first byte of many floats, such as 0.005; in text, all numbers precede it.
    return bool(row.translate(None, _IN_NUMBERS)) or (bool(end) and len(row.split()) < dim)
