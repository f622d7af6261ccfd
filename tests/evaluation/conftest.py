"""A small model, its store and test sets, of a made-up language."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import sentencepiece

from psp.models.folder import save_model
from psp.pairs.store import write_store

LETTERS = "abcdefghijklmnop"


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A sentencepiece model, a store and a model folder over a made-up language of a few hundred words."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    vocabulary = ["".join(rng.choice(list(LETTERS), rng.integers(2, 6))) for _ in range(300)]
    lines = [" ".join(rng.choice(vocabulary, 8, p=_zipf(300))) for _ in range(1200)]
    with (folder / "sentencepiece.model").open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=file, vocab_size=200, minloglevel=2, hard_vocab_limit=False
        )
    pairs = list(zip(lines[:600], lines[600:], strict=True))
    (folder / "mix.tsv").write_text("".join(f"{source}\t{target}\t0\n" for source, target in pairs))
    write_store(
        folder / "mix.tsv",
        folder / "sentencepiece.model",
        folder / "store.h5",
        languages=["en", "fr"],
        corpora=["Made"],
    )
    size = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.model")).get_piece_size()
    weight = np.random.default_rng(1).standard_normal((size, 32)).astype(np.float32)
    save_model(
        folder / "model", weight, folder / "sentencepiece.model", {"languages": ["en", "fr"], "lower_case": True}
    )
    graded = [
        (step, line, " ".join([*line.split()[:step], *other.split()[step:]]))
        for line, other in pairs[:40]
        for step in range(0, 9, 2)
    ]
    (folder / "graded.tsv").write_text("".join(f"{score}\t{a}\t{b}\n" for score, a, b in graded))
    (folder / "fr").write_text("\n".join(lines[:50]))
    (folder / "en").write_text("\n".join(line.upper() for line in lines[:50]))
    tests = {
        "languages": ["en", "fr"],
        "files": {"graded": folder / "graded.tsv"},
        "tatoeba": {"fr": (folder / "fr", folder / "en")},
        "resamples": 50,
    }
    return SimpleNamespace(folder=folder, model=folder / "model", store=folder / "store.h5", lines=lines, tests=tests)


def _zipf(n):
    weights = 1 / np.arange(1, n + 1)
    return weights / weights.sum()
