"""How fast training by the margin loss is, beside plain torch in the same run: medians and their conditions.

    python benchmarks/training.py                       # made-up sentences, their subwords drawn by Zipf's law
    python benchmarks/training.py --store results/fr/store.h5

Three rows: a step of the encoder and the optimiser; mining a mega-batch; whole training with mega-batches of full size
(which they have almost from the start, so that the figures are those of most of a long training). Below them, what the
machine can do at most: the bare matrix products and copying memory.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from psp.pairs.encoded_pairs import Pairs, PairSource
from psp.text.encoded import Encoded
from psp.training.batches import Epoch
from psp.training.encoders.mean import mean_encoder, mean_vectors, normal_table, tensors
from psp.training.loop import choose_device
from psp.training.losses.margin import margin_loss
from psp.training.negatives.mining import Excluded, Negatives, mine
from psp.training.negatives.nearest import CHUNK_ROWS, Nearest, _TorchSearch, reduced_precision
from psp.training.optimiser import DenseAdam
from psp.training.saving.csv_log import MetricsLog
from psp.training.settings import PAPER, TrainSettings
from psp.training.torch_state import torch_state
from psp.training.trainer import Trainer


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
            Encoded(ids[offsets[start] : offsets[stop]], offsets[start : stop + 1]) for ids, offsets in self._sides
        )
        return Pairs(source, target, np.zeros(stop - start, dtype=np.bool_))


class First:
    """The first pairs of a store."""

    def __init__(self, source: PairSource, pairs: int) -> None:
        self._source, self._pairs = source, min(pairs, len(source))

    def __len__(self) -> int:
        return self._pairs

    def read(self, start: int, stop: int) -> object:
        return self._source.read(start, stop)


class PlainTrainer(Trainer):
    """Training by torch's own operations, as psp's first version had it.

    The gradient is already that of the rows in use; Adam is torch's fused one over the whole table, the loss a dozen
    operations and autograd, and a mega-batch's products are in float32 with torch's maxima.
    """

    def _mine(self, pairs: Pairs, sentences: Encoded) -> Negatives:
        with torch.no_grad():
            table = self.encoder.state_dict()["table"]
            vectors = functional.normalize(mean_vectors(table, *tensors(sentences, table.device)), dim=1)
        source, target = vectors.chunk(2)
        excluded = Excluded(pairs.source, pairs.target, self.settings.mask_equal)
        of_source, of_target = _TorchSearch(source, target, excluded.places, 0, True, False, CHUNK_ROWS).run()
        return Negatives(_numbers(of_source, len(pairs)), _numbers(of_target, 0))

    def _minibatch(self, pairs: Pairs, sentences: Encoded, rows: npt.NDArray[np.int64], negatives: Negatives) -> float:
        sides = [negatives.source[rows], negatives.target[rows]][: 2 if self.settings.directions == "both" else 1]
        texts = np.concatenate([rows, rows + len(sentences) // 2, *(side.clip(min=0) for side in sides)])
        table = self._parameters[0]
        ids, offsets = tensors(sentences.take(texts), table.device)
        used, local = torch.unique(ids, return_inverse=True)
        values = table.detach()[used].requires_grad_()
        source, target, *hardest = mean_vectors(values, local, offsets).split(len(rows))
        loss = values.new_zeros(())
        for (anchor, positive), negative, side in zip(
            ((source, target), (target, source)), hardest, sides, strict=False
        ):
            valid = torch.from_numpy(side >= 0).to(table.device)
            loss = loss + margin_loss(anchor, positive, negative, self.settings.margin, valid)
        loss.backward()
        table.grad = torch.sparse_coo_tensor(
            used[None], values.grad, table.shape, is_coalesced=True, check_invariants=False
        )
        self._optimiser.step()
        return float(loss.detach())


def _numbers(found: Nearest, shift: int) -> npt.NDArray[np.int64]:
    return np.where(np.isneginf(found.value), -1, found.index + shift)


def plain_encoder(table: Tensor, train: Mapping[str, Any]) -> tuple[object, object]:
    encoder, _ = mean_encoder(table, train)
    optimiser = DenseAdam(encoder.parameters(), lr=train["learning_rate"])
    encoder.before_read = optimiser.prepare
    return encoder, optimiser


def medians(repeats: int, **what: Callable[[], object]) -> dict[str, list[float]]:
    """Seconds of each, taken in turns, so that whatever else the machine does falls on all of them alike."""
    for run in what.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in what}
    for _ in range(repeats):
        for name, run in what.items():
            start = time.perf_counter()
            run()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def mid(values: list[float]) -> float:
    return statistics.median(values)


def steps(
    source: PairSource, vocabulary: int, settings: TrainSettings, threads: int, repeats: int
) -> dict[str, object]:
    """The encoder's forward and backward pass and the optimiser's step, on mini-batches of 4 x batch_size sentences.

    Steady state: before the clock starts, 300 steps have made nearly all rows live and left them behind by as much as
    they will be; catching up on all rows every 100 steps is inside the clock.
    """
    count = 100
    with Epoch(source, 1, 1) as epoch:
        parts = [epoch.take(2 * settings.batch_size) for _ in range(3 * count)]
    batches = [Encoded.join([part.source, part.target]) for part in parts if len(part) == 2 * settings.batch_size]
    upstream = torch.randn(4 * settings.batch_size, settings.dim) * 1e-6
    ours, optimiser = mean_encoder(normal_table(vocabulary, settings.dim, 1), settings.as_dict())

    def run_ours(some: list[Encoded]) -> None:
        for number, batch in enumerate(some):
            ours(batch, number).backward(upstream)
            optimiser.step()
            optimiser.zero_grad()
        optimiser.prepare(ours.table, None)

    run_ours(batches)
    live = float((optimiser.state[ours.table]["exp_avg"] != 0).any(dim=1).float().mean())
    bag = torch.nn.EmbeddingBag.from_pretrained(
        normal_table(vocabulary, settings.dim, 1), freeze=False, mode="mean", include_last_offset=True
    )
    adam = torch.optim.Adam(bag.parameters(), lr=settings.learning_rate, fused=True)
    inputs = [tensors(batch, torch.device("cpu")) for batch in batches]

    def run_baseline(some: list[tuple[Tensor, Tensor]]) -> None:
        for ids, offsets in some:
            bag(ids, offsets).backward(upstream)
            adam.step()
            adam.zero_grad(set_to_none=True)

    few = 10  # of the baseline, which takes 10 times as long
    run_baseline(inputs[:few])
    seconds = medians(repeats, ours=lambda: run_ours(batches[:count]), baseline=lambda: run_baseline(inputs[:few]))
    return {
        "work": "encoder and optimiser, one step",
        "baseline": "EmbeddingBag + torch's fused Adam",
        "baseline_ms": [1e3 * value / few for value in seconds["baseline"]],
        "ours_ms": [1e3 * value / count for value in seconds["ours"]],
        "rows_live": round(live, 3),
        "rows_of_a_step": round(statistics.mean(len(np.unique(batch.ids)) for batch in batches[:count])),
        "tokens_of_a_step": round(statistics.mean(len(batch.ids) for batch in batches[:count])),
    }


def mining(
    source: PairSource, vocabulary: int, pairs: int, dim: int, repeats: int, queries: int
) -> list[dict[str, object]]:
    """Both directions of a mega-batch, against a loop over queries and against the bare product."""
    with Epoch(source, 1, 1) as epoch:
        megabatch = epoch.take(pairs)
    settings = TrainSettings(**{**PAPER, "dim": dim})
    encoder, _ = mean_encoder(normal_table(vocabulary, dim, 1), settings.as_dict())
    vectors = encoder.encode(Encoded.join([megabatch.source, megabatch.target]))
    source_vectors, target_vectors = vectors.chunk(2)
    unit = functional.normalize(vectors, dim=1)
    unit_source, unit_target = unit.chunk(2)
    buffer = torch.empty(CHUNK_ROWS, len(megabatch))

    def naive() -> None:
        for query in range(queries):
            similarity = functional.cosine_similarity(source_vectors[query : query + 1], target_vectors)
            similarity[query] = -torch.inf
            similarity.argmax()

    def product(left: Tensor, right: Tensor, out: Tensor) -> None:
        for start in range(0, len(left), CHUNK_ROWS):
            rows = left[start : start + CHUNK_ROWS]
            torch.mm(rows, right.T, out=out[: len(rows)])

    def ours(reduced: bool | None) -> Negatives:
        excluded = Excluded(megabatch.source, megabatch.target, True)
        return mine(source_vectors, target_vectors, excluded, "opposite", reduced=reduced)

    half_source, half_target = unit_source.bfloat16(), unit_target.bfloat16()
    half_buffer = torch.empty(CHUNK_ROWS, len(megabatch), dtype=torch.bfloat16)
    low = reduced_precision(vectors.device)
    runs: dict[str, Callable[[], object]] = {
        "product": lambda: product(unit_source, unit_target, buffer),
        "ours": lambda: ours(None),
        "ours_float32": lambda: ours(False),
    }
    if low:
        runs["product_bfloat16"] = lambda: product(half_source, half_target, half_buffer)
    seconds = medians(repeats, **runs)
    loop = medians(3, naive=naive)["naive"]
    scale = 2 * len(megabatch) / queries  # sources and targets
    same = ours(None), ours(False)
    differ = sum(int((getattr(same[0], side) != getattr(same[1], side)).sum()) for side in ("source", "target"))
    ours_ms = [1e3 * value for value in seconds["ours"]]
    rows: list[dict[str, object]] = [
        {
            "work": f"mining a mega-batch of {len(megabatch):,} pairs",
            "baseline": f"a cosine loop over {queries:,} queries, scaled",
            "baseline_ms": [1e3 * value * scale for value in loop],
            "ours_ms": ours_ms,
            "precision": "bfloat16 candidates, float32 choice" if low else "float32",
            "other_negatives_than_float32": differ,
        }
    ]
    for name, label in (("ours", "the same"), ("ours_float32", "the same, in float32 throughout")):
        rows.append(
            {
                "work": label,
                "baseline": "the bare float32 product",
                "baseline_ms": [1e3 * value for value in seconds["product"]],
                "ours_ms": [1e3 * value for value in seconds[name]],
            }
        )
    if low:
        rows.append(
            {
                "work": "the same",
                "baseline": "the bare bfloat16 product",
                "baseline_ms": [1e3 * value for value in seconds["product_bfloat16"]],
                "ours_ms": ours_ms,
            }
        )
    return rows


def training(
    source: PairSource, vocabulary: int, settings: TrainSettings, plain: bool, device: torch.device
) -> list[dict]:
    """Rows of timing.csv, one a full mega-batch."""
    warm_up = 2 * settings.megabatch
    with tempfile.TemporaryDirectory() as folder:
        with MetricsLog(Path(folder), settings.log_every) as records:
            table = normal_table(vocabulary, settings.dim, settings.seed).to(device)
            kind, make = (PlainTrainer, plain_encoder) if plain else (Trainer, mean_encoder)
            kind(source, *make(table, settings.as_dict()), settings, None, records).run()  # type: ignore[arg-type]
        with (Path(folder) / "timing.csv").open(newline="") as file:
            return [row for row in csv.DictReader(file) if int(row["step"]) > warm_up]


def machine(dim: int) -> dict[str, object]:
    """What the machine can do: a large matrix product, and copying."""
    a, b = torch.randn(4096, dim), torch.randn(4096, dim)
    out, half_out = torch.empty(4096, 4096), torch.empty(4096, 4096, dtype=torch.bfloat16)
    half_a, half_b = a.bfloat16(), b.bfloat16()
    large, copy = torch.randn(64 << 20), torch.empty(64 << 20)
    seconds = medians(
        5,
        float32=lambda: torch.mm(a, b.T, out=out),
        bfloat16=lambda: torch.mm(half_a, half_b.T, out=half_out),
        copy=lambda: copy.copy_(large),
    )
    flops = 2 * 4096 * 4096 * dim
    return {
        "float32_gflops": round(flops / mid(seconds["float32"]) / 1e9),
        "bfloat16_gflops": round(flops / mid(seconds["bfloat16"]) / 1e9),
        "copy_gb_per_s": round(2 * large.numel() * 4 / mid(seconds["copy"]) / 1e9, 1),
    }


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path, help="a store of real pairs")
    parser.add_argument("--megabatches", type=int, default=6, help="full mega-batches of whole training to time")
    parser.add_argument("--megabatch", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--dim", type=int, default=1024)
    parser.add_argument("--vocabulary", type=int, default=50_000, help="of the made-up sentences")
    parser.add_argument("--dropout", type=float, default=0.0, help="of our training; plain torch has none here")
    parser.add_argument("--directions", default="both")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--queries", type=int, default=1280, help="of the loop that mining is compared with")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="auto")
    parser.add_argument("--only", choices=["steps", "mining", "training"], help="one of the three")
    parser.add_argument("--no-baseline", action="store_true", help="whole training without plain torch beside it")
    parser.add_argument("--json", type=Path, help="also write all figures here")
    options = parser.parse_args()

    # With anneal 1 the mega-batch doubles: 1, 2, 4, ... It is full before 2 x megabatch mini-batches.
    wanted = (2 + options.megabatches) * options.megabatch * options.batch_size
    source: PairSource
    if options.store:
        from psp.pairs.store import Store

        store = Store(options.store)
        source, vocabulary = First(store, max(wanted, 100_000)), store.vocab_size
    else:
        source, vocabulary = Zipf(max(wanted, 100_000), options.vocabulary), options.vocabulary
    asked = {key: getattr(options, key) for key in ("batch_size", "megabatch", "dim", "dropout", "directions")}
    settings = TrainSettings(**{**PAPER, **asked, "epochs": 1, "anneal": 1, "log_every": options.megabatch})
    device = choose_device(options.device)
    rows: list[dict[str, object]] = []
    with torch_state(options.threads):
        if options.only in (None, "steps") and device.type == "cpu":
            rows.append(steps(source, vocabulary, settings, options.threads, options.repeats))
        if options.only in (None, "mining") and device.type == "cpu":
            pairs = options.megabatch * options.batch_size
            rows += mining(source, vocabulary, pairs, options.dim, options.repeats, min(options.queries, pairs))
        if options.only in (None, "training"):
            source = First(source, wanted)
            ours = training(source, vocabulary, settings, False, device)
            theirs = [] if options.no_baseline else training(source, vocabulary, settings, True, device)
            if not ours:
                parser.error("there are too few pairs for one full mega-batch after the warm-up")
            per_pair = [[1e3 / float(row["pairs_per_second"]) for row in part] for part in (ours, theirs)]
            rows.append(
                {
                    "work": "whole training, a pair",
                    "baseline": "plain torch (psp's first version)",
                    "baseline_ms": per_pair[1],
                    "ours_ms": per_pair[0],
                    "pairs_per_second": round(mid([float(row["pairs_per_second"]) for row in ours])),
                    "baseline_pairs_per_second": theirs
                    and round(mid([float(row["pairs_per_second"]) for row in theirs])),
                    "mining_ms_per_step": round(mid([float(row["mining_ms_per_step"]) for row in ours]), 2),
                    "other_ms_per_step": round(mid([float(row["other_ms_per_step"]) for row in ours]), 2),
                }
            )
        limits = machine(options.dim)
    print("| work | baseline | baseline ms | ours ms | ratio | spread of ours |\n|---|---|---|---|---|---|")
    for row in rows:
        ours_ms, baseline_ms = row["ours_ms"], row["baseline_ms"]
        assert isinstance(ours_ms, list) and isinstance(baseline_ms, list)
        cells = (
            ["-", "-"] if not baseline_ms else [f"{mid(baseline_ms):,.4g}", f"{mid(baseline_ms) / mid(ours_ms):.3g}"]
        )
        spread = f"{min(ours_ms):.4g} to {max(ours_ms):.4g}"
        print(f"| {row['work']} | {row['baseline']} | {cells[0]} | {mid(ours_ms):,.4g} | {cells[1]} | {spread} |")
    details = [{key: value for key, value in row.items() if not key.endswith("_ms")} for row in rows]
    conditions = {
        "pairs": "made up (Zipf)" if options.store is None else "real",
        "vocabulary": vocabulary,
        **{key: getattr(settings, key) for key in ("dim", "batch_size", "megabatch", "directions", "dropout")},
        "threads": options.threads,
        "device": str(device),
        "processor": processor(),
        "torch": torch.__version__,
        "medians_over": options.repeats,
        "load_average_at_the_end": round(os.getloadavg()[0], 2),
        "machine": limits,
    }
    print(json.dumps({"details": details, "conditions": conditions}, indent=2))
    if options.json:
        options.json.write_text(json.dumps({"rows": rows, "conditions": conditions}, indent=2) + "\n")


if __name__ == "__main__":
    main()
