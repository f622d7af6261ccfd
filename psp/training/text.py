r"""Training straight from text: pairs are encoded as they are read, and no store is written.

The text is a pair file, ``source \t target \n``, or a mixed pair file, ``source \t target \t corpus \n``, in UTF-8; it
is already as the model shall see it (lower-cased or not, segmented where the language needs it). It gives the very ids
of a store that is made from it, and so the same trained model, at the price of encoding each pair once an epoch.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from psp.errors import ConfigError, DataError
from psp.files import sha256
from psp.progress import Progress
from psp.store import Block, Side, Store, encode_side
from psp.subword import load_sentencepiece
from psp.training.batches import BLOCK_PAIRS

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_store(path: Path | str) -> bool:
    """Whether a file of pairs is a store (HDF5, by its name or its first bytes) rather than text.

    Raises:
        DataError: it cannot be read.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            return path.suffix == ".h5" or file.read(len(HDF5_SIGNATURE)) == HDF5_SIGNATURE
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None


def open_source(
    path: Path | str,
    sentencepiece_model: Path,
    languages: Sequence[str],
    *,
    max_pieces: int | None = None,
    threads: int = 1,
) -> Store | TextPairs:
    """The pairs of a file, a store or text; both are context managers, and both have ``check_vocabulary``.

    A store knows its languages and what it was cut at, so that only text needs the arguments after the first; see
    :class:`TextPairs` for them and for errors.
    """
    if is_store(path):
        return Store(path)
    return TextPairs(path, sentencepiece_model, languages, max_pieces=max_pieces, threads=threads)


class TextPairs:
    """Reads pairs from text; a context manager. ``len`` is the number of pairs.

    One pass over the file checks each line and remembers where every ``BLOCK_PAIRS``-th begins: 8 bytes for some
    thousand pairs, so that memory does not grow with the corpus.

    Args:
        path: a pair file or a mixed pair file; the first line tells which, and all others are like it.
        sentencepiece_model: what to encode with.
        languages: the model's. Where it is one, all pairs are paraphrases; where there are two, translations.
        corpus_languages: the languages of the source and the target of each corpus, by the index in the third column,
            where they are not the same for all.
        max_pieces: cut a side at this many pieces; None leaves it whole.
        threads: of sentencepiece; their number changes nothing in the ids.

    Attributes: ``path``, ``languages``, ``vocab_size``, ``sentencepiece_sha256``, ``unknown_id``, ``max_pieces``, as
    those of :class:`psp.store.Store`.

    Raises:
        DataError: no such file, no pairs, a line that is not UTF-8, has another number of columns, a side without text
            or an unknown corpus (file and line are named); or no sentencepiece model.
        ConfigError: more than two languages, and nothing says which a corpus has.
    """

    def __init__(
        self,
        path: Path | str,
        sentencepiece_model: Path,
        languages: Sequence[str],
        *,
        corpus_languages: Sequence[Sequence[str]] | None = None,
        max_pieces: int | None = None,
        threads: int = 1,
    ) -> None:
        self.path = Path(path)
        if corpus_languages is None and not 1 <= len(languages) <= 2:
            raise ConfigError(
                f"languages: {','.join(languages)!r}, but text does not tell which of them a pair is in. Name the one "
                "or two that all its pairs have, or make a store by the workflow"
            )
        self.languages, self.max_pieces, self._threads = list(languages), max_pieces, threads
        kinds = [(languages[0], languages[-1])] if corpus_languages is None else corpus_languages
        self._paraphrase = np.array([source == target for source, target in kinds], dtype=bool)
        self._corpora = None if corpus_languages is None else len(corpus_languages)
        self._processor = load_sentencepiece(sentencepiece_model)
        self.sentencepiece_sha256 = sha256(sentencepiece_model)
        self.vocab_size: int = self._processor.get_piece_size()
        self.unknown_id: int = self._processor.unk_id()
        try:
            self._file = self.path.open("rb")
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", self.path) from None
        try:
            self._state = self._file_state()
            self._columns = self._file.readline().count(b"\t") + 1
            self._index()
        except BaseException:
            self._file.close()
            raise

    def _index(self) -> None:
        """Check all lines, count them, and remember where blocks begin."""
        if self._columns not in (2, 3) and self._state[0]:
            raise DataError(
                f"{self._columns} columns; write a source, a tab and a target, and after another tab the index of "
                "the corpus, where there is one",
                self.path,
                1,
            )
        self._file.seek(0)
        starts, self._pairs = [0], 0
        with Progress(f"checking {self.path.name}", "bytes", self._state[0]) as progress:
            while lines := list(itertools.islice(self._file, BLOCK_PAIRS)):  # a binary file breaks at b"\n" alone
                block = b"".join(lines)
                self._rows(block, self._pairs + 1)
                starts.append(starts[-1] + len(block))
                self._pairs += len(lines)
                progress.add(len(block))
        if not self._pairs:
            raise DataError("holds no pair", self.path)
        self._starts = np.array(starts)

    def _rows(self, block: bytes, first: int) -> tuple[list[str], list[str], np.ndarray]:
        """Sources, targets and corpora of whole lines, checked; ``first`` is the number of the first line, from 1."""
        try:
            text = block.decode()
        except UnicodeDecodeError as error:
            message = f"not UTF-8 (a byte {block[error.start]:#04x}); convert the file"
            raise DataError(message, self.path, first + block.count(b"\n", 0, error.start)) from None
        sources, targets, indices = [], [], []
        lines = text.removesuffix("\n").split("\n") if text else []
        for number, line in enumerate(lines, start=first):
            columns = line.split("\t")
            if len(columns) != self._columns:
                message = f"{len(columns)} columns where the first line has {self._columns}"
                raise DataError(f"{message}; tabs stand between columns only", self.path, number)
            source, target, *index = columns
            if not source.strip() or not target.strip():
                raise DataError("a side without text; leave the line out", self.path, number)
            sources.append(source)
            targets.append(target)
            indices.append(self._corpus(index[0], number) if index else 0)
        return sources, targets, np.array(indices, dtype=np.int64)

    def _corpus(self, index: str, line: int) -> int:
        if not (index.isascii() and index.isdigit() and len(index) < 10):
            raise DataError(f"the third column is {index!r}, no index of a corpus; leave it out", self.path, line)
        if self._corpora is not None and int(index) >= self._corpora:
            raise DataError(f"the third column is {index}, but there are {self._corpora} corpora", self.path, line)
        return int(index)

    def __len__(self) -> int:
        return self._pairs

    def read(self, start: int, stop: int) -> Block:
        """Pairs ``start`` to ``stop``, the second not included, encoded; ids are int32.

        Raises:
            IndexError: there are no such pairs.
            DataError: the file has changed since it was opened.
        """
        if not 0 <= start <= stop <= self._pairs:
            raise IndexError(f"pairs {start} to {stop} of a file of {self._pairs}")
        begin, end = start // BLOCK_PAIRS, -(-stop // BLOCK_PAIRS)
        offset, size = int(self._starts[begin]), int(self._starts[end] - self._starts[begin])
        self._file.seek(offset)
        block = self._file.read(size)
        if self._file_state() != self._state:
            raise DataError("it was changed while it was read; start again, and leave it as it is", self.path)
        first = begin * BLOCK_PAIRS
        rows = slice(start - first, stop - first)
        sources, targets, corpus = self._rows(block, first + 1)
        source, target = self._encoded(sources[rows]), self._encoded(targets[rows])
        corpus = corpus[rows]
        paraphrase = self._paraphrase[corpus if self._corpora is not None else np.zeros_like(corpus)]
        return Block(source, target, corpus, paraphrase)

    def _encoded(self, texts: list[str]) -> Side:
        return encode_side(self._processor, texts, self.max_pieces, self._threads)[0]

    def _file_state(self) -> tuple[int, int]:
        state = os.fstat(self._file.fileno())
        return state.st_size, state.st_mtime_ns

    def check_vocabulary(self, sentencepiece_model: Path) -> None:
        """Make sure that the text is encoded with this sentencepiece model.

        Raises:
            DataError: it is encoded with another one.
        """
        if sha256(sentencepiece_model) != self.sentencepiece_sha256:
            raise DataError(f"encoded with another vocabulary than {sentencepiece_model}", self.path)

    def close(self) -> None:
        """Close the file; reading is over."""
        self._file.close()

    def __enter__(self) -> TextPairs:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
