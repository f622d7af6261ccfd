r"""Train straight from text: encode pairs as they are read, without writing a store.

The text is a pair file, ``source \t target \n``, or a mixed pair file, ``source \t target \t corpus \n``, in UTF-8,
already prepared for the model (lower-cased or not, segmented if the language needs it). It gives the same ids as a
store made from it, and so the same model, but encodes every pair again in every epoch.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from psp.core.errors import ConfigError, DataError
from psp.core.files import open_regular
from psp.core.logs import Progress
from psp.pairs.encoded_pairs import BLOCK_PAIRS
from psp.pairs.pair_file import columns_of, corpus_indices, own_layout
from psp.pairs.store import PairBlock, Store, encode_side
from psp.text.tokenizer import Encoded, Tokenizer
from psp.text.tokenizer_kinds import as_tokenizer

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_store(path: Path | str) -> bool:
    """Whether a file of pairs is a store (HDF5, by its name or its first bytes), not text.

    Raises:
        DataError: it cannot be read.
    """
    path = Path(path)
    try:
        with open_regular(path) as file:
            return path.suffix == ".h5" or file.read(len(HDF5_SIGNATURE)) == HDF5_SIGNATURE
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None


def open_source(
    path: Path | str,
    tokenizer: Tokenizer | Path,
    languages: Sequence[str],
    *,
    threads: int = 1,
) -> Store | TextPairs:
    """Open a file of pairs, a store or text; both are context managers with ``check_vocabulary``.

    A store knows its languages, so only text needs the arguments after the first; see
    :class:`TextPairs` for them and for errors.
    """
    if is_store(path):
        return Store(path)
    return TextPairs(path, tokenizer, languages, threads=threads)


class TextPairs:
    """Reads pairs from text; a context manager. ``len`` is the number of pairs.

    One pass over the file checks each line and records where every ``BLOCK_PAIRS``-th begins: 8 bytes for some
    thousand pairs, so memory hardly grows with the corpus.

    Args:
        path: a pair file or a mixed pair file; the first line tells which, and all others must match it.
        tokenizer: the tokenizer, or the path of a sentencepiece model.
        languages: the model's. With one, all pairs are paraphrases; with two, translations.
        threads: threads of the tokenizer; they do not change the ids.

    Attributes: ``path``, ``languages``, ``vocab_size``, ``vocabulary_sha256``, ``unknown_id``, ``max_pieces``, as
    those of :class:`psp.pairs.store.Store`.

    Raises:
        DataError: no such file, no pairs, a line that is not UTF-8, has another number of columns, a side without text
            or no index of a corpus (file and line are named); or no sentencepiece model.
        ConfigError: there are more than two languages.
    """

    def __init__(
        self,
        path: Path | str,
        tokenizer: Tokenizer | Path,
        languages: Sequence[str],
        *,
        threads: int = 1,
    ) -> None:
        self.path = Path(path)
        if not 1 <= len(languages) <= 2:
            raise ConfigError(
                f"languages: {','.join(languages)!r}, but text does not say which of them a pair is in; name the one "
                "or two languages of all its pairs, or make a store with the workflow"
            )
        self.languages, self._threads = list(languages), threads
        self.max_pieces = None  # sides are whole
        self._tokenizer = as_tokenizer(tokenizer)
        self.vocabulary_sha256 = self._tokenizer.sha256()
        self.vocab_size = len(self._tokenizer)
        self.unknown_id = self._tokenizer.unknown_id
        try:
            self._file = self.path.open("rb")
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", self.path) from None
        try:
            self._state = self._file_state()
            self._layout = own_layout(self.path)
            self._index()
        except BaseException:
            self._file.close()
            raise

    def _index(self) -> None:
        """Check all lines, count them, and remember where blocks begin."""
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
            raise DataError("holds no pairs", self.path)
        self._starts = np.array(starts)

    def _rows(self, block: bytes, first: int) -> tuple[list[str], list[str], np.ndarray]:
        """Sources, targets and corpora of whole lines, checked; ``first`` is the number of the first line, from 1."""
        if block and not block.endswith(b"\n"):
            block += b"\n"
        sources, targets, *names = columns_of(block, self.path, first, self._layout)
        if not names:
            return sources, targets, np.zeros(len(sources), np.int64)
        return sources, targets, corpus_indices(names[0], None, self.path, first, self._layout)

    def __len__(self) -> int:
        return self._pairs

    def read(self, start: int, stop: int) -> PairBlock:
        """Read and encode pairs ``start`` to ``stop``, exclusive; ids are int32.

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
            raise DataError("changed while it was being read; start again, and leave the file as it is", self.path)
        first = begin * BLOCK_PAIRS
        rows = slice(start - first, stop - first)
        sources, targets, corpus = self._rows(block, first + 1)
        source, target = self._encoded(sources[rows]), self._encoded(targets[rows])
        corpus = corpus[rows]
        paraphrase = np.full(len(corpus), self.languages[0] == self.languages[-1])
        return PairBlock(source, target, corpus, paraphrase)

    def _encoded(self, texts: list[str]) -> Encoded:
        return encode_side(self._tokenizer, texts, None, self._threads)[0]

    def _file_state(self) -> tuple[int, int]:
        state = os.fstat(self._file.fileno())
        return state.st_size, state.st_mtime_ns

    def check_vocabulary(self, tokenizer: Tokenizer | Path) -> None:
        """Check that the text is encoded with this tokenizer, or with the sentencepiece model at this path.

        Raises:
            DataError: it is encoded with another vocabulary.
        """
        if as_tokenizer(tokenizer).sha256() != self.vocabulary_sha256:
            raise DataError(f"encoded with another vocabulary than {tokenizer}", self.path)

    def close(self) -> None:
        """Close the file; reading is over."""
        self._file.close()

    def __enter__(self) -> TextPairs:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
