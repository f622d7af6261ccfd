"""The STS Benchmark whole, its captions, and the rest: Table 16 of ParaNMT-50M (Wieting & Gimpel 2018).

    python benchmarks/captions.py downloads/STSBenchmark results/en/model results/en-both/model

Train, dev and test part as one set, by the column genre of its files: `main-captions`, and all others. Printed is
Pearson x 100 of each encoder (a name that `psp eval` takes) with the 95% interval of the bootstrap over pairs, on the
same resamples, and below the first model the others' differences from it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

from psp.evaluation import bootstrap
from psp.evaluation.scorers import EmbeddingScorer
from psp.evaluation.testsets import SCALE, read_score
from psp.models.registry import load_encoder
from psp.text.lines import read_lines

PARTS = ("train", "dev", "test")
CAPTIONS = "main-captions"
Floats = npt.NDArray[np.float64]


class _Raw:
    """An encoder as a scorer wants it."""

    def __init__(self, name: str) -> None:
        self._encoder = load_encoder(name)

    def embed_raw_text(self, texts: list[str]) -> npt.NDArray[np.float32]:
        return np.asarray(self._encoder.embed(texts))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="with sts-train.csv, sts-dev.csv and sts-test.csv")
    parser.add_argument("encoders", nargs="+")
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    captions, scores, pairs = read(options.folder)
    everything = np.ones(len(pairs), bool)
    splits = {"all": everything, "captions": captions, "others": ~captions}
    print(f"| encoder | {' | '.join(f'{name} ({mask.sum():,})' for name, mask in splits.items())} |")
    print("|---|---|---|---|")
    first: dict[str, Floats] = {}
    for name in options.encoders:
        found = np.asarray(EmbeddingScorer(_Raw(name)).pairwise(*zip(*pairs, strict=True)), np.float64)
        cells, lost = [], []
        for split, mask in splits.items():
            counts = bootstrap.resample_counts(int(mask.sum()), options.resamples, 1, f"stsb/{split}")
            drawn = 100 * bootstrap.pearson(counts, found[mask], scores[mask])
            value = 100 * np.corrcoef(found[mask], scores[mask])[0, 1]
            cells.append(f"{value:.1f} {_said(drawn)}")
            if name != options.encoders[0]:
                lost.append(_said(drawn - first[split], "+.1f"))
            else:
                first[split] = drawn
        print(f"| {name} | {' | '.join(cells)} |")
        if lost:
            print(f"| less {options.encoders[0]} | {' | '.join(lost)} |")


def read(folder: Path) -> tuple[npt.NDArray[np.bool_], Floats, list[tuple[str, str]]]:
    """Which pairs are captions, bool (pairs,); the gold scores, (pairs,); and the pairs."""
    captions, scores, pairs = [], [], []
    for part in PARTS:
        path = folder / f"sts-{part}.csv"
        with path.open("rb") as file:
            for number, line in enumerate(read_lines(file, path), start=1):
                columns = line.strip("\r").split("\t")
                captions.append(columns[0] == CAPTIONS)
                scores.append(read_score(columns[4], path, number, SCALE))
                pairs.append((columns[5], columns[6]))
    return np.array(captions), np.array(scores), pairs


def _said(drawn: Floats, form: str = ".1f") -> str:
    low, high = bootstrap.interval(drawn) or (np.nan, np.nan)
    return f"[{low:{form}}, {high:{form}}]"


if __name__ == "__main__":
    main()
