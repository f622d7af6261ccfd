"""Speed of the encoders beside subwords, each as a ratio of two rates measured in the same run, in turns.

    python benchmarks/encoders.py results/en results/en-words results/en-trigrams

The folders are those of models of subwords, words and trigrams from the same pairs, with their stores; the models
themselves are not used: embedding matrices are random, 300-dimensional. Printed are medians of the rounds:

- training: tokens/s of one pass over each store with the recipe psp, one thread, process start and compilation
  excluded (the first pass of each is not counted);
- text to vectors: sentences/s of the same real sentences, one core, compiled code;
- an LSTM of 300 dimensions in NumPy, PyTorch float32 and PyTorch bfloat16, from the same ids, one core.

Set the number of threads of NumPy's products from outside: OMP_NUM_THREADS=1, and taskset -c 0 for one core.
"""

from __future__ import annotations

import argparse
import csv
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from psp.models.lstm import Direction, Lstm
from psp.models.static import StaticModel
from psp.models.table import Table
from psp.pairs.store import Store
from psp.text.encoded import Encoded
from psp.text.tokenizer import Tokenizer
from psp.text.tokenizer_kinds import as_tokenizer
from psp.training.encoders.lstm import LstmEncoder
from psp.training.loop import train
from psp.training.settings import TrainSettings, checked_encoder

DIM = 300
KINDS = ("subword", "word", "trigram")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs=3, help="results of a model of subwords, of words, of trigrams")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=100_000, help="texts to embed")
    parser.add_argument("--read", type=int, default=8_192, help="sentences that LSTMs read")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tokenizers = [tokenizer_of(folder) for folder in options.folders]
    texts = sentences(options.folders[0], tokenizers[0], options.sentences)
    print(f"{len(texts):,} sentences, medians of {options.rounds} rounds\n")
    report("training, tokens/s", in_turns(trainings(options.folders, tokenizers), options.rounds), "subword")
    report("text to vectors, sentences/s", in_turns(embeddings(tokenizers, texts), options.rounds), "subword")
    ids = tokenizers[1].encode(texts[: options.read])
    report("LSTM, sentences/s", in_turns(lstms(len(tokenizers[1]), ids), options.rounds), "torch float32")


def tokenizer_of(folder: Path) -> Tokenizer:
    """The tokenizer of a model's folder under results/."""
    file = folder / "sentencepiece.model"
    return as_tokenizer(file if file.exists() else folder / "vocabulary.txt").reading({"lower_case": True})


def sentences(folder: Path, tokenizer: Tokenizer, count: int) -> list[str]:
    """Both sides of the first pairs of a store, as text."""
    with Store(folder / "store.h5") as store:
        block = store.read(0, min(count // 2, len(store)))
    return [text for side in (block.source, block.target) for text in tokenizer.decode(side)]


def trainings(folders: list[Path], tokenizers: list[Tokenizer]) -> dict[str, Callable[[], float]]:
    """For each encoder a pass over its store, which returns tokens/s."""

    def run(folder: Path, tokenizer: Tokenizer) -> float:
        with Store(folder / "store.h5") as store:
            block = store.read(0, len(store))
            tokens = len(block.source.ids) + len(block.target.ids)
            pairs = len(store)
        spelled = 0.0 if tokenizer.kind == "trigram" else 0.6
        settings = TrainSettings(dim=DIM, epochs=1, init_spelling=spelled, device="cpu")
        config = {"languages": ["en", "en"], "lower_case": True, "segment": {}, "recipe": "psp"}
        with tempfile.TemporaryDirectory() as scratch:
            train(
                folder / "store.h5", tokenizer, None, Path(scratch), settings, None, threads=1, model_config=config,
                warn_pairs=0,
            )  # fmt: skip
            with (Path(scratch) / "timing.csv").open() as file:
                *_, last = csv.DictReader(file)
        return tokens / pairs * float(last["pairs"]) / float(last["seconds"])

    return {
        kind: lambda folder=folder, tokenizer=tokenizer: run(folder, tokenizer)
        for kind, folder, tokenizer in zip(KINDS, folders, tokenizers, strict=True)
    }


def embeddings(tokenizers: list[Tokenizer], texts: list[str]) -> dict[str, Callable[[], float]]:
    """For each encoder the embedding of all texts, which returns sentences/s."""

    def run(model: StaticModel) -> float:
        started = time.perf_counter()
        model.embed_raw_text(texts)
        return len(texts) / (time.perf_counter() - started)

    found: dict[str, Callable[[], float]] = {}
    for kind, tokenizer in zip(KINDS, tokenizers, strict=True):
        table = np.random.default_rng(1).standard_normal((len(tokenizer), DIM), dtype=np.float32)
        model = StaticModel(table, tokenizer, {"lower_case": True}, accelerate=True)
        found[kind] = lambda model=model: run(model)
    return found


def lstms(rows: int, ids: Encoded) -> dict[str, Callable[[], float]]:
    """The same LSTM in NumPy and in PyTorch; each returns sentences/s."""
    own = checked_encoder({"kind": "lstm", "width": DIM})
    encoder = LstmEncoder(torch.randn(rows, DIM), own, seed=1)
    weights = encoder.state_dict()
    names = ("weight_ih", "weight_hh", "bias_ih")
    lstm = Lstm([Direction(*(weights[f"lstms.0.{name}_l0"].numpy() for name in names))])
    table, out = Table(weights["table"].numpy()), np.empty((len(ids), DIM), np.float32)

    def timed(work: Callable[[], Any]) -> float:
        started = time.perf_counter()
        work()
        return len(ids) / (time.perf_counter() - started)

    half = LstmEncoder(weights["table"].clone(), own, seed=1).to(torch.bfloat16)
    return {
        "NumPy": lambda: timed(lambda: lstm.pool(table, ids, out)),
        "torch float32": lambda: timed(lambda: encoder.encode(ids)),
        "torch bfloat16": lambda: timed(lambda: half.encode(ids)),
    }


def in_turns(work: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """The rates of each, one after another in each round; the first round, which compiles, is not counted."""
    found: dict[str, list[float]] = {name: [] for name in work}
    for turn in range(rounds + 1):
        for name, run in work.items():
            rate = run()
            if turn:
                found[name].append(rate)
    return found


def report(title: str, rates: dict[str, list[float]], base: str) -> None:
    """Print medians, ranges, and the ratio to ``base``: the median of the rounds' ratios."""
    print(f"{title}\n{'':16}{'median':>12}{'lowest':>12}{'highest':>12}{f'/ {base}':>16}")
    for name, values in rates.items():
        ratio = statistics.median(one / other for one, other in zip(values, rates[base], strict=True))
        low, high = min(values), max(values)
        print(f"{name:16}{statistics.median(values):12,.0f}{low:12,.0f}{high:12,.0f}{ratio:16.2f}")
    print()


if __name__ == "__main__":
    main()
