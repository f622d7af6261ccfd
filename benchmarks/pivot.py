"""Speed and memory of mining: pairs/s on one core, and the process's largest memory, on made bitext of any size.

    taskset -c 0 python benchmarks/pivot.py pairs.tsv [more.tsv ...] --shared 1 --pairs 10000000

Rows are made by joining two given pairs at random, so that shared sides stay distinct; then in 3% of them the shared
side is that of the row before, so that as many keys have two sentences. Making the file is not counted. Time is that of
`psp.pairs.pivot.mine` from file to file, buckets on disk, without filters; also printed is the time of the process's
own work on the CPU, which other load does not change.
"""

from __future__ import annotations

import argparse
import random
import resource
import tempfile
import time
from pathlib import Path

from psp.pairs.pair_file import read_pairs
from psp.pairs.pivot import Bitext, mine

REPEATED = 0.03


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+", help="pair files")
    parser.add_argument("--shared", type=int, choices=[0, 1], default=1, help="the column of the shared side")
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="for the made file and the buckets (default: a temporary one)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        made = Path(folder) / "made.tsv"
        write(options.files, made, options.pairs, options.shared)
        before = peak()
        started, worked = time.perf_counter(), time.process_time()
        report = mine(
            [Bitext("made", made, options.shared)], Path(folder) / "mined.tsv", None, languages=("en", "en"),
            through="xx", seed=1,
        )  # fmt: skip
        seconds, work = time.perf_counter() - started, time.process_time() - worked
        print(
            f"{options.pairs:,} pairs, {made.stat().st_size / 1e9:.2f} GB, {report['groups']:,} groups: "
            f"{seconds:.0f} s, {options.pairs / seconds:,.0f} pairs/s; on the CPU {work:.0f} s, "
            f"{options.pairs / work:,.0f} pairs/s; "
            f"memory {peak():,.0f} MB at most ({before:,.0f} before)"
        )


def write(files: list[Path], out: Path, pairs: int, shared: int) -> None:
    """Write the made pairs."""
    draw = random.Random(1)
    sides: tuple[list[str], list[str]] = ([], [])
    for file in files:
        for side, texts in zip(sides, read_pairs(file), strict=True):
            side += texts
    with out.open("w", encoding="utf-8", newline="\n") as file:
        last = ""
        for _ in range(pairs):
            one, other = draw.randrange(len(sides[0])), draw.randrange(len(sides[0]))
            row = [f"{side[one]} {side[other]}" for side in sides]
            if last and draw.random() < REPEATED:
                row[shared] = last
            last = row[shared]
            file.write("\t".join(row) + "\n")


def peak() -> float:
    """The process's largest memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main()
