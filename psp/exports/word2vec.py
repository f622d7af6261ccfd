"""The text format of word2vec: a line with two counts, then a piece and its row a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from psp.errors import DataError, PspError
from psp.exports.common import rows
from psp.files import atomic_text
from psp.model import Model


def write(model: Model, out: Path, sentences: Sequence[str]) -> str:
    """Write the file; see :func:`psp.exports.export`. ``sentences`` are not needed: there is no tokenizer in it.

    Nine digits bring each float32 back as it was.
    """
    if out.exists():
        raise DataError("is there already; name another place, or remove it first", out)
    processor = model.sentencepiece
    left_out = set(model.config.get("left_out", []))
    numbers = [n for n in range(model.vocab_size) if not processor.is_control(n) and n not in left_out]
    pieces = [processor.id_to_piece(number) for number in numbers]
    for piece in pieces:
        if not piece or " " in piece or "\n" in piece:
            raise PspError(
                f"the piece {piece!r} cannot be written in word2vec's format, which has spaces between columns"
            )
    table = rows(model)
    form = " ".join(["%.9g"] * model.dim)
    with atomic_text(out) as file:
        file.write(f"{len(pieces)} {model.dim}\n")
        for number, piece in zip(numbers, pieces, strict=True):
            file.write(f"{piece} {form % tuple(np.asarray(table[number]).tolist())}\n")
    return f"{len(pieces):,} pieces; {processor.id_to_piece(model.unknown_id)} is the unknown one."
