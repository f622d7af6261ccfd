"""Time, peak memory and disk of each data stage on millions of pairs made from real ones.

    python benchmarks/memory.py --data ~/mirror --folder /tmp/memory --pairs 1000000 10000000

Each row is the first half of one real pair and the second half of another, so that words and lengths are real and rows
differ; a tenth of the rows are exact copies of earlier ones, and another tenth copies with a small edit. Stages run one
by one in processes of their own, as in the workflow. Two sizes or more tell what grows: the last lines extrapolate
linearly from the two largest. The language filter (fastText) runs on the smallest size alone.

    python benchmarks/memory.py --store results/fr/store.h5 --folder /tmp/memory --pairs 26000000

is training's part: a store of that many pairs, drawn from those of a real one, is trained on with the paper's largest
mega-batches, long enough for two evaluations and for a buffer to be read beside a full mega-batch, and then stopped.
Printed are the peak (VmHWM), the size of the table and Adam's two moments, and what is beside them. The store, about
2 GB for 26 million pairs, is removed in the end.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CORPUS, SOURCE, TARGET = "Resampled", "en", "fr"
STAGES = ("filter", "filter+language", "rank", "dedupe", "mix", "neardup", "subword", "store")
POOL = 200_000  # earlier rows that copies are made of
MEGABATCH, BATCH, DIM = 100, 128, 1024  # training
CHEAP = {"length": {}, "identical": {}, "ratio": {}, "symbols": {}, "decontaminate": {}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a mirror: opus/, eval/sts/, eval/tatoeba/v1/, lid/")
    parser.add_argument("--store", type=Path, help="a real store, its sentencepiece.model beside it: measure training")
    parser.add_argument("--megabatches", type=int, default=24, help="full ones to train on; 20 reach the second buffer")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of training")
    parser.add_argument("--folder", type=Path, required=True, help="scratch; about 1.2 GB for a million pairs")
    parser.add_argument("--pairs", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--stages", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument("--extrapolate", type=int, default=26_000_000, help="pairs to extrapolate to")
    parser.add_argument(
        "--stage", choices=("corpus", *STAGES, "resample", "train"), help=argparse.SUPPRESS
    )  # a child's work
    options = parser.parse_args()
    if not options.data and not options.store:
        parser.error("give --data for the data stages, or --store for training")
    if options.stage:
        if options.stage in ("resample", "train"):
            counts = run_training(options)
        else:
            counts = run_stage(options.stage, options.data, options.folder)
        (options.folder / f"{options.stage}.counts.json").write_text(json.dumps(counts))
        return
    if options.store:
        for pairs in options.pairs:
            measure_training(options, pairs, options.folder / f"training-{pairs}")
        return
    found: dict[str, list[dict[str, float]]] = {}
    for pairs in sorted(options.pairs):
        folder = options.folder / str(pairs)
        folder.mkdir(parents=True, exist_ok=True)
        archive = folder / "corpus.zip"
        if not archive.exists():
            measure("corpus", folder, ["--data", str(options.data)])
            print(f"{pairs:,} pairs made, {archive.stat().st_size / 1e6:,.0f} MB zipped", flush=True)
        print(f"{'stage':16} {'pairs in':>12} {'kept':>12} {'s':>8} {'pairs/s':>9} {'peak MB':>8} {'disk MB':>8}")
        for stage in options.stages:
            if stage == "filter+language" and pairs != min(options.pairs):
                continue
            row = measure(stage, folder, ["--data", str(options.data)])
            found.setdefault(stage, []).append(row)
            print(
                f"{stage:16} {row['in']:12,.0f} {row['kept']:12,.0f} {row['seconds']:8.1f} "
                f"{row['in'] / row['seconds']:9,.0f} {row['peak']:8,.0f} {row['disk']:8,.0f}",
                flush=True,
            )
    print(f"extrapolated to {options.extrapolate:,} pairs of the corpus:")
    for stage, rows in found.items():
        if len(rows) > 1:
            small, large = rows[-2:]
            share = (options.extrapolate - large["corpus"]) / (large["corpus"] - small["corpus"])
            guess = {name: large[name] + share * (large[name] - small[name]) for name in ("seconds", "peak", "disk")}
            print(f"{stage:16} {guess['seconds']:8,.0f} s {guess['peak']:8,.0f} MB {guess['disk']:10,.0f} MB of disk")
    print(f"load average at the end {os.getloadavg()[0]:.1f}; {os.cpu_count()} cores")


def measure(stage: str, folder: Path, options: list[str]) -> dict[str, Any]:
    """Run one stage in a process of its own; its peak memory, and by how much the folder grew at most, in MB.

    Making the corpus is such a stage too: Linux counts what this process held when a child began as the child's.
    """
    command = [sys.executable, __file__, "--stage", stage, "--folder", str(folder), *options]
    before, most, done = size(folder), 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.5):
            most = max(most, size(folder))

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.monotonic()
    child = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(child, 0)
    seconds = time.monotonic() - start
    done.set()
    watcher.join()
    if status:
        raise SystemExit(f"{stage} failed with status {status}")
    counts = json.loads((folder / f"{stage}.counts.json").read_text())
    return {
        **counts,
        "seconds": seconds,
        "peak": usage.ru_maxrss / 1024,
        "disk": (max(most, size(folder)) - before) / 1e6,
    }


def size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue  # removed meanwhile
    return total


def run_stage(stage: str, data: Path, folder: Path) -> dict[str, int]:
    """One stage as the workflow's scripts call it; counts of pairs."""
    corpus = int(folder.name)
    label = f"{CORPUS}.{SOURCE}-{TARGET}"
    if stage == "corpus":
        write_corpus(data, folder / "corpus.zip", corpus)
        return {"corpus": corpus, "in": corpus, "kept": corpus}
    if stage.startswith("filter"):
        from psp.corpora import open_corpus
        from psp.evaluation import testsets
        from psp.pairs import filters

        tatoeba = {TARGET: testsets.tatoeba_files(data / "eval/tatoeba/v1", TARGET)}
        tests = testsets.scored_pairs([SOURCE, TARGET], sts=data / "eval/sts", tatoeba=tatoeba)
        resources = {"lid": data / "lid/lid.176.ftz", "tests": list(tests)}
        settings = CHEAP if stage == "filter" else {**CHEAP, "language": {}}
        out = [folder / f"{stage}{suffix}" for suffix in (".tsv", ".json", ".dropped.tsv")]
        counts = filters.filter_corpus(
            open_corpus("opus", folder / "corpus.zip", CORPUS, (SOURCE, TARGET)), *out, corpus=CORPUS,
            languages=(SOURCE, TARGET), filters=filters.build(settings, (SOURCE, TARGET), resources),
        )  # fmt: skip
        print("  dropped:", counts["dropped"], flush=True)
        return {"corpus": corpus, "in": counts["seen"], "kept": counts["kept"]}
    if stage == "rank":
        from psp.pairs.rank import rank_corpus

        counts = rank_corpus(
            folder / "filter.tsv", folder / "rank.tsv", folder / "rank.json", corpus=CORPUS, by="length",
            deciles=[9, 10], seed=1,
        )  # fmt: skip
        return {"corpus": corpus, "in": counts["seen"], "kept": counts["kept"]}
    if stage == "dedupe":
        from psp.pairs.dedupe import dedupe_corpus

        counts = dedupe_corpus(
            folder / "filter.tsv", folder / "dedupe.tsv", folder / "dedupe.json", corpus=CORPUS, cap=None, seed=1
        )
        return {"corpus": corpus, "in": counts["seen"], "kept": counts["kept"]}
    if stage == "mix":
        from psp.pairs.mix import mix

        out = [folder / name for name in ("mix.tsv", "heldout.tsv", "mix.json")]
        counts = mix([(label, folder / "dedupe.tsv")], *out, heldout_pairs=2000, seed=1)["total"]
        return {"corpus": corpus, "in": counts["in"], "kept": counts["kept"]}
    if stage == "neardup":
        from psp.pairs.neardup import remove_near_duplicates

        out = [folder / f"neardup{suffix}" for suffix in (".tsv", ".json", ".dropped.tsv")]
        counts = remove_near_duplicates(folder / "mix.tsv", *out, labels=[label], threshold=0.8)["total"]
        print("  near-duplicates:", counts, flush=True)
        return {"corpus": corpus, "in": counts["in"], "kept": counts["kept"]}
    pairs = json.loads((folder / "neardup.json").read_text())["total"]["kept"]
    if stage == "subword":
        from psp.pairs.subword import train_subword

        model, report = folder / "sentencepiece.model", folder / "sentencepiece.json"
        train_subword(folder / "neardup.tsv", model, sample=100_000, threads=os.cpu_count() or 1, report=report)
    else:
        from psp.pairs.store import write_store

        write_store(
            folder / "neardup.tsv", folder / "sentencepiece.model", folder / "store.h5", languages=[SOURCE, TARGET],
            corpora=[label], threads=os.cpu_count() or 1,
        )  # fmt: skip
    return {"corpus": corpus, "in": pairs, "kept": pairs}


def measure_training(options: argparse.Namespace, pairs: int, folder: Path) -> None:
    folder.mkdir(parents=True)
    given = ["--store", options.store, "--pairs", pairs, "--megabatches", options.megabatches]
    given = [*map(str, given), "--threads", str(options.threads)]
    try:
        made = measure("resample", folder, given)
        size_mb = (folder / "store.h5").stat().st_size / 1e6
        print(f"a store of {made['pairs']:,} pairs, {size_mb:,.0f} MB, made in {made['seconds']:.0f} s", flush=True)
        row = measure("train", folder, given)
    finally:
        shutil.rmtree(folder)
    tables = 3 * row["pieces"] * DIM * 4 / 2**20
    print(
        f"trained on {row['trained']:,} of them: {row['pieces']:,} pieces x {DIM}, mega-batches of {MEGABATCH} x "
        f"{BATCH} pairs, {options.threads} threads\n"
        f"peak RSS {row['peak']:,.0f} MiB = table and two moments {tables:,.0f} MiB + {row['peak'] - tables:,.0f} MiB, "
        f"of which imports take {row['imports']:,.0f} MiB"
    )


def run_training(options: argparse.Namespace) -> dict[str, Any]:
    """Make the store, or train on it for some mega-batches."""
    if options.stage == "resample":
        resample_store(options.store, options.folder / "store.h5", *options.pairs)
        return {"pairs": options.pairs[0]}
    from psp.pairs.store import Store
    from psp.training.loop import Training
    from psp.training.settings import PAPER

    imports = peak_mib()
    # With anneal 1 the mega-batch doubles up to its full size: 1, 2, 4, ... 64 are 127 mini-batches.
    wanted = (127 + options.megabatches * MEGABATCH) * BATCH
    settings = {
        **PAPER, "epochs": 1, "batch_size": BATCH, "megabatch": MEGABATCH, "anneal": 1, "dim": DIM,
        "dev_every": wanted // 2,
    }  # fmt: skip
    model = options.store.with_name("sentencepiece.model")
    with Store(options.folder / "store.h5") as store:
        pieces = store.vocab_size
    try:
        Training(
            options.folder / "store.h5", model, None, options.folder / "train", settings, TwoEvaluations(),
            threads=options.threads, model_config={"languages": [SOURCE, TARGET]},
        ).run()  # fmt: skip
    except EnoughError:
        return {"trained": wanted, "pieces": pieces, "imports": imports}
    raise SystemExit(f"the store ended before {options.megabatches} mega-batches; ask for more --pairs")


class EnoughError(Exception):
    """Training has gone on for long enough."""


class TwoEvaluations:
    """Development data without data: the first time the table is kept as the best, the second time training ends."""

    def __init__(self) -> None:
        self._evaluations = 0

    def score(self, scorer: object, heldout_scorer: object = None) -> dict[str, float]:
        self._evaluations += 1
        if self._evaluations == 2:
            raise EnoughError
        return {"score": 0.0}


def peak_mib() -> float:
    """This process's peak resident memory so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def resample_store(real: Path, out: Path, pairs: int) -> None:
    """A store of ``pairs`` pairs drawn from a real one with replacement, in the same format, block by block."""
    import h5py
    import numpy as np

    from psp.pairs.store import Store
    from psp.pairs.store_file import CHUNK

    with Store(real) as store:
        block = store.read(0, len(store))
        attributes = store.attributes | {"pairs": pairs}
    sides = {"source": block.source, "target": block.target}
    generator = np.random.default_rng(1)
    with h5py.File(out, "w") as file:
        file.attrs.update(attributes)

        def column(name: str, dtype: object) -> h5py.Dataset:
            return file.create_dataset(name, (0,), maxshape=(None,), chunks=(CHUNK,), dtype=dtype, fletcher32=True)

        def append(name: str, values: np.ndarray) -> None:
            dataset = file[name]
            dataset.resize((len(dataset) + len(values),))
            dataset[len(dataset) - len(values) :] = values

        column("corpus", block.corpus.dtype)
        for name, side in sides.items():
            column(f"{name}/ids", side.ids.dtype)
            column(f"{name}/offsets", np.int64)
            append(f"{name}/offsets", np.zeros(1, np.int64))
        for start in range(0, pairs, CHUNK):
            rows = generator.integers(0, len(block.corpus), min(CHUNK, pairs - start))
            append("corpus", block.corpus[rows])
            for name, side in sides.items():
                drawn = side.take(rows)
                append(f"{name}/offsets", len(file[f"{name}/ids"]) + drawn.offsets[1:])
                append(f"{name}/ids", drawn.ids)


def write_corpus(data: Path, out: Path, pairs: int) -> None:
    """An archive in OPUS's layout of ``pairs`` resampled pairs."""
    sides = [out.with_name(f"{CORPUS}.{SOURCE}-{TARGET}.{language}") for language in (SOURCE, TARGET)]
    with (
        sides[0].open("w", encoding="utf-8", newline="\n") as source,
        sides[1].open("w", encoding="utf-8", newline="\n") as target,
    ):
        for pair in resampled(data, pairs):
            source.write(f"{pair[0]}\n")
            target.write(f"{pair[1]}\n")
    temporary = out.with_suffix(".part")
    with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for side in sides:
            archive.write(side, side.name)
            side.unlink()
    shutil.move(temporary, out)


def resampled(data: Path, pairs: int) -> Iterator[tuple[str, str]]:
    from psp.corpora import opus
    from psp.text.words import clean

    real = [
        (clean(source), clean(target))
        for path in sorted((data / "opus").glob(f"*/*/moses/{SOURCE}-{TARGET}.txt.zip"))
        for source, target in opus.read_archive(path, path.parts[-4], (SOURCE, TARGET))
    ]
    choose = random.Random(1)
    pool: list[tuple[str, str]] = []
    for _ in range(pairs):
        kind = choose.random()
        if kind < 0.2 and pool:
            pair = choose.choice(pool)
            if kind < 0.1:
                pair = edited(pair, choose)
        else:
            first, second = choose.choice(real), choose.choice(real)
            pair = spliced(first[0], second[0]), spliced(first[1], second[1])
        if len(pool) < POOL:
            pool.append(pair)
        else:
            pool[choose.randrange(POOL)] = pair
        yield pair


def spliced(first: str, second: str) -> str:
    """The first half of one sentence's words and the second half of another's."""
    a, b = first.split(" "), second.split(" ")
    return " ".join([*a[: (len(a) + 1) // 2], *b[len(b) // 2 :]])


def edited(pair: tuple[str, str], choose: random.Random) -> tuple[str, str]:
    """A copy with another case, a mark more, or one letter replaced."""
    source, target = pair
    what = choose.randrange(3)
    if what == 0:
        return source.upper(), target
    if what == 1:
        return f"{source} !", target
    place = choose.randrange(max(1, len(target)))
    return source, f"{target[:place]}{choose.choice('abcdefghij')}{target[place + 1 :]}"


if __name__ == "__main__":
    main()
