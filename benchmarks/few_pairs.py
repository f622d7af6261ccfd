"""From how many pairs on a trained model is worth more than one that is not trained: retrieval error by the pairs.

    PSP_DATA=~/mirror python benchmarks/few_pairs.py --configfile config/sample.yaml --models fr de pl ar

Snakemake makes each model's mixed pairs and the slice held out of them (2,000 pairs, the same for all sizes), which are
kept. From the former come random samples, the smaller inside the larger, another for each seed. Each has a subword
model of its own, and a model trained by the settings of the recipe psp. Beside it stands what needs no training: a
random table with SIF weights, with the same subwords. Error and Pearson are those of the validation score: in %, the
mean of both directions; and x 100, on SemEval-2017 English.
"""

from __future__ import annotations

import itertools
import statistics
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import workflow

from psp.config.config import Config
from psp.core.errors import ConfigError
from psp.core.files import read_json, write_json
from psp.core.logs import job
from psp.evaluation.baselines import piece_counts, random_table, sif_weights
from psp.evaluation.development import Development
from psp.evaluation.scorers import EmbeddingScorer
from psp.models.files import SENTENCEPIECE
from psp.models.model import Model, load_model
from psp.pairs.store import write_store
from psp.pairs.subword import train_subword
from psp.report.layout import layout
from psp.training.loop import Training
from psp.training.settings import TrainSettings

SIZES = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000)


class Row(NamedTuple):
    """One training: (error in %, Pearson x 100) of each table, and the seconds of it."""

    model: str
    pairs: int
    seed: int
    pieces: int
    trained: tuple[float, float]
    sif: tuple[float, float]
    seconds: float


def main() -> None:
    parser = workflow.parser(__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES, metavar="PAIRS")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3], metavar="SEED")
    parser.add_argument("--pieces", type=int, default=50_000, help="asked of the subword model; few pairs give fewer")
    parser.add_argument("--dim", type=int, default=1024)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, help="a file for all figures; those in it are not made again")
    options = parser.parse_args()
    archive = "results/downloads/sts/STS.zip"
    targets = [f"results/{name}/pairs/{file}.tsv" for name in options.models for file in ("mix", "heldout")]
    targets.append(archive)
    workflow.make(options, targets)
    files = [options.folder / "config/config.yaml", *(options.folder / file for file in options.configfile)]
    rows = [Row(**row) for row in read_json(options.json)] if options.json and options.json.exists() else []
    with job():
        config = Config.load(files)
        for seed, name in itertools.product(options.seeds, options.models):
            languages = config.model(name).languages
            pairs = options.folder / f"results/{name}/pairs"
            lines = (pairs / "mix.tsv").read_bytes().removesuffix(b"\n").split(b"\n")
            development = Development.load("semeval2017-en", pairs / "heldout.tsv", options.folder / archive)
            order = np.random.default_rng(seed).permutation(len(lines))
            for size in options.sizes:
                if any((row.model, row.pairs, row.seed) == (name, size, seed) for row in rows):
                    continue
                chosen = [lines[row] for row in order[:size]]
                if len(chosen) < size:
                    raise ConfigError(f"{pairs / 'mix.tsv'}: {len(chosen):,} pairs, and --sizes asks for {size:,}")
                settings = TrainSettings(dim=options.dim, seed=seed)
                with tempfile.TemporaryDirectory() as folder:
                    rows.append(
                        measure(
                            name,
                            chosen,
                            development,
                            Path(folder),
                            languages,
                            settings,
                            options.pieces,
                            options.threads,
                        )
                    )
                if options.json:
                    write_json(options.json, [row._asdict() for row in rows])
    print(table(rows), end="")


def measure(
    name: str,
    lines: Sequence[bytes],
    development: Development,
    folder: Path,
    languages: Sequence[str],
    settings: TrainSettings,
    pieces: int,
    threads: int,
) -> Row:
    """Train on mixed pairs, and score the model, and a table that was not trained, on the pairs held out."""
    mixed, subword, store = folder / "mix.tsv", folder / SENTENCEPIECE, folder / "store.h5"
    mixed.write_bytes(b"\n".join(line[: line.rindex(b"\t")] + b"\t0" for line in lines) + b"\n")
    train_subword(mixed, subword, vocab_size=pieces, threads=threads, report=folder / "sentencepiece.json")
    write_store(mixed, subword, store, languages=languages, corpora=["sample"], threads=threads)
    start = time.perf_counter()
    # The text was segmented when it was mixed; it must not be a second time.
    keys = {"languages": list(languages), "lower_case": True, "segment": {}, "recipe": "psp"}
    Training(
        store, subword, folder / "model", folder / "train", settings, None, threads=threads, model_config=keys
    ).run()
    seconds = time.perf_counter() - start
    trained = load_model(folder / "model")
    random = random_table(trained.vocab_size, trained.dim, settings.seed)
    weights = sif_weights(piece_counts(store, subword))[:, None]
    scores = [
        development.score(EmbeddingScorer(Model(weight, subword, trained.config, accelerate=False)))
        for weight in (trained.weight, random * weights)
    ]
    figures = [(score["error"], score["pearson"]) for score in scores]
    return Row(name, len(lines), settings.seed, trained.vocab_size, *figures, seconds)


def table(rows: Iterable[Row]) -> str:
    """Means over seeds with their deviation, as Markdown."""
    groups: dict[tuple[str, int], list[Row]] = {}
    for row in sorted(rows):
        groups.setdefault((row.model, row.pairs), []).append(row)
    cells = [["model", "pairs", "pieces"]]
    for figure in ("error", "Pearson"):
        cells[0] += [f"{figure}, {name}" for name in ("trained", "SIF")] + ["better than SIF"]
    for (name, pairs), group in groups.items():
        cells.append([name, f"{pairs:,}", f"{statistics.mean(row.pieces for row in group):,.0f}"])
        for figure, sign in ((0, -1), (1, 1)):
            cells[-1] += [_mean([getattr(row, key)[figure] for row in group]) for key in ("trained", "sif")]
            better = sum(sign * row.trained[figure] > sign * row.sif[figure] for row in group)
            cells[-1].append(f"{better} of {len(group)}")
    return layout(cells, "markdown", right=(1, 2))


def _mean(values: Sequence[float]) -> str:
    deviation = f" ± {statistics.stdev(values):.1f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.1f}{deviation}"


if __name__ == "__main__":
    main()
