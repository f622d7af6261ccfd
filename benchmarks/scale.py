"""The road from a corpus to the store at millions of pairs: seconds, CPU seconds, memory and disk of each stage.

    PSP_DATA=~/mirror python benchmarks/scale.py --pairs 1_000_000 10_000_000 --folder ~/scale

The pairs are made of the mirror's English-French ones: two or three of them, drawn by a seed, side by side. A tenth are
copies of an earlier pair, and a tenth such copies whose first letters have the other case, so that deduplication is to
leave 80% of those that the filters keep. Each size goes through Snakemake, as a person would run it, and what is there
is not made again. A stage's figures are those of its jobs together, from the workflow's benchmark files; its memory is
that of the largest job. With several sizes, each stage's exponent: 1 means twice the time for twice the pairs;
with --plot, a picture of the times.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import workflow
import yaml
from matplotlib import pyplot

from psp.corpora import opus

EN_FR = ("en", "fr")
BLOCK = 100_000
#: The stages, by their benchmark files in the order of the road.
STAGES = ("filter", "dedupe", "mix", "subword", "store")
Row = tuple[str, str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--folder", type=Path, required=True, help="where the pairs and results go")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="CPU seconds of each stage over the pairs")
    options = parser.parse_args()
    data = Path(os.environ["PSP_DATA"])
    measured = {}
    for pairs in options.pairs:
        folder = options.folder / str(pairs)
        (folder / "config").mkdir(parents=True, exist_ok=True)
        corpus = folder / "pairs.tsv"
        if not corpus.exists():
            began = time.perf_counter()
            write(data, corpus, pairs)
            print(
                f"{pairs:,} pairs of {corpus.stat().st_size / pairs:.0f} bytes in {time.perf_counter() - began:.0f} s"
            )
        measured[pairs] = road(folder, data, options.cores)
        report(pairs, folder, measured[pairs])
    sizes = np.log(options.pairs)
    for stage in STAGES if len(options.pairs) > 1 else ():
        seconds = np.log([measured[pairs][stage]["cpu"] for pairs in options.pairs])
        print(f"{stage}: CPU seconds grow with the pairs to the power {np.polyfit(sizes, seconds, 1)[0]:.2f}")
    if options.plot:
        plot(options.plot, measured)


def write(data: Path, path: Path, count: int) -> None:
    archives = sorted(data.glob("opus/*/*/moses/en-fr.txt.zip"))
    rows = dict.fromkeys(row for archive in archives for row in opus.read_archive(archive, archive.parts[-4], EN_FR))
    base = [pair for pair in rows if all(map(str.strip, pair)) and not any("\t" in side for side in pair)]
    partial = path.with_suffix(".part")
    with partial.open("w", encoding="utf-8") as file:
        for lines in blocks(base, count, seed=1):
            file.writelines(lines)
    partial.replace(path)


def blocks(base: list[Row], count: int, seed: int) -> Iterator[Iterator[str]]:
    rng = np.random.default_rng(seed)
    # Of each distinct pair, what it is made of, so that a copy can be made at any time.
    drawn = np.empty((count, 3), np.int32)
    distinct = 0
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        kinds = rng.choice(3, size, p=(0.8, 0.1, 0.1))
        kinds[0] = 0
        new = int((kinds == 0).sum())
        drawn[distinct : distinct + new] = rng.integers(len(base), size=(new, 3))
        drawn[distinct : distinct + new, 2][rng.random(new) < 0.5] = -1  # of two pairs
        made = distinct + np.cumsum(kinds == 0) - 1
        rows = np.where(kinds == 0, made, rng.integers(made + 1))
        distinct += new
        yield map(line, [base] * size, drawn[rows].tolist(), kinds.tolist())


def line(base: list[Row], numbers: list[int], kind: int) -> str:
    sides = [" ".join(texts) for texts in zip(*(base[number] for number in numbers if number >= 0), strict=True)]
    if kind == 2:
        sides = [side[:1].swapcase() + side[1:] for side in sides]
    return "\t".join(sides) + "\n"


def road(folder: Path, data: Path, cores: int) -> dict[str, dict[str, float]]:
    """Make the store; what each stage took, and under "all" the whole."""
    config = {
        "sources": {"lid": {"mirrors": [f"file://{data}/lid/{{file}}"]}},
        "filters": {"job_minutes": 5},
        "development": {"sts": None},
        "evaluate": {"sts": False, "tatoeba": False},
        "corpora": {},
        "models": {"fr": {"languages": list(EN_FR), "corpora": [{"path": str(folder / "pairs.tsv"), "name": "All"}]}},
    }
    (folder / "config/config.yaml").write_text(yaml.safe_dump(config))
    taken = folder / "taken.json"
    if not taken.exists():
        began, peak, ended = time.perf_counter(), [0], threading.Event()
        watcher = threading.Thread(target=watch, args=(folder, peak, ended))
        watcher.start()
        try:
            snakefile = Path(__file__).parents[1] / "Snakefile"
            workflow.run(
                workflow.command(["results/fr/store.h5"], [], cores, ["--snakefile", str(snakefile), "--quiet", "all"]),
                folder,
            )
        finally:
            ended.set()
            watcher.join()
        taken.write_text(json.dumps({"seconds": time.perf_counter() - began, "disk": peak[0]}))
    found: dict[str, dict[str, float]] = {"all": json.loads(taken.read_text())}
    for stage in STAGES:
        sums: dict[str, float] = defaultdict(float)
        for file in (folder / "results/fr/benchmarks").rglob("*.tsv"):
            if stage not in (file.stem, *(parent.name for parent in file.parents)):
                continue
            with file.open() as rows:
                (row,) = csv.DictReader(rows, delimiter="\t")
            sums["seconds"] += float(row["s"])
            sums["cpu"] += float(row["cpu_time"])
            sums["mb"] = max(sums["mb"], float(row["max_rss"]))
            sums["jobs"] += 1
        found[stage] = sums
    return found


def watch(folder: Path, peak: list[int], ended: threading.Event) -> None:
    """Note the most bytes that lie in a folder, beside the corpus."""
    while not ended.wait(2):
        total = 0
        for place, _, names in os.walk(folder / "results"):
            for name in names:
                try:
                    total += (Path(place) / name).stat().st_blocks * 512
                except FileNotFoundError:  # it has just been removed
                    continue
        peak[0] = max(peak[0], total)


def report(pairs: int, folder: Path, found: dict[str, dict[str, float]]) -> None:
    kept = json.loads((folder / "results/fr/pairs/dedupe/All.en-fr.json").read_text())
    seconds, disk = found["all"]["seconds"], found["all"]["disk"]
    print(f"{pairs:,} pairs: {seconds:,.0f} s, {disk / 1e9:.2f} GB of disk beside the corpus at most")
    print(f"{kept['seen']:,} after the filters, of which {kept['kept'] / kept['seen']:.2%} are left")
    print(f"{'':8} {'jobs':>5} {'seconds':>9} {'CPU s':>9} {'MB':>7}")
    for stage in STAGES:
        of = found[stage]
        print(f"{stage:8} {of['jobs']:5.0f} {of['seconds']:9,.1f} {of['cpu']:9,.1f} {of['mb']:7,.0f}")


def plot(path: Path, measured: dict[int, dict[str, dict[str, float]]]) -> None:
    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for name, key, label in [("all", "seconds", "all, seconds"), *((stage, "cpu", stage) for stage in STAGES)]:
        axes.loglog(list(measured), [of[name][key] for of in measured.values()], marker="o", label=label)
    axes.set(xlabel="pairs", ylabel="CPU seconds")
    axes.grid(which="both", alpha=0.2)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    main()
