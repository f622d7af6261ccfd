"""How fast training is: ms a step, ms of mining a step, whole pairs/s; medians, with their conditions.

    python benchmarks/training.py                       # made-up sentences, their subwords drawn by Zipf's law
    python benchmarks/training.py --store results/fr/store.h5

Mega-batches have their full size almost from the start, so the figures are those of most of a long training.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import tempfile
from pathlib import Path

import numpy as np
import torch

from psp.training.batches import Pairs, Sentences, Source
from psp.training.encoder import normal_table
from psp.training.loop import choose_device
from psp.training.records import Records
from psp.training.settings import TrainSettings
from psp.training.trainer import Trainer, mean_encoder, torch_state


class Zipf:
    """Pairs whose subwords follow Zipf's law, in sentences of 3 to 24 subwords (13.5 on average)."""

    def __init__(self, pairs: int, vocabulary: int) -> None:
        generator = np.random.default_rng(1)
        share = 1 / np.arange(1, vocabulary + 1)
        sides = []
        for _ in range(2):
            offsets = np.cumsum([0, *generator.integers(3, 25, pairs)])
            sides.append((generator.choice(vocabulary, offsets[-1], p=share / share.sum()), offsets))
        self._sides = sides

    def __len__(self) -> int:
        return len(self._sides[0][1]) - 1

    def read(self, start: int, stop: int) -> Pairs:
        source, target = (
            Sentences(ids[offsets[start] : offsets[stop]], offsets[start : stop + 1]) for ids, offsets in self._sides
        )
        return Pairs(source, target, np.zeros(stop - start, dtype=np.bool_))


class First:
    """The first pairs of a store."""

    def __init__(self, source: Source, pairs: int) -> None:
        self._source, self._pairs = source, min(pairs, len(source))

    def __len__(self) -> int:
        return self._pairs

    def read(self, start: int, stop: int) -> object:
        return self._source.read(start, stop)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, help="a store of real pairs")
    parser.add_argument("--megabatches", type=int, default=6, help="full mega-batches to time")
    parser.add_argument("--megabatch", type=int, default=60)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--dim", type=int, default=1024)
    parser.add_argument("--vocabulary", type=int, default=50_000, help="of the made-up sentences")
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--directions", default="both")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()

    # With anneal 1 the mega-batch doubles: 1, 2, 4, ... It is full before 2 x megabatch mini-batches.
    warm_up = 2 * options.megabatch
    wanted = (warm_up + options.megabatches * options.megabatch) * options.batch_size
    source: Source
    if options.store:
        from psp.store import Store

        store = Store(options.store)
        source, vocabulary = First(store, wanted), store.vocab_size
    else:
        source, vocabulary = Zipf(wanted, options.vocabulary), options.vocabulary
    settings = TrainSettings(
        epochs=1, batch_size=options.batch_size, megabatch=options.megabatch, anneal=1, dim=options.dim,
        dropout=options.dropout, directions=options.directions, log_every=options.megabatch,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, torch_state(options.threads):
        with Records(Path(folder), settings.log_every) as records:
            table = normal_table(vocabulary, settings.dim, settings.seed).to(choose_device(options.device))
            Trainer(source, *mean_encoder(table, settings), settings, None, records).run()
        with (Path(folder) / "timing.csv").open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if int(row["step"]) > warm_up]
    if not rows:
        parser.error("the store has too few pairs for one full mega-batch after the warm-up")
    figures = {
        name: round(statistics.median(float(row[column]) for row in rows), 2)
        for name, column in (
            ("pairs_per_second", "pairs_per_second"),
            ("mining_ms_per_step", "mining_ms_per_step"),
            ("step_ms_without_mining", "other_ms_per_step"),
        )
    }
    figures["mining_ms_per_megabatch"] = round(figures["mining_ms_per_step"] * settings.megabatch, 1)
    conditions = {
        "pairs": "made up (Zipf)" if options.store is None else "real",
        "vocabulary": vocabulary,
        **{key: getattr(settings, key) for key in ("dim", "batch_size", "megabatch", "directions", "dropout")},
        "threads": options.threads,
        "device": str(table.device),
        "torch": torch.__version__,
        "medians_over": len(rows),
        "load_average_at_the_end": round(os.getloadavg()[0], 2),
    }
    print(json.dumps({**figures, "conditions": conditions}, indent=2))


if __name__ == "__main__":
    main()
