"""The table before training."""

from __future__ import annotations

import numpy as np
import torch
from small_pairs import ListSource

from psp.training import initial
from psp.training.initial import count_pieces, initial_table
from psp.training.settings import TrainSettings

PIECES = [str(number) for number in range(50)]


def pairs() -> ListSource:
    rng = np.random.default_rng(1)
    sides = [[rng.zipf(1.5, rng.integers(0, 9)).clip(max=40).tolist() for _ in range(300)] for _ in range(2)]
    return ListSource(*sides)


def test_pieces_of_both_sides_are_counted(monkeypatch) -> None:
    monkeypatch.setattr(initial, "COUNTED", 64)
    source = pairs()
    ids = [number for side in (source.source, source.target) for row in side for number in row]
    assert count_pieces(source, 50).tolist() == np.bincount(ids, minlength=50).tolist()


def test_zipf_makes_the_rows_of_frequent_pieces_small() -> None:
    settings = TrainSettings(dim=16, init="zipf", init_smoothing=0.01)
    table, _ = initial_table(PIECES, settings, None, pairs())
    plain, _ = initial_table(PIECES, TrainSettings(dim=16), None, pairs())
    share = count_pieces(pairs(), 50) / count_pieces(pairs(), 50).sum()
    expected = plain.numpy() * (0.01 / (0.01 + share))[:, None]
    assert table.dtype == torch.float32
    np.testing.assert_allclose(table.numpy(), expected, rtol=1e-6)
    assert np.array_equal(table[45:], plain[45:])  # those that there are none of stay as they are
