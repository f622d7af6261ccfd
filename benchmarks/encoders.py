"""Speed of the encoders beside subwords, each as a ratio of two rates measured in the same run, in turns.

    python benchmarks/encoders.py results/en results/en-words results/en-trigrams

The folders are those of models of subwords, words and trigrams from the same pairs, with their stores; the models
themselves are not used: embedding matrices are random, 300-dimensional. Printed are medians of the rounds:

- training: tokens/s of one pass over each store with the recipe psp, one thread, process start and compilation
  excluded (the first pass of each is not counted);
- text to vectors: sentences/s of the same real sentences, one core, compiled code;
- an LSTM of 300 dimensions, from the same ids: vectors by NumPy, and by torch in float32 and bfloat16
  (``load_model(accelerate=...)``); and training steps in float32 and bfloat16 (``lstm.precision``), of 512 sentences,
  without mining and the loss.

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

from psp.models.accelerate import LSTMS, accelerated
from psp.models.lstm import Lstm
from psp.models.static import StaticModel
from psp.models.table import EmbeddingMatrix
from psp.pairs.store import Store
from psp.text.encoded import Encoded
from psp.text.tokenizer import Tokenizer
from psp.text.tokenizer_kinds import as_tokenizer
from psp.training.encoders.kinds import checked_encoder
from psp.training.encoders.lstm import lstm_encoder
from psp.training.loop import Training
from psp.training.settings import TrainSettings

DIM, BATCH = 300, 512
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
    vectors, steps = lstms(tokenizers[1], ids)
    report("LSTM, vectors, sentences/s", in_turns(vectors, options.rounds), "NumPy")
    report("LSTM, training steps, sentences/s", in_turns(steps, options.rounds), "float32")


def tokenizer_of(folder: Path) -> Tokenizer:
    """The tokenizer of a model's folder under results/."""
    file = folder / "sentencepiece.model"
    return as_tokenizer(file if file.exists() else folder / "vocabulary.txt").with_preprocessing({"lower_case": True})


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
            Training(
                folder / "store.h5", tokenizer, None, Path(scratch), settings, None, threads=1, model_config=config,
                warn_pairs=0,
            ).run()  # fmt: skip
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


def lstms(tokenizer: Tokenizer, ids: Encoded) -> tuple[dict[str, Callable[[], float]], dict[str, Callable[[], float]]]:
    """The same LSTM's vectors, and its training steps, in several ways; each returns sentences/s."""
    settings = TrainSettings(dim=DIM).as_dict()
    weight = torch.randn(len(tokenizer), DIM, generator=torch.Generator().manual_seed(1))

    def made(precision: str) -> tuple[Any, Any]:
        own = checked_encoder({"kind": "lstm", "width": DIM, "precision": precision})
        return lstm_encoder(weight.clone(), settings, own)

    def timed(work: Callable[[], Any]) -> float:
        started = time.perf_counter()
        work()
        return len(ids) / (time.perf_counter() - started)

    table, out = EmbeddingMatrix(weight.numpy()), np.empty((len(ids), DIM), np.float32)
    lstm: Lstm = made("float32")[0].embedder(tokenizer, {}).contextual
    ways = {"NumPy": lstm} | {f"torch {LSTMS[name]}": accelerated(lstm, name) for name in LSTMS}
    parts = [ids.take(np.arange(start, min(start + BATCH, len(ids)))) for start in range(0, len(ids), BATCH)]
    upstream = torch.randn(BATCH, DIM)

    def train_on(encoder: Any, optimiser: Any) -> None:
        for step, part in enumerate(parts):
            optimiser.zero_grad()
            encoder(part, step).backward(upstream[: len(part)])
            optimiser.step()

    trained = {precision: made(precision) for precision in ("float32", "bfloat16")}
    return (
        {name: lambda way=way: timed(lambda: way.pool(table, ids, out)) for name, way in ways.items()},
        {name: lambda both=both: timed(lambda: train_on(*both)) for name, both in trained.items()},
    )


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
