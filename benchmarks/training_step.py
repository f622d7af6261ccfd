"""Where a training step of the recipe psp goes, part by part, beside what the machine can do in the same run.

    python benchmarks/training_step.py results/fr/store.h5

Each part's function is timed from outside; what they move and multiply is counted from the rows, tokens and pairs of
the steps. The machine's rates are those of copying 256 MB, and of the products of a step: 512 x 1,024 by 1,024 x 512 in
float32, and in bfloat16 as training makes them. A part whose rows fit into a cache is faster than copying.
Nothing else should run.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from psp.core.machine import load_averages, processor, versions
from psp.pairs.store import Store
from psp.report.layout import layout
from psp.training import trainer
from psp.training.encoders import mean
from psp.training.losses import infonce
from psp.training.negatives import candidates
from psp.training.saving.csv_log import MetricsLog
from psp.training.settings import TrainSettings
from psp.training.torch_state import torch_state
from psp.training.trainer import Trainer

FLOAT = 4


class Times:
    """Seconds by part, and what was moved and multiplied."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self.rows = self.tokens = 0

    def of(self, place: Any, function: str, part: str) -> None:
        """Time a function where it is looked up."""
        inner: Callable[..., Any] = getattr(place, function)

        def timed(*args: Any, **options: Any) -> Any:
            start = time.perf_counter()
            try:
                return inner(*args, **options)
            finally:
                self.seconds[part] += time.perf_counter() - start

        setattr(place, function, timed)

    def count(self, bag: Any) -> None:
        """Count a mini-batch's distinct rows and tokens."""
        self.rows += len(bag.rows)
        self.tokens += len(bag.ids)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path, help="a store of real pairs")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--passes", type=int, default=1)
    options = parser.parse_args()
    times = Times()
    with torch_state(options.threads), tempfile.TemporaryDirectory() as folder, Store(options.store) as store:
        settings = TrainSettings(epochs=options.passes)
        encoder, optimiser = mean.mean_encoder(mean.normal_table(store.vocab_size, settings.dim, 1), settings.as_dict())
        instrument(times, optimiser)
        encoder.before_read = optimiser.prepare
        with MetricsLog(Path(folder), settings.log_every) as metrics:
            run = Trainer(store, encoder, optimiser, settings, None, metrics)
            start = time.perf_counter()
            run.run()
            total = time.perf_counter() - start
        rates = machine(settings)
        print(f"{processor()}, {options.threads} threads, load {load_averages()}, torch {versions()['torch']}")
        print(
            f"{run.pairs / total:,.0f} pairs/s, {1e3 * total / run.step:.2f} ms a step of {settings.batch_size} pairs"
        )
        print(
            f"copy {rates['copy']:.1f} GB/s, products {rates['float32']:,.0f} GFLOP/s in float32 and "
            f"{rates['bfloat16']:,.0f} in bfloat16\n"
        )
        print(table(times, run.step, total, settings), end="")


def instrument(times: Times, optimiser: Any) -> None:
    """Time the parts."""
    for place, function, part in (
        (optimiser, "prepare", "catching up with Adam's steps"),
        (optimiser, "step", "Adam's step"),
        (mean, "_means", "pooling"),
        (mean, "_row_gradients", "gradients of rows"),
        (mean, "drop_tokens", "token dropout"),
        (infonce, "_unit_rows", "unit vectors, both ways"),
        (infonce, "_by_vectors", "unit vectors, both ways"),
        (infonce, "softmaxes", "softmaxes"),
        (infonce, "_product", "three products, bfloat16"),
        (infonce._InfoNCE, "_compiled", "InfoNCE as a whole"),
        (candidates, "candidates", "masks"),
        (trainer.Epoch, "take", "reading pairs"),
    ):
        times.of(place, function, part)
    bag = mean._Bag.__init__

    def counted(self: Any, *args: Any) -> None:
        bag(self, *args)
        times.count(self)

    mean._Bag.__init__ = counted  # type: ignore[method-assign]


def machine(settings: TrainSettings) -> dict[str, float]:
    """Rates of copying, GB/s, and of products, GFLOP/s."""

    def rate(work: Callable[[], object], amount: float) -> float:
        seconds = []
        for _ in range(30):
            start = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - start)
        return amount / statistics.median(seconds) / 1e9

    left, right = torch.randn(settings.batch_size, settings.dim), torch.randn(settings.batch_size, settings.dim)
    halves = left.bfloat16(), right.bfloat16()
    large, copy = torch.randn(64 << 20), torch.empty(64 << 20)
    flops = 2.0 * settings.batch_size**2 * settings.dim
    with infonce._products(True):
        exact = rate(lambda: left @ right.T, flops)
    return {
        "float32": exact,
        "bfloat16": rate(lambda: halves[0] @ halves[1].T, flops),
        "copy": rate(lambda: copy.copy_(large), 2 * large.numel() * FLOAT),
    }


def table(times: Times, steps: int, total: float, settings: TrainSettings) -> str:
    """Milliseconds of a step, and rates, as Markdown."""
    rows, tokens = times.rows / steps, times.tokens / steps
    vectors = 2 * settings.batch_size
    row = settings.dim * FLOAT
    product = 2.0 * settings.batch_size**2 * settings.dim
    # Bytes: rows of the table, of both moments and of the gradient that are read and written.
    moved = {
        "catching up with Adam's steps": 6 * rows * row,
        "Adam's step": 7 * rows * row,
        "pooling": (tokens + vectors) * row,
        "gradients of rows": (tokens + rows) * row,
        "unit vectors, both ways": 5 * vectors * row,
        "softmaxes": 6 * settings.batch_size**2 * FLOAT,
    }
    multiplied = {"three products, bfloat16": 3 * product}
    seconds = dict(times.seconds)
    inside = ("unit vectors, both ways", "softmaxes", "three products, bfloat16")
    seconds["the rest of InfoNCE"] = (
        seconds.pop("InfoNCE as a whole")
        - sum(seconds[part] for part in inside[1:])
        - seconds["unit vectors, both ways"] / 2
    )  # one of the two ways is outside
    cells = [["part", "ms", "MB", "GB/s", "GFLOP/s"]]
    for part, value in sorted(seconds.items(), key=lambda item: -item[1]):
        spent = value / steps
        size, flops = moved.get(part), multiplied.get(part)
        cells.append([
            part, f"{1e3 * spent:.2f}",
            f"{size / 1e6:.0f}" if size else "", f"{size / spent / 1e9:.0f}" if size else "",
            f"{flops / spent / 1e9:,.0f}" if flops else "",
        ])  # fmt: skip
    rest = total - sum(seconds.values())
    cells.append(["the rest: autograd, joining and taking ids, the log", f"{1e3 * rest / steps:.2f}", "", "", ""])
    about = f"{rows:,.0f} distinct rows and {tokens:,.0f} tokens a step\n\n"
    return about + layout(cells, "markdown", right=(1, 2, 3, 4))


if __name__ == "__main__":
    main()
