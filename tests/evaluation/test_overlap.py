"""What a test set and the training pairs share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from psp.evaluation import overlap as module
from psp.evaluation.overlap import overlap
from psp.pairs.store import write_store
from psp.text.keys import normalised_key
from psp.text.sentencepiece_tokenizer import SentencepieceTokenizer
from tests.conftest import PAIRS, train_sentencepiece


@pytest.mark.parametrize("block", [7, 100_000])
def test_it_is_counted_as_by_a_plain_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    tokenizer = SentencepieceTokenizer(train_sentencepiece(tmp_path / "sp.model"), {"lower_case": True})
    pairs = [(a.lower(), b.lower()) for a, b in PAIRS]
    (tmp_path / "mix.tsv").write_text("".join(f"{a}\t{b}\t0\n" for a, b in pairs), encoding="utf-8")
    files = [tmp_path / name for name in ("mix.tsv", "sp.model", "store.h5")]
    write_store(*files, languages=["en", "fr"], corpora=["x.en-fr"])
    rng = np.random.default_rng(1)
    chosen = zip(rng.choice(len(PAIRS), 20), rng.integers(0, 2, 20), strict=True)
    sentences = [PAIRS[row][side].upper() + "!" for row, side in chosen]
    sentences += ["the cat is not among them, nor is this line", "...", ""]
    found = overlap(tmp_path / "store.h5", tokenizer, sentences)
    keys = {normalised_key(text) for text in sentences} - {""}
    trained = [{normalised_key(side) for side in pair} for pair in pairs]
    assert found == {
        "sentences": len(keys),
        "in_training": len(keys & set().union(*trained)),
        "pairs": sum(bool(pair & keys) for pair in trained),
    }
    assert found["in_training"] == len(keys) - 1
