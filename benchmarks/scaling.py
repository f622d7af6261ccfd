"""How good a model gets with more pairs: its scores by the number of pairs, and a law fitted to them.

    PSP_DATA=~/mirror python benchmarks/scaling.py --configfile config/sample.yaml config/choosing.yaml \
        --models fr en --json scaling.json

Snakemake makes each model once, and with it all pairs, the pairs held out and the vocabulary, which all sizes share.
Samples of a seed lie in one another. At each size the number of passes is chosen among `--passes` with the first seed,
by the score that settings are chosen by (docs/evaluation.md); the tables show the tests with the chosen number alone.
`--own-vocabulary` repeats one size with a vocabulary of its own pairs, `--paper-passes` trains by the paper's recipe,
one seed each. What is in `--json` is not trained again.

The law is y(n) = limit - amount * (n / 100,000) ** -exponent for Pearson x 100, and with a plus for an error in %. Its
interval is that of a bootstrap: scores drawn from the mean of each size with the deviation of seeds, pooled over sizes.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import workflow

from psp.config.config import Config
from psp.core.files import read_json, write_json
from psp.core.logs import job
from psp.evaluation.evaluate import EmbeddingScorer, evaluate
from psp.evaluation.testsets import tatoeba_files
from psp.models.files import SENTENCEPIECE
from psp.models.model import load_model
from psp.models.scores import compared_metrics
from psp.pairs.store import write_store
from psp.pairs.subword import train_subword
from psp.report.layout import layout
from psp.training.loop import Training
from psp.training.settings import PAPER, TrainSettings

#: The scores that a law is fitted to -> their names in the tables.
FITTED = {"sts": "P", "sts/spearman": "S", "stsb/test": "B", "tatoeba": "T"}
#: Numbers of pairs are divided by this in the law, so that its amounts are readable.
UNIT = 100_000
#: What is trained, in the order of the tables.
KINDS = ("psp", "own vocabulary", "paper")
#: Curves drawn for an interval.
DRAWS = 1000

Floats = npt.NDArray[np.float64]


class Row(NamedTuple):
    """One training.

    Attributes:
        model, pairs, seed, passes: of what, on how many pairs, how.
        kind: one of :data:`KINDS`.
        chosen_by: the score that settings are chosen by.
        scores: on the tests, by the names of :func:`compared_metrics`.
    """

    model: str
    kind: str
    pairs: int
    seed: int
    passes: int
    chosen_by: float
    scores: Mapping[str, float]

    def of(self, *key: object) -> bool:
        """Whether it is the training of this model, kind, pairs, seed and passes."""
        return (self.model, self.kind, self.pairs, self.seed, self.passes) == key


class Law(NamedTuple):
    """A fitted law, of an error or of its opposite."""

    limit: float
    amount: float
    exponent: float

    def __call__(self, pairs: Floats | float) -> Any:
        return self.limit + self.amount * (np.asarray(pairs, np.float64) / UNIT) ** -self.exponent


class Study:
    """The trainings of one model on samples of its pairs.

    Args:
        name: the model.
        config: with its entry.
        root: the folder with results/.
        threads: of each training.
    """

    def __init__(self, name: str, config: Config, root: Path, threads: int) -> None:
        self.name, self.entry, self.threads = name, config.model(name), threads
        self.home = root / f"results/{name}"
        self.downloads = root / "results/downloads"
        text = (self.home / "pairs/mix.tsv").read_bytes()
        # All pairs count as one corpus.
        self.lines = [line[: line.rindex(b"\t")] + b"\t0" for line in text.removesuffix(b"\n").split(b"\n")]

    def measure(self, kind: str, pairs: int, seed: int, passes: int) -> Row:
        """Train on a sample, and score the model."""
        order = np.random.default_rng(seed).permutation(len(self.lines))[:pairs]
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            mixed, store, subword = folder / "mix.tsv", folder / "store.h5", self.home / SENTENCEPIECE
            mixed.write_bytes(b"\n".join(self.lines[row] for row in order) + b"\n")
            if kind == "own vocabulary":
                subword = folder / SENTENCEPIECE
                wanted = {key: self.entry["subword"][key] for key in ("vocab_size", "character_coverage")}
                train_subword(mixed, subword, threads=self.threads, report=folder / "subword.json", **wanted)
            languages = self.entry.languages
            write_store(mixed, subword, store, languages=languages, corpora=["sample"], threads=self.threads)
            training = dataclasses.replace(
                self.training(seed),
                store=store,
                tokenizer=subword,
                out_dir=folder / "model",
                train_dir=folder / "train",
            )
            settings = PAPER if kind == "paper" else dict(training.settings)
            settings = TrainSettings.from_mapping({**settings, "epochs": passes, "seed": seed})
            report = dataclasses.replace(training, settings=settings).run()
            scores = self.score(folder / "model")
        return Row(self.name, kind, len(order), seed, passes, report["final"]["score"], scores)

    def training(self, seed: int) -> Training:
        """The model's own training, as its rule has it."""
        kind, files = self.entry.of, self.files()
        return kind.training().configured(
            files, kind.parameters(self.entry), {**kind.beside(self.entry), "warn_pairs": 0, "threads": self.threads},
            seed=seed, code="", out_dir=None, train_dir=self.home,
        )  # fmt: skip

    def files(self) -> Any:
        """What its rule reads."""
        pairs = self.home / "pairs"
        sets = [str(pairs / f"development/{name}.tsv") for name in self.entry["development"]["sets"]]
        return _Inputs(
            store=str(self.home / "store.h5"),
            vocabulary=str(self.home / SENTENCEPIECE),
            heldout=str(pairs / "heldout.tsv"),
            archive=str(self.downloads / "sts/STS.zip"),
            sets=sets,
        )

    def score(self, model: Path) -> dict[str, float]:
        """Its scores on the tests, by name."""
        folders = sorted((self.downloads / "tatoeba").glob("*"))
        foreign = [language for language in self.entry.languages if language != "en"]
        sets = {language: tatoeba_files(folders[0], language) for language in foreign}
        archive = self.downloads / "sts/STS.zip"
        scorer = EmbeddingScorer(load_model(model))
        found = evaluate(scorer, languages=self.entry.languages, sts=archive, tatoeba=sets, resamples=100)
        scores = compared_metrics(found)
        return {name: value for name in FITTED if (value := scores.get(name)) is not None}


class _Inputs(dict[str, Any]):
    """Files by name, as Snakemake gives them."""

    def __getattr__(self, name: str) -> Any:
        return self[name]


def main() -> None:
    parser = workflow.parser(__doc__)
    parser.add_argument("--parts", nargs="+", type=int, default=[64, 16, 4, 2, 1], help="one in so many of the pairs")
    parser.add_argument("--passes", nargs="+", type=int, default=[3, 6, 12])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--own-vocabulary", type=int, metavar="PART", help="this size with a vocabulary of its own too")
    parser.add_argument("--paper-passes", type=int, help="also train by the paper's recipe, with the first seed")
    parser.add_argument("--to", nargs="+", type=int, default=[6_460_000, 25_850_000], metavar="PAIRS")
    parser.add_argument("--json", type=Path, required=True, help="a file for all figures")
    options = parser.parse_args()
    workflow.make(options, [f"results/{name}/eval.json" for name in options.models])
    rows = [Row(**row) for row in read_json(options.json)] if options.json.exists() else []
    with job():
        config = Config.load([options.folder / "config/config.yaml", *map(options.folder.joinpath, options.configfile)])
        for name in options.models:
            study = Study(name, config, options.folder, options.cores)
            for kind, pairs, seed, passes in trainings(study, options):
                if not any(row.of(name, kind, pairs, seed, passes) for row in rows):
                    rows.append(study.measure(kind, pairs, seed, passes))
                    write_json(options.json, [row._asdict() for row in rows])
    for name in options.models:
        shown = [row for row in rows if row.model == name]
        best = {row.pairs: chosen(rows, name, row.pairs, options.seeds[0]) for row in shown if row.kind == "psp"}
        print(table(name, shown, best))
        print(laws([row for row in shown if row.kind == "psp" and row.passes == best[row.pairs]], options.to))


def trainings(study: Study, options: argparse.Namespace) -> Iterator[tuple[str, int, int, int]]:
    """Those to do, in order: kind, pairs, seed and passes. When one is asked for, the file has those before it."""
    first, *others = options.seeds
    for part in options.parts:
        pairs = len(study.lines) // part
        for passes in options.passes:
            yield "psp", pairs, first, passes
        done = [Row(**row) for row in read_json(options.json)]
        best = chosen(done, study.name, pairs, first)
        for seed in others:
            yield "psp", pairs, seed, best
        if part == options.own_vocabulary:
            yield "own vocabulary", pairs, first, best
        if options.paper_passes:
            yield "paper", pairs, first, options.paper_passes


def chosen(rows: Iterable[Row], model: str, pairs: int, seed: int) -> int:
    """The number of passes with the best score of those that were tried with this seed."""
    tried = [row for row in rows if (row.model, row.kind, row.pairs, row.seed) == (model, "psp", pairs, seed)]
    return max(tried, key=lambda row: row.chosen_by).passes


def fit(pairs: Floats, values: Floats, sign: int) -> Law:
    """Fit the law to scores, by least squares.

    Args:
        pairs, values: float64 (rows,).
        sign: -1 for a score that rises, 1 for an error.
    """
    from scipy.optimize import nnls

    best: tuple[float, Law] | None = None
    for exponent in np.linspace(0.02, 1.5, 149):  # linear in all else
        matrix = np.stack([np.ones_like(pairs), sign * (pairs / UNIT) ** -exponent], axis=1)
        (limit, amount), residual = nnls(matrix, values)
        if best is None or residual < best[0]:
            best = residual, Law(limit, sign * amount, float(exponent))
    assert best is not None
    return best[1]


def laws(rows: Sequence[Row], to: Sequence[int]) -> str:
    """The law of each score, what it says of more pairs, and what the smaller sizes say of the largest, as Markdown."""
    cells = [["", "limit", "exponent", "largest: predicted", "measured", *(f"{pairs:,} pairs" for pairs in to)]]
    for name, short in FITTED.items():
        groups: dict[int, list[float]] = {}
        for row in rows:
            if name in row.scores:
                groups.setdefault(row.pairs, []).append(row.scores[name])
        if len(groups) < 4:
            continue
        sign = 1 if name.startswith("tatoeba") else -1
        sizes = sorted(groups)
        smaller = sizes[:-1]
        at = [sizes[-1], *to]
        law = interval(groups, sizes, sign, at)
        checked = interval(groups, smaller, sign, at)
        cells.append([
            short, f"{law[0].limit:.1f}", f"{law[0].exponent:.2f}", checked[1][0],
            f"{statistics.mean(groups[sizes[-1]]):.2f}", *law[1][1:],
        ])  # fmt: skip
    return layout(cells, "markdown", right=range(1, len(cells[0])))


def interval(
    groups: Mapping[int, Sequence[float]], sizes: Sequence[int], sign: int, at: Sequence[int]
) -> tuple[Law, list[str]]:
    """Fit the law to these sizes; what it says ``at`` each number of pairs, with the middle 95% of a bootstrap."""
    pairs = np.array([size for size in sizes for _ in groups[size]], np.float64)
    values = np.array([value for size in sizes for value in groups[size]], np.float64)
    means = np.array([statistics.mean(groups[size]) for size in sizes for _ in groups[size]], np.float64)
    freedom = len(values) - len(sizes)
    deviation = (float(((values - means) ** 2).sum()) / freedom) ** 0.5 if freedom else 0.0
    random = np.random.default_rng(1)
    law = fit(pairs, values, sign)
    drawn = [fit(pairs, means + random.normal(0, deviation, len(means)), sign) for _ in range(DRAWS)]
    said = []
    for place in at:
        low, high = np.percentile([one(place) for one in drawn], [2.5, 97.5])
        said.append(f"{law(place):.1f} ({low:.1f} to {high:.1f})")
    return law, said


def table(name: str, rows: Sequence[Row], best: Mapping[int, int]) -> str:
    """The scores by kind and size with the chosen passes, means over seeds with their deviation, as Markdown."""
    groups: dict[tuple[str, int, int], list[Row]] = {}
    for row in rows:
        if row.kind != "psp" or row.passes == best[row.pairs]:
            groups.setdefault((row.kind, row.pairs, row.passes), []).append(row)
    cells = [[name, "pairs", "passes", "the score that chooses, by passes", *FITTED.values()]]
    for (kind, pairs, passes), group in sorted(groups.items(), key=lambda group: (KINDS.index(group[0][0]), group[0])):
        tried = sorted(
            (row.passes, row.chosen_by) for row in rows if (row.kind, row.pairs, row.seed) == (kind, pairs, 1)
        )
        scores = [[row.scores[key] for row in group if key in row.scores] for key in FITTED]
        by_passes = ", ".join(f"{passes}: {score:.1f}" for passes, score in tried)
        cells.append([kind, f"{pairs:,}", str(passes), by_passes, *map(_mean, scores)])
    return layout(cells, "markdown", right=(1, 2))


def _mean(values: Sequence[float]) -> str:
    deviation = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{deviation}" if values else ""


if __name__ == "__main__":
    main()
