"""Training sentences as further candidates in retrieval."""

import numpy as np
import pytest
import torch

from psp.pairs import encoded_pairs
from psp.pairs.store import PairBlock
from psp.text.tokenizer import Encoded
from psp.training import candidates
from psp.training.candidates import candidate_vectors

PAIRS = 1000


class Source:
    """Pair n has the ids n and n + 1,000, as a store's numbers of two bytes."""

    def __len__(self):
        return PAIRS

    def read(self, start, stop):
        assert 0 <= start < stop <= PAIRS
        rows = np.arange(start, stop, dtype=np.uint16)
        sides = (Encoded(rows + shift, np.arange(len(rows) + 1)) for shift in (0, PAIRS))
        return PairBlock(*sides, np.zeros(len(rows), int), np.zeros(len(rows), bool))


class Encoder:
    def encode(self, sentences):
        assert sentences.ids.dtype == np.int32
        return torch.tensor(sentences.ids[:, None], dtype=torch.float32)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(candidates, "BLOCK_PAIRS", 64)
    assert encoded_pairs.BLOCK_PAIRS > 64


@pytest.mark.parametrize("count", [0, 1, 64, 100, 640, 999, 1000, 5000])
def test_as_many_pairs_as_asked_from_all_places(count):
    found = list(candidate_vectors(Encoder(), Source(), count))
    sources, targets = (np.concatenate([[], *(one[side][:, 0] for one in found)]) for side in range(2))
    assert len(set(sources)) == len(sources) == min(count, PAIRS)
    assert np.array_equal(targets, sources + PAIRS)
    if count > 64:
        assert np.diff(np.sort(sources)).max() <= PAIRS // (count // 64)
        assert sources.max() >= PAIRS // 2
