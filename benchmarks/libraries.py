"""psp beside sentence-transformers and model2vec, each trained on the same pairs in the same time: a table.

    python benchmarks/libraries.py results/fr

The folder is of a model that the workflow trained and evaluated with `keep_intermediate: true`, which keeps the pairs
as text. On these very pairs, with the model's subwords, dimensions, seed and threads, each of SETUPS is trained by the
library's own training loop, in a process of its own. psp's evaluation scores all, through the library's own `encode`,
on the same bootstrap resamples, so that differences from psp are paired. The folder `--out` gets a JSON for each setup
when it is finished, and in the end a table, libraries.md, with all its numbers and their conditions in libraries.json.
What is finished is not measured again: delete its JSON for that.

Time: the limit is the seconds of psp's own training (the last row of train/timing.csv), or `--seconds`. A library's
seconds are those of its call to train (`trainer.train()`, `fit()`): with drawing batches, tokenization and validation,
but not imports, reading the pairs, or making the first embeddings. psp tokenizes the pairs before training (the step
`store`); that is not in its seconds, nor are the first embeddings.

Settings are the libraries' own. sentence-transformers has those of its guide to static embeddings (which adds
Matryoshka dimensions): AdamW, learning rate 0.2, linear schedule with 10% warm-up, batches of 2,048 without duplicates;
its own end is after one pass. Within a time limit, the schedule spans the time. model2vec has the defaults of
StaticModelForPairSimilarity: Adam, learning rate 0.001, batches of 512, temperature 0.05; its own end is early stopping
by the loss on psp's held-out pairs. Two things are varied. The start: random embeddings, N(0, 1), or those that psp's
own training started from. And the learning rate: *the best of four*, each trained for `--share` of the limit, is that
with the best validation score of psp; test scores choose nothing.
"""

from __future__ import annotations

import argparse
import csv
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from psp.config.blocks.training import TrainSettings
from psp.core.errors import DataError, PspError
from psp.core.files import atomic, atomic_text, read_json, sha256, write_json
from psp.core.logs import job
from psp.core.machine import load_averages, processor, usable_cores, versions
from psp.evaluation.development import Development
from psp.evaluation.evaluate import EmbeddingScorer, evaluate
from psp.evaluation.resamples import differences
from psp.evaluation.scorers import Floats
from psp.evaluation.speed.worker import limits
from psp.evaluation.testsets import SEMEVAL, tatoeba_code, tatoeba_files
from psp.models.exports import tokenizer as export
from psp.models.scores import main_metrics
from psp.models.scores import scores as scores_of
from psp.models.static import StaticModel
from psp.pairs.pair_file import read_pairs
from psp.pairs.text_pairs import open_source
from psp.report.tables import Cell, Table
from psp.training.encoders.mean import normal_table
from psp.training.initial import initial_table

log = logging.getLogger("libraries")

FORMAT = 1
PSP, SENTENCE_TRANSFORMERS, MODEL2VEC = "psp", "sentence-transformers", "model2vec"
#: Distributions whose versions a result depends on.
PACKAGES = (
    "torch", "numpy", "tokenizers", "sentencepiece", "sentence-transformers", "transformers", "accelerate", "datasets",
    "model2vec",
)  # fmt: skip
#: sentence-transformers' losses; and model2vec's, without the head that it would drop afterwards.
MNRL, MARGIN, INFONCE = "MultipleNegativesRankingLoss", "MegaBatchMarginLoss", "InfoNCE, no head"
#: The learning rate of the guide to static embeddings; the default of `fit`.
GUIDE = {SENTENCE_TRANSFORMERS: (0.2,), MODEL2VEC: (0.001,)}
#: Those of which the best is chosen. model2vec's are all above its default: in 15 seconds on English-French, validation
#: scores rose from 0.001 to 0.03, while 0.2 was the best of sentence-transformers' four.
FOUR = {SENTENCE_TRANSFORMERS: (0.02, 0.06, 0.2, 0.6), MODEL2VEC: (0.003, 0.01, 0.03, 0.1)}
#: The guide's settings (https://huggingface.co/blog/static-embeddings). Its bfloat16 is for GPUs.
BATCH, WARMUP, PASSES = 2048, 0.1, 1
TEXTS = 1024  # that `encode` takes at a time; no vector depends on it
TIME, OWN = "same time", "own end"


class Setup(NamedTuple):
    """A training with a library.

    Attributes:
        library, loss: which one, and one of its losses.
        start: ``random``; or ``psp``, psp's initial embeddings.
        rates: the learning rate; of several, the best.
        end: ``same time`` as psp, or the library's ``own end``.
    """

    library: str
    loss: str
    start: str
    rates: tuple[float, ...]
    end: str = TIME


#: The most important first, for those who stop early. The rates of the last two are the best of four on English-French.
SETUPS = {
    "st-random": Setup(SENTENCE_TRANSFORMERS, MNRL, "random", GUIDE[SENTENCE_TRANSFORMERS]),
    "m2v-random": Setup(MODEL2VEC, INFONCE, "random", GUIDE[MODEL2VEC]),
    "st-best": Setup(SENTENCE_TRANSFORMERS, MNRL, "psp", FOUR[SENTENCE_TRANSFORMERS]),
    "m2v-best": Setup(MODEL2VEC, INFONCE, "psp", FOUR[MODEL2VEC]),
    "st-margin": Setup(SENTENCE_TRANSFORMERS, MARGIN, "psp", GUIDE[SENTENCE_TRANSFORMERS]),
    "st-own": Setup(SENTENCE_TRANSFORMERS, MARGIN, "psp", (0.2,), OWN),
    "m2v-own": Setup(MODEL2VEC, INFONCE, "psp", (0.03,), OWN),
}


# ---------------------------------------------------------------------------------------------------------- training


@dataclass
class Clock:
    """The seconds since training began, their limit, and the pairs seen."""

    limit: float
    pairs: int = 0
    began: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def over(self) -> bool:
        return self.seconds >= self.limit


class Embedder:
    """A library's `encode` as what psp's evaluation asks for vectors."""

    def __init__(self, encode: Callable[[list[str]], np.ndarray]) -> None:
        self._encode = encode

    def embed_raw_text(self, sentences: list[str], /) -> np.ndarray:
        return self._encode(sentences)


class Trained(NamedTuple):
    """A library's trained model.

    Attributes:
        pairs, seconds: seen, and taken.
        stopped: whether it was the clock that ended training.
        model: as the evaluation asks it.
    """

    pairs: int
    seconds: float
    stopped: bool
    model: Embedder


class Task:
    """What all are trained on: the pairs, subwords, dimensions and seed of a finished model.

    Attributes:
        model: psp's model.
        settings: of its training.
        source, target: the training pairs.
        heldout: the pairs for validation.
        tokenizer: the model's sentencepiece model as a ``tokenizers.Tokenizer``, which also lower-cases.

    Args:
        folder: the model's folder under results/.
        threads: for reading text.

    Raises:
        DataError: a file is missing or damaged, or is not of the same model as the others.
        PspError: what the libraries cannot do: segment text, or start as the model did.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        report = read_json(folder / "train/train.json")
        if report["initialised_from"]:
            raise PspError(
                f"{folder}: its training began with another model's embeddings (init_from), not with its own"
            )
        self.model = StaticModel.load(folder / "model", threads=threads)
        if self.model.config.get("segment"):
            raise PspError(f"{folder}: its text is segmented before sentencepiece, which no library's tokenizer does")
        self.settings = TrainSettings.of(report["settings"])
        path = pairs_file(folder)
        self.source, self.target = read_pairs(path)
        if len(self.source) != report["store_pairs"]:
            raise DataError(
                f"{len(self.source):,} pairs, but the model was trained on {report['store_pairs']:,}; run the workflow "
                "again",
                path,
            )
        self.heldout = read_pairs(folder / "pairs/heldout.tsv")
        self.tokenizer = export.convert(self.model)
        self._store, self._threads = folder / "store.h5", threads

    def rows(self, start: str) -> np.ndarray:
        """The embeddings to start from, float32 (subwords, dimensions).

        ``random``: N(0, 1), as an ``nn.EmbeddingBag`` starts, and so sentence-transformers. ``psp``: those that the
        model's own training started from, but for zeros in place of the subwords that psp leaves out of the mean (the
        unknown one), as in an export.
        """
        tokenizer = self.model.tokenizer
        if start == "random":
            return normal_table(len(tokenizer.pieces()), self.settings.dim, self.settings.seed).numpy()
        source = open_source(self._store, tokenizer, self.model.config["languages"], threads=self._threads)
        try:
            source.check_vocabulary(tokenizer)
            table, _ = initial_table(tokenizer, self.settings, None, source)
        finally:
            source.close()
        return export.table(StaticModel(table.numpy(), tokenizer, self.model.config))


def pairs_file(folder: Path) -> Path:
    """The training pairs as text, after near-duplicates were removed if the model's config says so.

    Raises:
        DataError: they were not kept.
    """
    for name in ("neardup", "mix"):
        if (path := folder / f"pairs/{name}.tsv").exists():
            return path
    raise DataError(
        "no such file; training pairs are kept as text if the config says `keep_intermediate: true`",
        folder / "pairs/mix.tsv",
    )


def train(task: Task, setup: Setup, start: np.ndarray, *, rate: float, limit: float, end: str) -> Trained:
    """Train a library's model.

    Args:
        task: what on.
        setup: its library and loss.
        start: the embeddings to start from; not changed.
        rate: the learning rate.
        limit: in seconds.
        end: ``own end``: sentence-transformers makes one pass over the pairs, otherwise as many as there is time for.
            model2vec makes passes until it stops by itself.
    """
    import torch

    torch.manual_seed(task.settings.seed)
    if setup.library == SENTENCE_TRANSFORMERS:
        return _sentence_transformers(task, setup.loss, start.copy(), rate, limit, PASSES if end == OWN else None)
    return _model2vec(task, start.copy(), rate, limit)


def _sentence_transformers(
    task: Task, loss_name: str, rows: np.ndarray, rate: float, limit: float, passes: int | None
) -> Trained:
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.base.sampler import BatchSamplers
    from sentence_transformers.sentence_transformer import losses
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from torch.optim.lr_scheduler import LambdaLR
    from transformers import PrinterCallback, TrainerCallback

    class Stop(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            control.should_training_stop |= clock.over

    class WithinTime(SentenceTransformerTrainer):
        """The same linear schedule over the time limit, not the passes, so that the learning rate ends at 0."""

        def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> LambdaLR:
            def factor(step: int) -> float:
                done = clock.seconds / limit
                return max(0.0, min(done / WARMUP, (1 - done) / (1 - WARMUP)))

            self.lr_scheduler = LambdaLR(optimizer or self.optimizer, factor)
            return self.lr_scheduler

    def count(module: Any, inputs: Any, output: Any) -> None:
        (anchors, _), _ = inputs
        clock.pairs += len(anchors["offsets"])

    # It counts unknown subwords in the mean and trains their row; psp and model2vec leave them out.
    model = SentenceTransformer(modules=[StaticEmbedding(task.tokenizer, embedding_weights=rows)], device="cpu")
    # The mini-batched version, MegaBatchMarginLoss's default, cannot take a StaticEmbedding.
    loss = getattr(losses, loss_name)(model, **({"use_mini_batched_version": False} if loss_name == MARGIN else {}))
    data = Dataset.from_dict({"anchor": task.source, "positive": task.target})
    with tempfile.TemporaryDirectory(prefix="psp-libraries-") as scratch:
        arguments = SentenceTransformerTrainingArguments(
            output_dir=scratch,
            num_train_epochs=passes or 1_000_000,
            per_device_train_batch_size=BATCH,
            learning_rate=rate,
            warmup_steps=WARMUP,
            batch_sampler=BatchSamplers.NO_DUPLICATES,
            seed=task.settings.seed,
            use_cpu=True,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        kind = WithinTime if passes is None else SentenceTransformerTrainer
        trainer = kind(model=model, args=arguments, train_dataset=data, loss=loss, callbacks=[Stop()])
        trainer.remove_callback(PrinterCallback)
        loss.register_forward_hook(count)
        clock = Clock(limit)
        trainer.train()
        seconds = clock.seconds

    def encode(texts: Sequence[str]) -> np.ndarray:
        found: np.ndarray = model.encode(texts, batch_size=TEXTS, show_progress_bar=False)
        return found

    return Trained(clock.pairs, seconds, seconds >= limit, Embedder(encode))


class _Over(Exception):
    """The clock is over."""


def _model2vec(task: Task, rows: np.ndarray, rate: float, limit: float) -> Trained:
    from model2vec import StaticModel as Model2Vec
    from model2vec.train import StaticModelForPairSimilarity

    class Stoppable(StaticModelForPairSimilarity):
        def forward(self, batch: Any) -> Any:  # its loop takes no callback, but calls this at the start of each step
            if self.training:
                if clock.over:
                    raise _Over
                clock.pairs += len(batch.text_ids) // 2
            return super().forward(batch)

    static = Model2Vec(rows, task.tokenizer, max_length=None)  # the default cuts texts after 512 subwords
    model = Stoppable.from_static_model(model=static, n_layers=0)
    clock = Clock(limit)
    try:
        # Early stopping ends it, after 5 validations (of about four in a pass) without a lower loss: then the weights
        # of the best are kept, and otherwise those of the last step.
        model.fit(
            task.source,
            task.target,
            learning_rate=rate,
            text_a_val=task.heldout[0],  # by default, a part of the training pairs
            text_b_val=task.heldout[1],
            random_seed=task.settings.seed,
            device="cpu",
        )
        stopped = False
    except _Over:
        model.eval()
        stopped = True
    seconds = clock.seconds
    static = model.to_static_model()
    return Trained(clock.pairs, seconds, stopped, Embedder(static.encode))


# --------------------------------------------------------------------------------------------------------- measuring


@dataclass(frozen=True)
class Bench:
    """A model's folder, its test sets, and how others are measured beside it.

    Attributes:
        folder: the model's, under results/.
        sts, tatoeba: as for :func:`psp.evaluation.evaluate.evaluate`.
        out: where results go.
        seconds: the time limit.
        share: of it, for each learning rate that is tried.
        longest: seconds after which setups without that limit are stopped.
        threads: of each.
    """

    folder: Path
    sts: Path
    tatoeba: Mapping[str, tuple[Path, Path]]
    out: Path
    seconds: float
    share: float
    longest: float
    threads: int

    @classmethod
    def of(cls, options: argparse.Namespace) -> Bench:
        """Take the command line's options, and check that all files are there.

        Raises:
            DataError: one is missing.
        """
        folder = options.folder
        downloads = options.downloads or folder.parent / "downloads"
        report, config = (read_json(folder / name) for name in ("train/train.json", "model/config.json"))
        tatoeba = {
            language: tatoeba_files(downloads / "tatoeba/v1", language)
            for language in config["languages"]
            if tatoeba_code(language)
        }
        sts = downloads / "sts/STS.zip"
        files = [folder / "eval.json", folder / "store.h5", folder / "pairs/heldout.tsv", pairs_file(folder), sts]
        for path in (*files, *(file for pair in tatoeba.values() for file in pair)):
            if not path.exists():
                raise DataError("no such file", path)
        seconds = trained_seconds(folder) if options.seconds is None else options.seconds
        return cls(folder, sts, tatoeba, options.out, seconds, options.share, options.longest, report["threads"])

    def conditions(self) -> dict[str, Any]:
        """What all results have in common."""
        report = read_json(self.folder / "train/train.json")
        return {
            "model": self.folder.name,
            "pairs_sha256": sha256(pairs_file(self.folder)),
            "training_pairs": report["store_pairs"],
            "subwords": report["vocabulary"],
            "dim": report["settings"]["dim"],
            "threads": self.threads,
            "seconds": self.seconds,
            "share": self.share,
            "longest": self.longest,
            "cpu": processor(),
            "cores": len(usable_cores()),
            "evaluation": read_json(self.folder / "eval.json")["conditions"],
            "versions": versions(PACKAGES),
        }

    def development(self) -> Development:
        """The data of psp's validation score."""
        return Development.load(SEMEVAL, self.folder / "pairs/heldout.tsv", self.sts)

    def result(self, name: str) -> dict[str, Any] | None:
        """What was measured of a setup.

        Raises:
            DataError: under other conditions.
        """
        path = self.out / f"{name}.json"
        if not path.exists():
            return None
        found: dict[str, Any] = read_json(path)
        if found["conditions"] != self.conditions():
            raise DataError("was measured under other conditions; delete it, or name another --out", path)
        return found

    def resampled(self, name: str) -> dict[str, Floats]:
        """Its scores in each resample."""
        with np.load(self.out / f"{name}.npz") as file:
            return dict(file)


def trained_seconds(folder: Path) -> float:
    """The seconds of a model's training: the last row of timing.csv."""
    with (folder / "train/timing.csv").open(newline="") as file:
        return float(list(csv.DictReader(file))[-1]["seconds"])


def measure(bench: Bench, name: str) -> None:
    """Train a setup, score it, and write its result.

    Raises:
        DataError, PspError: as for :class:`Task`.
    """
    import torch

    setup, load = SETUPS[name], load_averages()
    torch.set_num_threads(bench.threads)
    task, development = Task(bench.folder, bench.threads), bench.development()
    rows, tried = task.rows(setup.start), []
    if len(setup.rates) > 1:
        limit = bench.share * bench.seconds
        for rate in setup.rates:
            trained = train(task, setup, rows, rate=rate, limit=limit, end=TIME)
            score = validated(development, trained.model)
            log.info("%s: learning rate %g for %.0f s: %s", name, rate, limit, score)
            tried.append({"learning_rate": rate, "pairs": trained.pairs, "seconds": trained.seconds, "score": score})
            del trained  # before the next: its table, gradients and moments are 0.8 GB
    scores = {one["learning_rate"]: one["score"] for one in tried if one["score"] is not None}
    rate = max(scores, key=lambda rate: scores[rate]) if scores else setup.rates[0]
    limit = bench.seconds if setup.end == TIME else bench.longest
    log.info("%s: learning rate %g, %.0f s at most", name, rate, limit)
    trained = train(task, setup, rows, rate=rate, limit=limit, end=setup.end)
    facts = setup._asdict() | {
        "learning_rate": rate,
        "tried": tried,
        "stopped": trained.stopped,
        "pairs": trained.pairs,
        "seconds": trained.seconds,
        "load_before": load,
    }
    write(bench, name, trained.model, development, facts)


def validated(development: Development, model: Embedder) -> float | None:
    """The validation score; None where training diverged, which is no error of a learning rate that is only tried."""
    try:
        found: float = development.score(EmbeddingScorer(model))["score"]
    except DataError:
        return None
    return found


def measure_psp(bench: Bench) -> None:
    """Score psp's own model, and write its result.

    Raises:
        DataError: the scores are not those of eval.json, so the test sets are others.
    """
    report, load = read_json(bench.folder / "train/train.json"), load_averages()
    facts: dict[str, Any] = {
        "library": PSP,
        "loss": report["settings"]["objective"],
        "start": "psp",
        "learning_rate": report["settings"]["learning_rate"],
        "tried": [],
        "end": f"{report['epochs']} passes",
        "stopped": False,
        "pairs": report["pairs_seen"],
        "seconds": trained_seconds(bench.folder),
        "load_before": load,
    }
    model = StaticModel.load(bench.folder / "model", threads=bench.threads)
    figures = write(bench, PSP, model, bench.development(), facts)
    expected = main_metrics(read_json(bench.folder / "eval.json"))
    if wrong := [name for name, value in figures.items() if expected.get(name) != value]:
        (bench.out / f"{PSP}.json").unlink()
        raise DataError(f"{wrong[0]} is {expected.get(wrong[0])} here, but {figures[wrong[0]]} on {bench.sts} and "
                        "Tatoeba; name the model's own --downloads", bench.folder / "eval.json")  # fmt: skip


def write(
    bench: Bench, name: str, model: Embedder | StaticModel, development: Development, facts: Mapping[str, Any]
) -> dict[str, float | None]:
    """Score what was trained and write its result; return its scores."""
    conditions = read_json(bench.folder / "eval.json")["conditions"]
    languages = read_json(bench.folder / "model/config.json")["languages"]
    drawn = dict[str, Floats]()
    scorer = EmbeddingScorer(model)
    body = evaluate(
        scorer, languages=languages, sts=bench.sts, tatoeba=bench.tatoeba, resampled=drawn,
        resamples=conditions["resamples"], seed=conditions["seed"],
    )  # fmt: skip
    figures: dict[str, float | None] = main_metrics(body)
    with atomic(bench.out / f"{name}.npz") as path, path.open("wb") as file:
        np.savez(file, **drawn)  # type: ignore[arg-type]
    result = {
        "format": FORMAT,
        "name": name,
        "measured": time.strftime("%Y-%m-%dT%H:%M:%S%z"),
        **facts,
        "load_after": load_averages(),
        "development": development.score(scorer),
        "figures": figures,
        "scores": {"tasks": {name: task for name, task in body["tasks"].items() if name != "files"}},
        "conditions": bench.conditions(),
    }
    write_json(bench.out / f"{name}.json", result)  # last, since a setup that has this file is finished
    return figures


# --------------------------------------------------------------------------------------------------------- the table


def summary(bench: Bench) -> dict[str, Any]:
    """All that has been measured, with differences from psp: the body of libraries.json."""
    psp = bench.result(PSP)
    assert psp is not None
    results = []
    for name in (PSP, *SETUPS):
        if (result := bench.result(name)) is None:
            continue
        if name != PSP:
            drawn = bench.resampled(name)
            result["differences"] = differences(psp["figures"], bench.resampled(PSP), result["figures"], drawn)
        results.append({key: value for key, value in result.items() if key not in ("format", "conditions")})
    return {"format": FORMAT, "conditions": bench.conditions(), "results": results}


def table(body: Mapping[str, Any]) -> str:
    """The numbers as a Markdown table; beside each score is its difference from psp's."""
    figures = body["results"][0]["figures"]
    columns = {"sts": "STS 2012-2016", "stsb/test": "STS-B test"}
    columns |= {name: name.replace("tatoeba/", "Tatoeba error ") for name in figures if name.startswith("tatoeba/")}
    head = ["", "start", "learning rate", "end", "pairs seen", "seconds", "pairs/s", "validation score"]
    head += [cell for title in columns.values() for cell in (title, "difference")]
    rows: list[list[Cell]] = []
    for result in body["results"]:
        rows.append(
            [
                result["library"] + ("" if result["library"] == PSP else f", {result['loss']}"),
                {"random": "random", "psp": "psp's initial"}[result["start"]],
                f"{result['learning_rate']:g}" + (f", best of {len(result['tried'])}" if result["tried"] else ""),
                result["end"] + (", cut off" if result["stopped"] and result["end"] != TIME else ""),
                f"{result['pairs']:,}",
                f"{result['seconds']:,.0f}",
                f"{result['pairs'] / result['seconds']:,.0f}",
                f"{result['development']['score']:.2f}",
            ]
        )
        intervals = {score.name: score.interval for score in scores_of(result["scores"])}
        for name in columns:
            against = result.get("differences", {}).get(name)
            rows[-1].append(_cell(result["figures"].get(name), intervals.get(name), ".2f"))
            rows[-1].append(_cell(against["difference"], against["interval"], "+.2f") if against else "")
    return Table(head, rows, range(4, len(head))).markdown()


def _cell(value: float | None, interval: Sequence[float] | None, form: str) -> str:
    if value is None:
        return "undefined"
    return f"{value:{form}}" + (f" [{interval[0]:{form}}, {interval[1]:{form}}]" if interval else "")


# -------------------------------------------------------------------------------------------------- the command line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the model's folder under results/")
    parser.add_argument("--setups", nargs="+", choices=SETUPS, default=[*SETUPS], help="default: all")
    parser.add_argument("--seconds", type=float, help="the time limit (default: the seconds of the model's training)")
    parser.add_argument(
        "--share", type=float, default=0.2, help="of the limit, for each learning rate tried (default: %(default)s)"
    )
    parser.add_argument(
        "--longest", type=float, default=1200, metavar="SECONDS",
        help="after which setups without the limit are cut off (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--downloads", type=Path, help="has sts/STS.zip and tatoeba/v1 (default: downloads beside the model's folder)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results/libraries"), help="folder of the results (default: %(default)s)"
    )
    parser.add_argument("--measure", choices=[PSP, *SETUPS], help=argparse.SUPPRESS)  # in this process
    options = parser.parse_args()
    with job(level=logging.WARNING):
        log.setLevel(logging.INFO)
        bench = Bench.of(options)
        if options.measure == PSP:
            measure_psp(bench)
        elif options.measure:
            measure(bench, options.measure)
        else:
            measure_all(bench, options.setups)


def measure_all(bench: Bench, names: Sequence[str]) -> None:
    """Measure setups, each in a process of its own, and write the table.

    Raises:
        PspError: setups failed, after all others were measured.
    """
    failed = []
    for name in (PSP, *names):
        if bench.result(name) is not None:
            log.info("%s: measured before", name)
            continue
        log.info("%s", name)
        status = _process(bench, name)
        if status and (name == PSP or status < 0 or status > 128):
            raise SystemExit(abs(status))  # nothing to compare with, or stopped
        if status:
            failed.append(name)
    body = summary(bench)
    write_json(bench.out / "libraries.json", body)
    with atomic_text(bench.out / "libraries.md") as file:
        file.write(table(body))
    print(table(body), end="")
    if failed:
        raise PspError(f"not measured, for the reasons above: {', '.join(failed)}; a new run measures only these")


def _process(bench: Bench, name: str) -> int:
    """Run this command for one setup; return its exit status."""
    root = str(Path(__file__).resolve().parents[1])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, **limits(bench.threads), "PYTHONPATH": path, "TQDM_DISABLE": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), *sys.argv[1:], "--measure", name]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    main()
