"""Filtering and deduplication beside OpusFilter: the same filters on the same pairs, each as its users run it.

    pip install opusfilter fasttext-community     # in an environment of its own, for what they require
    PSP_DATA=~/mirror python benchmarks/filtering.py --opusfilter ~/opusfilter/bin/opusfilter

All pairs of the mirror's English-French corpora become one file. Both systems drop pairs with a side of fewer than 3 or
more than 100 words, then those with a side that lid.176 finds in another language, then all but one of those that
differ at most in case: OpusFilter by its LengthFilter, FastTextFilter and remove_duplicates, psp by its rules filter
and dedupe through Snakemake, planning included. The row "psp, recipe psp" has all filters of the default recipe
instead. psp also puts white space and control characters right, and shuffles what it keeps.

Runs are in turn, the medians printed. CPU seconds are those of a system's processes together, memory is that of the
largest of them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import workflow
import yaml

from psp.corpora import opus

EN_FR = ("en", "fr")
LENGTH = (3, 100)
SAME = {"language": {"method": "top", "threshold": 0}, "length": dict(zip(("min", "max"), LENGTH, strict=True))}
OFF = {name: {"enabled": False} for name in ("identical", "ratio", "symbols", "decontaminate")}
#: psp's settings for each of its rows.
PSP = {"psp, the same filters": {**OFF, **SAME}, "psp, recipe psp": {}}


class Run(NamedTuple):
    """What one run took, and how many pairs it left."""

    seconds: float
    cpu: float
    mb: float
    kept: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opusfilter", required=True, help="its program")
    parser.add_argument("--pairs", type=int, help="default: all")
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    data = Path(os.environ["PSP_DATA"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In another process: a program begins with the peak memory of the one that starts it.
        with ProcessPoolExecutor(1) as pool:
            pairs = pool.submit(write_pairs, data, folder, options.pairs).result()
        lid = data / "lid/lid.176.ftz"
        runs: dict[tuple[str, int], list[Run]] = {}
        for _ in range(options.repeats):
            for cores in options.cores:
                runs.setdefault(("OpusFilter", cores), []).append(
                    run_opusfilter(options.opusfilter, folder, lid, cores)
                )
                for label, filters in PSP.items():
                    runs.setdefault((label, cores), []).append(run_psp(filters, folder, lid, cores))
        print(f"{pairs:,} pairs; medians of {options.repeats}; load average {os.getloadavg()[0]:.2f}")
        print(f"{'':24} {'cores':>5} {'pairs/s':>9} {'seconds':>8} {'CPU s':>7} {'MB':>6} {'kept':>9}")
        for (label, cores), measured in runs.items():
            seconds, cpu, mb, kept = (statistics.median(column) for column in zip(*measured, strict=True))
            print(f"{label:24} {cores:5} {pairs / seconds:9,.0f} {seconds:8.1f} {cpu:7.1f} {mb:6.0f} {kept:9,.0f}")


def write_pairs(data: Path, folder: Path, limit: int | None) -> int:
    """Write all corpora's pairs, shuffled, as a file of pairs and as one of each side; their number."""
    archives = sorted(data.glob("opus/*/*/moses/en-fr.txt.zip"))
    rows = [row for path in archives for row in opus.read_archive(path, path.parts[-4], EN_FR)]
    # A tab within a side would be a column more.
    rows = [(source.replace("\t", " "), target.replace("\t", " ")) for source, target in rows]
    random.Random(1).shuffle(rows)
    rows = rows[:limit]
    (folder / "pairs.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in rows))
    for language, side in zip(EN_FR, zip(*rows, strict=True), strict=True):
        (folder / f"pairs.{language}").write_text("".join(f"{line}\n" for line in side))
    return len(rows)


def run_opusfilter(program: str, folder: Path, lid: Path, cores: int) -> Run:
    shortest, longest = LENGTH
    names = {stage: [f"{stage}.{language}" for language in EN_FR] for stage in ("pairs", "filtered", "kept")}
    filters = [
        {"LengthFilter": {"unit": "word", "min_length": shortest, "max_length": longest}},
        {"FastTextFilter": {"languages": list(EN_FR), "thresholds": [0, 0], "model_path": str(lid)}},
    ]
    steps = [
        {"type": "filter", "parameters": {"inputs": names["pairs"], "outputs": names["filtered"], "filters": filters}},
        {
            "type": "remove_duplicates",
            "parameters": {"inputs": names["filtered"], "outputs": names["kept"], "lowercase": True},
        },
    ]
    config = folder / "opusfilter.yaml"
    common = {"output_directory": str(folder), "default_n_jobs": cores}
    config.write_text(yaml.safe_dump({"common": common, "steps": steps}))
    seconds, cpu, mb = measured([program, "--overwrite", str(config)], folder)
    return Run(seconds, cpu, mb, lines(folder / names["kept"][0]))


def run_psp(filters: dict[str, object], folder: Path, lid: Path, cores: int) -> Run:
    own = folder / "psp"
    shutil.rmtree(own, ignore_errors=True)
    (own / "config").mkdir(parents=True)
    config = {
        "sources": {"lid": {"mirrors": [f"file://{lid}"]}},
        "filters": filters,
        "development": {"sts": None},
        "evaluate": {"sts": False, "tatoeba": False},
        "corpora": {},
        "models": {"fr": {"languages": ["en", "fr"], "corpora": [{"path": str(folder / "pairs.tsv"), "name": "All"}]}},
    }
    (own / "config/config.yaml").write_text(yaml.safe_dump(config))
    target = "results/fr/pairs/dedupe/All.en-fr.tsv"
    snakefile = Path(__file__).parents[1] / "Snakefile"
    words = workflow.command([target], [], cores, ["--snakefile", str(snakefile), "--notemp"])
    seconds, cpu, mb = measured([sys.executable, "-m", *words], own)
    report = json.loads((own / target).with_suffix(".json").read_text())
    return Run(seconds, cpu, mb, report["kept"])


def measured(command: list[str], folder: Path) -> tuple[float, float, float]:
    """Seconds, CPU seconds of it and all that it starts, and MB of the largest of them; a failure ends this process."""
    with (folder / "output").open("w") as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    if status:
        raise SystemExit((folder / "output").read_text())
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


if __name__ == "__main__":
    main()
