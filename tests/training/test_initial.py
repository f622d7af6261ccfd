"""The table before training."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from psp.config.blocks.training import TrainSettings
from psp.core.errors import ConfigError, DataError
from psp.models.lstm import Direction, Lstm
from psp.models.static import StaticModel
from psp.pairs import encoded_pairs
from psp.pairs.encoded_pairs import count_pieces
from psp.text.trigram_tokenizer import TrigramTokenizer
from psp.text.word_tokenizer import WordTokenizer
from psp.training import initial
from psp.training.piece_vectors import embed_pieces, mix_in
from psp.training.spelling import spelled_rows
from tests.training.conftest import ListSource


def initial_table(pieces: list[str], *given: Any, **named: Any) -> tuple[torch.Tensor, dict[str, Any] | None]:
    """The table of pieces that are spelled as they are."""
    tokenizer = SimpleNamespace(pieces=lambda: pieces, spellings=lambda: pieces)
    return initial.initial_table(tokenizer, *given, **named)  # type: ignore[arg-type]


def pairs() -> ListSource:
    rng = np.random.default_rng(1)
    sides = [[rng.zipf(1.5, rng.integers(0, 9)).clip(max=40).tolist() for _ in range(300)] for _ in range(2)]
    return ListSource(*sides)


def test_pieces_of_both_sides_are_counted(monkeypatch) -> None:
    monkeypatch.setattr(encoded_pairs, "COUNTED", 64)
    source = pairs()
    ids = [number for side in (source.source, source.target) for row in side for number in row]
    assert count_pieces(source, 50).tolist() == np.bincount(ids, minlength=50).tolist()


def test_spelling_is_a_share_of_the_variance_of_the_rows_that_have_one() -> None:
    pieces = ["▁house", "▁houses", "▁maison", "maisons", "x"]
    tables = [
        initial_table(pieces, TrainSettings(dim=20_000, init="normal", init_spelling=share), None, pairs())[0]
        for share in (0, 0.6, 1)
    ]
    plain, some, all_of_it = (table.numpy() for table in tables)
    rows, there = spelled_rows(pieces, 20_000, 1)
    assert there.tolist() == [True, True, True, True, False]
    np.testing.assert_allclose(some[:4], 0.6**0.5 * rows[:4] + 0.4**0.5 * plain[:4], atol=1e-5)
    np.testing.assert_allclose(all_of_it[:4], rows[:4], atol=1e-6)
    assert some[:4].std(axis=1) == pytest.approx(1, abs=0.03)
    assert np.array_equal(some[4], plain[4])


def test_words_resemble_by_their_spelling_and_trigrams_by_nothing() -> None:
    tokenizer = WordTokenizer([("house", 2), ("houses", 2), ("mouse", 1)])
    spellings = tokenizer.spellings()
    assert spellings == ["<unk>", "▁house", "▁houses", "▁mouse"]
    settings = TrainSettings(dim=5_000, init="normal", init_spelling=1)
    table = initial.initial_table(tokenizer, settings, None, pairs())[0].numpy()
    near, far = (np.corrcoef(table[1], table[row])[0, 1] for row in (2, 3))
    assert near > far > 0.1 > abs(np.corrcoef(table[0], table[1])[0, 1])
    assert TrigramTokenizer([("the", 2)]).spellings() is None


def test_an_encoder_has_its_share_beside_spelling_and_before_the_frequency(tmp_path: Path) -> None:
    pieces = ["<unk>", "\u2581house", "\u2581houses", "\u2581the"]
    source = ListSource([[1, 2, 3]], [[3, 3, 3]])
    rows = np.array([1, 2, 3], np.int32)
    vectors = np.random.default_rng(1).standard_normal((3, 5)).astype(np.float32)

    class Given:
        segmented = False

        def embed(self, texts):
            assert texts == ["house", "houses", "the"]
            return vectors

    class Spelled:
        def pieces(self):
            return pieces

        def spellings(self):
            return pieces

    file = tmp_path / "pieces.safetensors"
    embed_pieces(Spelled(), Given(), "given", file)
    settings = TrainSettings(dim=8, init_encoder_share=0.3, init_scale=2)
    table, taken = initial_table(pieces, settings, None, source, piece_vectors=file)
    assert taken is None
    flat = settings.but(init="normal", init_scale=1)
    expected, _ = initial_table(pieces, flat, None, source)
    mix_in(expected.numpy(), rows, vectors, share=0.3, whitening=0.5, seed=settings.seed)
    assert torch.equal(initial_table(pieces, flat, None, source, piece_vectors=file)[0], expected)
    frequency = torch.tensor([0, 1, 1, 4]) / 6
    factor = settings.init_smoothing / (settings.init_smoothing + frequency)
    assert torch.allclose(table, 2 * factor[:, None] * expected, atol=1e-6)


def test_words_take_over_their_vectors_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    file.write_text("the 1 2 3\nother 7 8 9\nhouse 4 5 6\n")
    settings = TrainSettings(dim=3, init="normal", init_spelling=0)
    pieces = ["<unk>", "house", "unseen", "the"]
    plain, nothing = initial_table(pieces, settings, None, ListSource([], []))
    table, taken = initial_table(pieces, settings, None, ListSource([], []), init_vectors=file)
    assert (nothing, taken) == (None, {"pieces": 4, "taken_over": 2})
    assert table[[1, 3]].tolist() == [[4, 5, 6], [1, 2, 3]]
    assert torch.equal(table[[0, 2]], plain[[0, 2]])
    with pytest.raises(ConfigError, match=r"train\.dim: 4 is not the 3 .*Write `dim: 3`"):
        initial_table(
            pieces, TrainSettings(dim=4, init="normal", init_spelling=0), None, ListSource([], []), init_vectors=file
        )
    with pytest.raises(DataError, match="none of the wanted words"):
        initial_table(["x"], settings, None, ListSource([], []), init_vectors=file)


def test_the_embeddings_of_an_lstm_are_taken_over_whatever_its_width(tmp_path: Path) -> None:
    weight = np.arange(6, dtype=np.float32).reshape(3, 2)
    direction = Direction(*(np.ones(shape, np.float32) for shape in ((20, 2), (20, 5), (20,))))
    words = WordTokenizer([("the", 2), ("house", 1)])
    StaticModel(weight, words, {"languages": ["en"]}, contextual=Lstm([direction])).save(tmp_path / "model")
    settings = TrainSettings(dim=2, init="normal", init_spelling=0)
    table, taken = initial.initial_table(words, settings, tmp_path / "model", ListSource([], []))
    assert taken == {"pieces": 3, "taken_over": 3}
    assert np.array_equal(table.numpy(), weight)
