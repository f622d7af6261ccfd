"""Export to word2vec's text format: a line with two counts, then one piece and its embedding per line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from psp.core.errors import DataError, PspError
from psp.core.files import atomic_text
from psp.models.exports.common import rows
from psp.models.static import StaticModel


def write(model: StaticModel, out: Path, sentences: Sequence[str]) -> str:
    """Write the file; see :func:`psp.models.exports.export`. ``sentences`` is unused: the format has no tokenizer.

    Nine digits preserve each float32 exactly.
    """
    if out.exists():
        raise DataError("already exists; name another place, or remove it first", out)
    tokenizer = model.tokenizer
    excluded_ids = {*model.config.get("left_out", []), *tokenizer.control_ids}
    numbers = [number for number in range(model.vocab_size) if number not in excluded_ids]
    pieces = [tokenizer.piece(number) for number in numbers]
    for piece in pieces:
        if not piece or " " in piece or "\n" in piece:
            raise PspError(
                f"the piece {piece!r} cannot be written in word2vec's format, which separates columns by spaces; "
                "choose another format"
            )
    table = rows(model)
    form = " ".join(["%.9g"] * model.dim)
    with atomic_text(out) as file:
        file.write(f"{len(pieces)} {model.dim}\n")
        for number, piece in zip(numbers, pieces, strict=True):
            file.write(f"{piece} {form % tuple(np.asarray(table[number]).tolist())}\n")
    return f"{len(pieces):,} pieces; {tokenizer.piece(model.unknown_id)} is the unknown one."
