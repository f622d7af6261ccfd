"""Load sentencepiece models from memory, and encode text to flat ids."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import sentencepiece

from psp.core.errors import DataError
from psp.core.files import read_bytes
from psp.text.encoded import Encoded, offsets_of


def load_sentencepiece(path: Path) -> sentencepiece.SentencePieceProcessor:
    """Load a sentencepiece model.

    Raises:
        DataError: no such file, or not a sentencepiece model.
    """
    try:
        serialised = read_bytes(path)
    except OSError as error:
        raise DataError(
            f"cannot be read: {error.strerror}; name another, or copy the model's whole folder",
            path,
        ) from None
    if not serialised:  # sentencepiece takes this for "no model yet", without an error
        raise DataError("an empty file where a sentencepiece model should be; make it again", path)
    try:
        # From memory: the library's own reading prints to stderr where the file is bad.
        return sentencepiece.SentencePieceProcessor(model_proto=serialised)
    except Exception as error:  # which class it is depends on sentencepiece's version
        raise DataError(f"not a sentencepiece model, or damaged ({error}); make it again", path) from None


def encode_all(processor: sentencepiece.SentencePieceProcessor, texts: list[str], threads: int = 1) -> Encoded:
    """Encode sentences in one call, ids int32, including unknown pieces."""
    # Measured, 2 cores, en-fr: lists of ints 244k sentences/s per thread, return_type="numpy" 209k (an array object a
    # sentence), and 394k against 292k on two.
    lists = processor.encode(texts, out_type=int, num_threads=threads)
    offsets = offsets_of(np.fromiter(map(len, lists), np.int64, len(lists)))
    return Encoded(np.fromiter(itertools.chain.from_iterable(lists), np.int32, int(offsets[-1])), offsets)
