"""Small parallel data, as ids and as text, for all tests of training."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

from psp.evaluation.development import Development
from psp.evaluation.scorers import EmbeddingScorer
from psp.models.folder import load_model
from psp.pairs.encoded_pairs import Pairs
from psp.pairs.store import write_store
from psp.pairs.subword import train_subword
from psp.text.tokenizer import Encoded
from psp.training.loop import Training

#: Settings at which a training of small made text takes a second.
QUICK: dict[str, Any] = {
    "epochs": 14, "batch_size": 16, "megabatch": 4, "anneal": 5, "dim": 32, "learning_rate": 0.02, "log_every": 10,
    "dropout": 0.1,
}  # fmt: skip


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Tensors as small as the tests' gain nothing from threads, and lose much where the machine is busy."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


# --------------------------------------------------------------------------------------------------------- pairs of ids


def sentences(rows: list[list[int]]) -> Encoded:
    return Encoded(
        np.array([token for row in rows for token in row], dtype=np.int32),
        np.cumsum([0, *map(len, rows)], dtype=np.int64),
    )


class ListSource:
    """Pairs from lists of ids; counts what has been read."""

    def __init__(self, source: list[list[int]], target: list[list[int]], paraphrase: list[bool] | None = None) -> None:
        self.source, self.target = source, target
        self.paraphrase = np.array(paraphrase or [False] * len(source), dtype=bool)
        self.have_read = 0

    def __len__(self) -> int:
        return len(self.source)

    def read(self, start: int, stop: int) -> Pairs:
        self.have_read += stop - start
        return Pairs(
            sentences(self.source[start:stop]), sentences(self.target[start:stop]), self.paraphrase[start:stop]
        )


def numbered(count: int) -> ListSource:
    """Pair i is [i] and [i, i + 1, ...] of varying length, so that a misaligned or lost pair shows."""
    return ListSource([[i] for i in range(count)], [list(range(i, i + 1 + i % 4)) for i in range(count)])


CONCEPTS = 150


def translated(count: int, seed: int) -> ListSource:
    """A made-up parallel corpus: 3 to 7 concepts a sentence, each with one word a language, in any order."""
    rng = np.random.default_rng(seed)
    meanings = [rng.integers(0, CONCEPTS, rng.integers(3, 8)) for _ in range(count)]
    return ListSource(
        [meaning.tolist() for meaning in meanings],
        [(rng.permutation(meaning) + CONCEPTS).tolist() for meaning in meanings],
    )


def retrieval_error(table: np.ndarray, pairs: ListSource) -> float:
    """Share of sources whose nearest target is not their own."""

    def unit(rows: list[list[int]]) -> np.ndarray:
        vectors = np.stack([table[row].mean(axis=0) for row in rows])
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    nearest = (unit(pairs.source) @ unit(pairs.target).T).argmax(axis=1)
    return float((nearest != np.arange(len(pairs))).mean())


# -------------------------------------------------------------------------------------------------------- pairs of text

#: What a model of these pairs is said to be.
CONFIG = {"languages": ["en", "fr"], "lower_case": True, "segment": {}, "recipe": "paper"}


class Made(NamedTuple):
    store: Path
    sentencepiece: Path
    heldout: Path
    unseen: tuple[list[str], list[str]]


def words(syllables: str, seed: int) -> list[str]:
    """A made-up language: one word of three syllables for each concept."""
    rng, found = np.random.default_rng(seed), {}
    while len(found) < CONCEPTS:
        found["".join(syllables[i : i + 2] for i in 2 * rng.integers(0, len(syllables) // 2, 3))] = None
    return list(found)


def corpus(count: int, seed: int) -> tuple[list[str], list[str]]:
    languages = words("banekiropusamiteloru", 1), words("dyfaghezovquixwejacy", 2)
    rng = np.random.default_rng(seed)
    sides: tuple[list[str], list[str]] = ([], [])
    for _ in range(count):
        meaning = rng.integers(0, CONCEPTS, rng.integers(3, 7))
        for side, language in zip(sides, languages, strict=True):
            side.append(" ".join(language[i] for i in rng.permutation(meaning)))
    return sides


def make(folder: Path, pairs: tuple[Sequence[str], Sequence[str]], pieces: int) -> Made:
    folder.mkdir(parents=True, exist_ok=True)
    mixed, model = folder / "mix.tsv", folder / "sentencepiece.model"
    mixed.write_text("".join(f"{a}\t{b}\t0\n" for a, b in zip(*pairs, strict=True)), encoding="utf-8", newline="\n")
    train_subword(mixed, model, vocab_size=pieces, report=folder / "subword.json")
    write_store(mixed, model, folder / "store.h5", languages=["en", "fr"], corpora=["made"])
    unseen, heldout = corpus(200, seed=9), folder / "heldout.tsv"
    heldout.write_text("".join(f"{a}\t{b}\t0\n" for a, b in zip(*unseen, strict=True)), encoding="utf-8", newline="\n")
    return Made(folder / "store.h5", model, heldout, unseen)


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("made"), corpus(600, seed=1), 300)


def train(
    folder: Path, data: Any, settings: Mapping[str, Any], development: Any = None, **given: Any
) -> dict[str, Any]:
    """Train on a store and a sentencepiece model, into ``folder``; the report."""
    options: dict[str, Any] = {"threads": 1, "model_config": CONFIG, "warn_pairs": 0, **given}
    files = options.pop("store", data.store), options.pop("tokenizer", data.sentencepiece)
    return Training(*files, folder / "model", folder / "train", settings, development, **options).run()


def error(folder: Path, made: Made) -> float:
    """Of a trained model, the share of unseen pairs whose translation is not the nearest, in %."""
    return float(Development(None, made.unseen).score(EmbeddingScorer(load_model(folder)))["error"])
