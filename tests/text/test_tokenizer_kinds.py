"""What a config knows of each kind of pieces is what its tokenizer says of itself."""

from __future__ import annotations

from psp.config.blocks.vocabulary import PIECES
from psp.text.tokenizer_kinds import kinds, of_kind


def test_the_config_knows_the_kinds_as_they_are() -> None:
    assert list(PIECES) == kinds()
    for name, known in PIECES.items():
        tokenizer = of_kind(name)
        assert (known.file, known.called, known.is_words) == (
            tokenizer.file, tokenizer.pieces_called, tokenizer.is_words,
        )  # fmt: skip
