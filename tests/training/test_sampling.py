from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.pairs.store import PairBlock, Store, write_store
from psp.training.batches import Epoch
from psp.training.sampling import LanguageSampling, language_sampling
from tests.conftest import PAIRS, rows_of, train_sentencepiece, write_mixed
from tests.training.conftest import numbered

LANGUAGES = [["en", "fr"], ["fr", "en"], ["ar", "en"], ["en", "en"]]


class Stored:
    """Numbered pairs, each of a corpus, as a store has them."""

    corpus_languages = LANGUAGES

    def __init__(self, corpora: list[int]) -> None:
        self.corpora, self._pairs = np.array(corpora, np.uint8), numbered(len(corpora))

    def __len__(self) -> int:
        return len(self.corpora)

    def corpus_of(self, start: int, stop: int) -> Any:
        return self.corpora[start:stop]

    def read(self, start: int, stop: int) -> PairBlock:
        pairs = self._pairs.read(start, stop)
        return PairBlock(pairs.source, pairs.target, self.corpora[start:stop], pairs.paraphrase)


def drawn(store: Stored, sampling: LanguageSampling, epoch: int, block: int, portion: int = 50) -> list[int]:
    """The numbers of the pairs of an epoch, in order."""
    found: list[int] = []
    pairs = Epoch(store, 1, epoch, block_pairs=block, buffer_blocks=3, sampling=sampling)
    while pairs.left:
        taken = pairs.take(portion)
        for source, target in zip(rows_of(taken.source), rows_of(taken.target), strict=True):
            assert target == list(range(source[0], source[0] + 1 + source[0] % 4))
            found += source
    return found


@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=300),
    st.sampled_from([0, 0.3, 0.5, 1]),
    st.integers(1, 60),
)
def test_an_epoch_has_what_the_power_asks_for(corpora: list[int], exponent: float, block: int) -> None:
    store = Stored(corpora)
    sampling = LanguageSampling(store, exponent, block)
    counts = Counter("-".join(sorted(LANGUAGES[corpus])) for corpus in corpora)
    weights = {name: count**exponent for name, count in counts.items()}
    wanted = {name: weight * len(corpora) / sum(weights.values()) for name, weight in weights.items()}
    epochs = [drawn(store, sampling, epoch, block) for epoch in (1, 2)]
    for numbers in epochs:
        assert len(numbers) == len(sampling) == pytest.approx(len(store), abs=2)
        own = Counter("-".join(sorted(LANGUAGES[corpora[number]])) for number in numbers)
        assert own == {name: n["drawn"] for name, n in sampling.report().items() if n["drawn"]}
        assert all(own[name] == pytest.approx(wanted[name], abs=0.51) for name in counts)
    if exponent == 1:
        assert sorted(epochs[0]) == list(range(len(store)))
    assert drawn(store, sampling, 1, block) == epochs[0]


def test_pairs_of_a_language_come_equally_often_and_in_turn() -> None:
    store = Stored([0] * 3000 + [2] * 100)
    sampling = LanguageSampling(store, 0.5, 64)
    times = [Counter(drawn(store, sampling, epoch, 64)) for epoch in range(1, 9)]
    few = np.array([[epoch[number] for number in range(3000, 3100)] for epoch in times])
    many = np.array([[epoch[number] for number in range(3000)] for epoch in times])
    rate = few.sum() / few.size
    assert rate > 4 and set(np.unique(few)) <= {int(rate) - 1, int(rate), int(rate) + 1, int(rate) + 2}
    assert set(np.unique(many)) == {0, 1}
    # Eight epochs of a share of .85: hardly a pair comes in none of them, as most of the rest would if the draw did not
    # change.
    assert (many.sum(axis=0) == 0).mean() < 0.005 and (many.sum(axis=0) == 8).mean() < 0.5


def test_skipping_is_taking_without_looking() -> None:
    store = Stored([0, 2, 0, 0, 3] * 40)
    sampling = LanguageSampling(store, 0.3, 16)
    whole = drawn(store, sampling, 1, 16)
    for skipped in (0, 1, 48, 49, 100, 199):
        epoch = Epoch(store, 1, 1, block_pairs=16, buffer_blocks=3, sampling=sampling)
        epoch.skip(skipped)
        assert [row[0] for row in rows_of(epoch.take(300).source)] == whole[skipped:]


def test_one_language_pair_needs_no_sampling() -> None:
    assert language_sampling(SimpleNamespace(corpus_languages=[["en", "fr"], ["fr", "en"]]), 0.5) is None
    assert language_sampling(SimpleNamespace(), 0.5) is None  # text has no corpora
    assert language_sampling(Stored([0, 2]), 1) is None
    assert language_sampling(Stored([0, 2]), 0.5) is not None


def test_a_store_says_the_corpora_of_its_pairs(tmp_path: Path) -> None:
    mixed = write_mixed(tmp_path / "mixed.tsv", [(*pair, n % 3 == 0) for n, pair in enumerate(PAIRS)])
    mixed.write_text(mixed.read_text().replace("True", "1").replace("False", "0"))
    model = train_sentencepiece(tmp_path / "sp.model")
    write_store(
        mixed, model, tmp_path / "store.h5",
        languages=["en", "fr", "de"], corpora=["a", "b"], corpus_languages=[["en", "fr"], ["de", "en"]],
    )  # fmt: skip
    with Store(tmp_path / "store.h5") as store:
        assert np.array_equal(store.corpus_of(3, 9), store.read(3, 9).corpus)
        sampling = LanguageSampling(store, 0)
        assert sampling.languages == ["de-en", "en-fr"] and sampling.counts.tolist() == [80, 160]
        assert sampling.drawn.tolist() == [120, 120]
