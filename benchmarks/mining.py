"""Mining on disk: seconds, peak memory, what approximate search finds, and how these grow with the lines.

    PSP_DATA=~/mirror python benchmarks/mining.py results/multi/model --folder ~/mining --lines 200_000 400_000
    PSP_DATA=~/mirror python benchmarks/mining.py results/multi/model --folder ~/mining --lines 5_000_000 --index ivf

A text of n lines has the distinct English sentences of the mirror's pairs, then sentences made of two random ones
joined; the other text has their translations, in another order. Each size is a run of `psp mine`, in a process of its
own. `found` is the share of the lines whose own translation was mined; `same` says, with `--check`, whether mining in
memory gives the same bytes. `recall` is that of the 4 nearest sentences of random lines, against exact search, by
number of lists looked into.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from psp.corpora import opus
from psp.inference.search.lists import Lists
from psp.inference.search.neighbours import nearest, use_threads
from psp.inference.search.vectors import embed, to_stored
from psp.models.model import load_model

MINE = [sys.executable, "-c", "from psp.cli.main import main; main()", "mine"]
MEASURED = (
    "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); "
    "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)"
)
EFFORTS = (16, 32, 64, 128, 256)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where texts and results go")
    parser.add_argument("--lines", type=int, nargs="+", default=[200_000])
    parser.add_argument("--languages", nargs="+", default=["ar", "de", "fr", "tr", "zh"])
    parser.add_argument("--index", default="flat", choices=["flat", "ivf"])
    parser.add_argument("--dtype", default="int8", choices=["float32", "float16", "int8"])
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--effort", type=int)
    parser.add_argument("--check", action="store_true", help="mine in memory as well, and compare")
    parser.add_argument("--recall", type=int, metavar="N", help="only this: recall of the 4 nearest of N random lines")
    options = parser.parse_args()
    rows = []
    for lines in options.lines:
        folder = options.folder / str(lines)
        folder.mkdir(parents=True, exist_ok=True)
        texts = write(Path(os.environ["PSP_DATA"]), options.languages, folder, lines)
        if options.recall:
            print(json.dumps(recall(options.model, texts, options, folder)))
            continue
        rows.append(mined(texts, options, folder))
        print(json.dumps(rows[-1]), flush=True)
    if len(rows) > 1:
        sizes, seconds = (np.log([row[key] for row in rows]) for key in ("lines", "seconds"))
        print(f"seconds grow with the lines to the power {np.polyfit(sizes, seconds, 1)[0]:.2f}")


def write(data: Path, languages: list[str], folder: Path, lines: int) -> tuple[Path, Path]:
    """Write the two texts, unless they are there; the n-th translation's line is in ``order.npy``."""
    texts = folder / "english.txt", folder / "others.txt"
    if texts[1].exists():
        return texts
    rng = random.Random(1)
    pairs: dict[str, tuple[str, str]] = {}
    for code in languages:
        names = sorted(("en", code))
        for archive in sorted(data.glob(f"opus/*/*/moses/{'-'.join(names)}.txt.zip")):
            for row in opus.read_archive(archive, archive.parts[-4], (names[0], names[1])):
                english, other = (" ".join(side.split()) for side in (row if names[0] == "en" else row[::-1]))
                if english and other:
                    pairs.setdefault(english, (code, other))
    real = list(pairs.items())
    rng.shuffle(real)
    by_code = {code: [pair for pair in real if pair[1][0] == code] for code in languages}
    chosen = [(english, other) for english, (_, other) in real[:lines]]
    while len(chosen) < lines:
        one = rng.choice(real)
        two = rng.choice(by_code[one[1][0]])
        chosen.append((f"{one[0]} {two[0]}", f"{one[1][1]} {two[1][1]}"))
    order = np.random.default_rng(1).permutation(lines)
    np.save(folder / "order.npy", order)
    with texts[0].open("w", encoding="utf-8") as file:
        file.writelines(f"{english}\n" for english, _ in chosen)
    with texts[1].with_suffix(".part").open("w", encoding="utf-8") as file:
        file.writelines(f"{chosen[number][1]}\n" for number in order.tolist())
    texts[1].with_suffix(".part").rename(texts[1])
    print(f"{lines:,} lines, {min(lines, len(real)):,} of them real", flush=True)
    return texts


def mined(texts: tuple[Path, Path], options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Run `psp mine`, and measure it."""
    out = folder / f"{options.index}.tsv"
    stored = [] if options.dtype == "float32" else [f"--{options.dtype}"]
    common = [options.model, *texts, "--index", options.index, *stored]
    if options.effort:
        common += ["--effort", options.effort]
    began = time.perf_counter()
    command = [*MINE, *common, "--out", out, "--memory", options.memory]
    result = subprocess.run([sys.executable, "-c", MEASURED, *map(str, command)], stdout=subprocess.PIPE, check=True)
    seconds = time.perf_counter() - began
    row: dict[str, object] = {
        "lines": int(folder.name),
        "index": options.index,
        "dtype": options.dtype,
        "memory": options.memory,
        "seconds": round(seconds, 1),
        "peak_mb": int(result.stdout.split()[-1]) // 1024,
        "load_average": round(os.getloadavg()[0], 2),
    }
    sides = [text.read_text(encoding="utf-8").split("\n")[:-1] for text in texts]
    order = np.load(folder / "order.npy")
    truth = {(sides[0][number], other) for number, other in zip(order.tolist(), sides[1], strict=True)}
    pairs = [tuple(line.split("\t")[:2]) for line in out.read_text(encoding="utf-8").split("\n")[:-1]]
    right = len(truth & set(pairs))
    row |= {"pairs": len(pairs), "found": round(right / len(truth), 4), "precision": round(right / len(pairs), 4)}
    if options.check:
        again = folder / "in-memory.tsv"
        subprocess.run([*map(str, [*MINE, *common, "--out", again])], stdout=subprocess.DEVNULL, check=True)
        row["same"] = again.read_bytes() == out.read_bytes()
    return row


def recall(name: Path, texts: tuple[Path, Path], options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """The share of the 4 nearest translations of random English lines that lists find."""
    use_threads(os.cpu_count() or 1)
    model = load_model(name)
    english, others = (text.read_text(encoding="utf-8").split("\n")[:-1] for text in texts)
    queries = to_stored(embed(model, random.Random(2).sample(english, options.recall))[0], np.dtype(options.dtype))
    rows = np.concatenate(
        [
            to_stored(embed(model, others[start : start + 8192])[0], np.dtype(options.dtype))
            for start in range(0, len(others), 8192)
        ]
    )
    began = time.perf_counter()
    exact = nearest(queries, rows, 4)
    times = {"exact": round(time.perf_counter() - began, 2)}
    began = time.perf_counter()
    lists = Lists.prepare(rows, folder, f"recall{int(began)}")
    times["build"] = round(time.perf_counter() - began, 2)
    shares = {}
    for effort in EFFORTS:
        began = time.perf_counter()
        found = lists.nearest(queries, 4, effort).numbers
        times[str(effort)] = round(time.perf_counter() - began, 2)
        right = (found[:, :, None] == exact.numbers[:, None, :]).any(2)
        shares[str(effort)] = [
            round(float(right.mean()), 4),
            round(float((found[:, 0] == exact.numbers[:, 0]).mean()), 4),
        ]
    return {"rows": len(rows), "lists": len(lists.centroids), "seconds": times, "recall": shares}


if __name__ == "__main__":
    main()
