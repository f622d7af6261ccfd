"""psp beside sentence-transformers and model2vec, each trained on the same pairs in the same time: a table.

    python benchmarks/libraries.py results/fr

The folder is of a model that the workflow trained and evaluated with `keep_intermediate: true`, which keeps the pairs
as text. On these very pairs, with the model's subwords, dimensions, seed and threads, each setup of `--list` is trained
by the library's own training loop, in a process of its own. psp's evaluation scores all, through the library's own
`encode`, on the same bootstrap resamples, so that differences from psp are paired. The folder `--out` gets a JSON for
each setup when it is finished, and in the end a table, libraries.md, with all its numbers and their conditions in
libraries.json. What is finished is not measured again, unless what it depends on has changed.

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
with the best validation score of psp. What else had to be chosen was chosen by validation scores as well, as `--list`
says; test scores choose nothing.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from library_training import (
    FOUR,
    GUIDE,
    HEAD,
    MARGIN,
    MNRL,
    MODEL2VEC,
    MODULES,
    PASSES,
    SENTENCE_TRANSFORMERS,
    TABLE,
    Task,
    pairs_file,
    train,
)

from psp.core.errors import DataError, PspError
from psp.core.files import atomic, atomic_text, read_json, sha256, write_json
from psp.core.logs import job
from psp.core.machine import load_averages, processor, usable_cores, versions
from psp.evaluation.development import Development
from psp.evaluation.evaluate import EmbeddingScorer, evaluate
from psp.evaluation.resamples import differences
from psp.evaluation.scorers import Embedder, Floats
from psp.evaluation.speed.process import limits
from psp.evaluation.testsets import SEMEVAL, tatoeba_code, tatoeba_files
from psp.models.scores import main_metrics
from psp.models.scores import scores as scores_of
from psp.models.static import StaticModel
from psp.report.layout import layout

log = logging.getLogger("libraries")

FORMAT = 1
PSP = "psp"
#: Distributions whose versions a result depends on.
PACKAGES = (
    "torch", "numpy", "tokenizers", "sentencepiece", "sentence-transformers", "transformers", "accelerate", "datasets",
    "model2vec",
)  # fmt: skip
#: Settings of psp's training that also shape the libraries': dimensions, seed, and psp's initial embeddings.
INITIAL = ("dim", "seed", "init", "init_scale", "init_smoothing", "init_spelling")
TIME, OWN, PAIRS = "same time", "own end", "same pairs"


@dataclass(frozen=True)
class Setup:
    """A training with a library.

    Attributes:
        name: what ``--setups`` calls it.
        library: which one.
        loss: one of its losses.
        start: ``random``; ``psp``, psp's initial embeddings; or ``better``, the start of the best of ``after``.
        rate: ``guide``, the library's own learning rate; ``four``, the best of four; or ``best``, that of the best of
            ``after``.
        end: ``same time`` as psp; ``own end``; or ``same pairs``, as many passes as psp makes.
        after: earlier setups; the best is the one with the highest validation score.
        default: whether it is measured without being named.
    """

    name: str
    library: str
    loss: str
    start: str
    rate: str = "guide"
    end: str = TIME
    after: tuple[str, ...] = ()
    default: bool = True

    @property
    def rates(self) -> tuple[float, ...]:
        """The learning rates to choose from; none for ``best``."""
        return {"guide": (GUIDE[self.library],), "four": FOUR[self.library], "best": ()}[self.rate]

    def __str__(self) -> str:
        rates = " or ".join(f"{rate:g}" for rate in self.rates)
        starts = {"random": "random embeddings", "psp": "psp's initial embeddings", "better": "the better start"}
        said = f"{self.library}, {self.loss}; {starts[self.start]}, learning rate {rates or 'as the best'}; {self.end}"
        if self.after:
            said += f" (after {', '.join(self.after)})"
        return said if self.default else f"{said}; only if named"


_MNRL = ("st-mnrl-random", "st-mnrl-psp", "st-mnrl-best")
_MARGIN = ("st-margin-random", "st-margin-psp", "st-margin-best")
_M2V = ("m2v-random", "m2v-psp", "m2v-best")
#: The most important first, for those who stop early.
SETUPS = {
    setup.name: setup
    for setup in (
        Setup("st-mnrl-random", SENTENCE_TRANSFORMERS, MNRL, "random"),
        Setup("st-mnrl-psp", SENTENCE_TRANSFORMERS, MNRL, "psp"),
        Setup("m2v-random", MODEL2VEC, TABLE, "random"),
        Setup("m2v-psp", MODEL2VEC, TABLE, "psp"),
        Setup("st-mnrl-best", SENTENCE_TRANSFORMERS, MNRL, "better", "four", after=_MNRL[:2]),
        Setup("m2v-best", MODEL2VEC, TABLE, "better", "four", after=_M2V[:2]),
        Setup("st-margin-random", SENTENCE_TRANSFORMERS, MARGIN, "random"),
        Setup("st-margin-psp", SENTENCE_TRANSFORMERS, MARGIN, "psp"),
        Setup("st-margin-best", SENTENCE_TRANSFORMERS, MARGIN, "better", "four", after=_MARGIN[:2]),
        Setup("m2v-head", MODEL2VEC, HEAD, "better", after=_M2V[:2]),
        Setup("st-mnrl-own", SENTENCE_TRANSFORMERS, MNRL, "better", "best", OWN, _MNRL),
        Setup("st-margin-own", SENTENCE_TRANSFORMERS, MARGIN, "better", "best", OWN, _MARGIN),
        Setup("m2v-own", MODEL2VEC, TABLE, "better", "best", OWN, _M2V),
        Setup("st-mnrl-pairs", SENTENCE_TRANSFORMERS, MNRL, "better", "best", PAIRS, _MNRL, default=False),
    )
}


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
        chosen: a start and a learning rate that an earlier run chose, for setups whose rate is ``best``: what they come
            after is then not needed.
    """

    folder: Path
    sts: Path
    tatoeba: Mapping[str, tuple[Path, Path]]
    out: Path
    seconds: float
    share: float
    longest: float
    threads: int
    chosen: tuple[str, float] | None = None

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
            language: tatoeba_files(options.tatoeba or downloads / "tatoeba/v1", language)
            for language in config["languages"]
            if tatoeba_code(language)
        }
        sts = options.sts or downloads / "sts/STS.zip"
        files = [folder / "eval.json", folder / "store.h5", folder / "pairs/heldout.tsv", pairs_file(folder), sts]
        for path in (*files, *(file for pair in tatoeba.values() for file in pair)):
            if not path.exists():
                raise DataError("no such file", path)
        return cls(
            folder,
            sts,
            tatoeba,
            options.out,
            trained_seconds(folder) if options.seconds is None else options.seconds,
            options.share,
            options.longest,
            report["threads"] if options.threads is None else options.threads,
            None if options.chosen is None else (options.chosen[0], float(options.chosen[1])),
        )

    def tests(self) -> dict[str, Any]:
        """The arguments of :func:`psp.evaluation.evaluate.evaluate`, with the resamples of eval.json."""
        conditions = read_json(self.folder / "eval.json")["conditions"]
        languages = read_json(self.folder / "model/config.json")["languages"]
        resamples = {key: conditions[key] for key in ("resamples", "seed")}
        return {"languages": languages, "sts": self.sts, "tatoeba": self.tatoeba, **resamples}

    def development(self) -> Development:
        """The data of psp's validation score."""
        return Development.load(SEMEVAL, self.folder / "pairs/heldout.tsv", self.sts)

    def result(self, name: str) -> dict[str, Any] | None:
        """What was measured of a setup."""
        path = self.out / f"{name}.json"
        return read_json(path) if path.exists() else None

    def resampled(self, name: str) -> dict[str, Floats]:
        """Its scores in each resample, by model and score."""
        with np.load(self.out / f"{name}.npz") as file:
            return dict(file)

    def identity(self, setup: Setup | None) -> dict[str, Any]:
        """What a result depends on, as JSON; None: psp's own."""
        settings = read_json(self.folder / "train/train.json")["settings"]
        model = self.folder / "model"
        files = [pairs_file(self.folder), model / "sentencepiece.model"]
        files += [model / "model.safetensors"] if setup is None else []
        found: dict[str, Any] = {
            "files": {path.name: sha256(path) for path in files},
            "evaluation": read_json(self.folder / "eval.json")["conditions"],
        }
        if setup is not None:
            earlier = {name: self.result(name) for name in setup.after}
            found |= {
                "settings": {key: value for key, value in settings.items() if key in INITIAL},
                "setup": {key: list(value) if key == "after" else value for key, value in asdict(setup).items()},
                "rates": list(setup.rates),
                "seconds": self.seconds if setup.end == TIME else None,
                "share": self.share if setup.rate == "four" else None,
                "threads": self.threads,
                "after": {name: result and result["measured"] for name, result in earlier.items()},
                "versions": versions(PACKAGES),
            }
            if self.given(setup):
                found |= {"after": {}, "chosen": list(self.given(setup) or ())}
        return found

    def given(self, setup: Setup) -> tuple[str, float] | None:
        """The start and learning rate that ``--chosen`` names, if it is for this setup."""
        return self.chosen if setup.rate in ("best", "four") else None

    def valid(self, setup: Setup | None) -> dict[str, Any] | None:
        """What was measured of a setup, if nothing that it depends on has changed."""
        found = self.result(PSP if setup is None else setup.name)
        return found if found is not None and found["identity"] == self.identity(setup) else None

    def finished(self, setup: Setup | None) -> bool:
        """Whether a setup need not be measured again."""
        found = self.valid(setup)
        if found is None:
            return False
        return setup is None or setup.end == TIME or not found["stopped"] or found["limit"] >= self.longest


def trained_seconds(folder: Path) -> float:
    """The seconds of a model's training: the last row of timing.csv.

    Raises:
        DataError: there is none.
    """
    path = folder / "train/timing.csv"
    try:
        with path.open(newline="") as file:
            return float(list(csv.DictReader(file))[-1]["seconds"])
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror}); train the model again", path) from None
    except (IndexError, KeyError, ValueError):
        raise DataError("has no row with seconds; train the model again", path) from None


# --------------------------------------------------------------------------------------------------------- measuring


def measure(bench: Bench, setup: Setup) -> None:
    """Train a setup, score it, and write its result.

    Raises:
        PspError: an earlier setup that it depends on has not been measured; or as for :class:`Task`.
    """
    import torch

    identity, load = bench.identity(setup), load_averages()
    start, best_rate = chosen(bench, setup)
    torch.set_num_threads(bench.threads)
    task, development = Task(bench.folder, bench.threads), bench.development()
    rows = task.rows(start)
    rates, tried = (best_rate,) if bench.given(setup) else setup.rates or (best_rate,), []
    if len(rates) > 1:
        seconds = bench.share * bench.seconds
        for rate in rates:
            trained = train(task, setup.library, setup.loss, rows, rate=rate, limit=seconds, passes=None)
            score = _validated(development, next(iter(trained.models.values())))
            log.info("%s: learning rate %g for %.0f s: %s", setup.name, rate, seconds, score["score"])
            tried.append({"learning_rate": rate, "pairs": trained.pairs, "seconds": trained.seconds, **score})
            del trained  # before the next: its table, gradients and moments are 0.8 GB
    scores = {one["learning_rate"]: one["score"] for one in tried if one["score"] is not None}
    rate = max(scores, key=lambda rate: scores[rate]) if scores else rates[0]
    same = [name for name in setup.after if _is_same(bench.result(name), start, rate)]
    if tried and same:  # this has been trained already
        shutil.copyfile(bench.out / f"{same[0]}.npz", bench.out / f"{setup.name}.npz")
        its = {"name": setup.name, "same_as": same[0], "measured": _now(), "tried": tried, "identity": identity}
        write_json(bench.out / f"{setup.name}.json", {**(bench.result(same[0]) or {}), **its})
        return
    limit = bench.seconds if setup.end == TIME else bench.longest
    passes = {TIME: None, OWN: PASSES, PAIRS: task.settings.epochs}[setup.end]
    log.info("%s: learning rate %g, %.0f s at most", setup.name, rate, limit)
    trained = train(task, setup.library, setup.loss, rows, rate=rate, limit=limit, passes=passes)
    log.info("%s: %d pairs in %.1f s", setup.name, trained.pairs, trained.seconds)
    facts: dict[str, Any] = {
        "library": setup.library,
        "loss": setup.loss,
        "start": start,
        "learning_rate": rate,
        "tried": tried,
        "batch_size": trained.batch_size,
        "end": setup.end,
        "limit": limit,
        "stopped": trained.stopped,
        "pairs": trained.pairs,
        "seconds": trained.seconds,
        "load_before": load,
    }
    write(bench, setup.name, trained.models, development, facts, identity)


def _validated(development: Development, model: Embedder) -> dict[str, Any]:
    """The validation score; None where training diverged, which is no error of a learning rate that is only tried."""
    try:
        return development.score(EmbeddingScorer(model))
    except DataError:
        return {"score": None}


def _is_same(result: Mapping[str, Any] | None, start: str, rate: float) -> bool:
    return result is not None and (result["start"], result["learning_rate"]) == (start, rate)


def chosen(bench: Bench, setup: Setup) -> tuple[str, float]:
    """The start of a setup; and the learning rate of the best of those before it, or its first.

    Raises:
        PspError: one of those has not been measured.
    """
    if not setup.after:
        return setup.start, setup.rates[0]
    if given := bench.given(setup):
        return given
    results = {name: bench.valid(SETUPS[name]) for name in setup.after}
    if missing := [name for name, result in results.items() if result is None]:
        raise PspError(f"{setup.name} depends on {', '.join(missing)}; name them before it in --setups")
    best = max(filter(None, results.values()), key=lambda result: result["models"][0]["development"]["score"])
    return best["start"], best["learning_rate"]


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
        "batch_size": report["settings"]["batch_size"],
        "end": f"{report['epochs']} passes",
        "limit": None,
        "stopped": False,
        "pairs": report["pairs_seen"],
        "seconds": trained_seconds(bench.folder),
        "load_before": load,
    }
    model = StaticModel.load(bench.folder / "model", threads=bench.threads)
    figures = write(bench, PSP, {"": model}, bench.development(), facts, bench.identity(None))
    expected = main_metrics(read_json(bench.folder / "eval.json"))
    if wrong := [name for name, value in figures.items() if expected.get(name) != value]:
        (bench.out / f"{PSP}.json").unlink()
        raise DataError(f"{wrong[0]} is {expected.get(wrong[0])} here, but {figures[wrong[0]]} on {bench.sts} and "
                        "Tatoeba; name the model's own test sets", bench.folder / "eval.json")  # fmt: skip


def write(
    bench: Bench,
    name: str,
    models: Mapping[str, Embedder],
    development: Development,
    facts: Mapping[str, Any],
    identity: Mapping[str, Any],
) -> dict[str, float | None]:
    """Score what was trained and write its result; return the scores of the first model."""
    scored: list[dict[str, Any]] = []
    resampled: dict[str, Floats] = {}
    for model, embedder in models.items():
        scorer, drawn = EmbeddingScorer(embedder), dict[str, Floats]()
        body = evaluate(scorer, resampled=drawn, **bench.tests())
        scores = {"tasks": {name: task for name, task in body["tasks"].items() if name != "files"}}
        scored.append(
            {"name": model, "development": development.score(scorer), "figures": main_metrics(body), "scores": scores}
        )
        resampled |= {f"{model}/{figure}": values for figure, values in drawn.items()}
    with atomic(bench.out / f"{name}.npz") as path, path.open("wb") as file:
        np.savez(file, **resampled)  # type: ignore[arg-type]
    result = {"format": FORMAT, "name": name, "measured": _now(), **facts, "load_after": load_averages()}
    # Last, since a setup that has this file is finished.
    write_json(bench.out / f"{name}.json", result | {"models": scored, "identity": identity})
    figures: dict[str, float | None] = scored[0]["figures"]
    return figures


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


# --------------------------------------------------------------------------------------------------------- the table


def summary(bench: Bench) -> dict[str, Any]:
    """All that has been measured, with differences from psp: the body of libraries.json."""
    results = []
    for name, setup in {PSP: None, **SETUPS}.items():
        if (result := bench.valid(setup)) is None:
            continue
        if setup is not None:
            result["models"] = [one | {"differences": _against_psp(bench, name, one)} for one in result["models"]]
        results.append({key: value for key, value in result.items() if key not in ("format", "identity")})
    report = read_json(bench.folder / "train/train.json")
    return {
        "format": FORMAT,
        "model": bench.folder.name,
        "conditions": {
            "cpu": processor(),
            "cores": len(usable_cores()),
            "threads": bench.threads,
            "seconds": bench.seconds,
            "share": bench.share,
            "longest": bench.longest,
            "dim": report["settings"]["dim"],
            "subwords": report["vocabulary"],
            "training_pairs": report["store_pairs"],
            "evaluation": read_json(bench.folder / "eval.json")["conditions"],
            "versions": versions(PACKAGES),
        },
        "results": results,
    }


def _against_psp(bench: Bench, name: str, model: Mapping[str, Any]) -> dict[str, Any]:
    psp = bench.result(PSP)
    assert psp is not None
    drawn, ours = bench.resampled(name), bench.resampled(PSP)
    mine = {key.removeprefix(f"{model['name']}/"): value for key, value in drawn.items()}
    theirs = {key.removeprefix("/"): value for key, value in ours.items()}
    return differences(psp["models"][0]["figures"], theirs, model["figures"], mine)


def table(body: Mapping[str, Any]) -> str:
    """The numbers as a Markdown table; beside each score is its difference from psp's."""
    figures = body["results"][0]["models"][0]["figures"]
    columns = {"sts": "STS 2012-2016", "stsb/test": "STS-B test"}
    columns |= {name: name.replace("tatoeba/", "Tatoeba error ") for name in figures if name.startswith("tatoeba/")}
    head = ["", "start", "learning rate", "end", "pairs seen", "seconds", "pairs/s", "validation score"]
    rows = [[*head, *(cell for title in columns.values() for cell in (title, "difference"))]]
    for result in body["results"]:
        for model in result["models"]:
            loss = "" if result["library"] == PSP else result["loss"]
            rows.append(
                [
                    ", ".join(filter(None, [result["library"], loss, model["name"]])),
                    {"random": "random", "psp": "psp's initial"}[result["start"]],
                    f"{result['learning_rate']:g}" + (f", best of {len(result['tried'])}" if result["tried"] else ""),
                    result["end"] + (", cut off" if result["stopped"] and result["end"] != TIME else ""),
                    f"{result['pairs']:,}",
                    f"{result['seconds']:,.0f}",
                    f"{result['pairs'] / result['seconds']:,.0f}",
                    f"{model['development']['score']:.2f}",
                ]
            )
            for name in columns:
                against = model.get("differences", {}).get(name)
                rows[-1].append(_cell(model["figures"].get(name), _interval(model["scores"], name), ".2f"))
                rows[-1].append(_cell(against["difference"], against["interval"], "+.2f") if against else "")
    return layout(rows, "markdown", right=range(4, len(rows[0])))


def _interval(scores: Mapping[str, Any], name: str) -> Sequence[float] | None:
    """The interval of a score by its name in :func:`psp.models.scores.main_metrics`."""
    return next((score.interval for score in scores_of(scores) if score.name == name), None)


def _cell(value: float | None, interval: Sequence[float] | None, form: str) -> str:
    if value is None:
        return "undefined"
    return f"{value:{form}}" + (f" [{interval[0]:{form}}, {interval[1]:{form}}]" if interval else "")


# -------------------------------------------------------------------------------------------------- the command line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="the model's folder under results/")
    parser.add_argument("--list", action="store_true", help="only list the setups")
    parser.add_argument("--setups", nargs="+", choices=SETUPS, metavar="SETUP", help="those to measure")
    parser.add_argument("--seconds", type=float, help="the time limit (default: the seconds of the model's training)")
    parser.add_argument(
        "--share", type=float, default=0.2, help="of the limit, for each learning rate tried (default: %(default)s)"
    )
    parser.add_argument(
        "--longest", type=float, default=1200, metavar="SECONDS",
        help="after which setups without the limit are cut off (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--threads", type=int, help="default: those of the model's training")
    parser.add_argument("--downloads", type=Path, help="default: downloads beside the model's folder")
    parser.add_argument("--sts", type=Path, help="archive or folder of STS sets (default: sts/STS.zip in --downloads)")
    parser.add_argument("--tatoeba", type=Path, help="folder of Tatoeba sets (default: tatoeba/v1 in --downloads)")
    parser.add_argument(
        "--out", type=Path, default=Path("results/libraries"), help="folder of the results (default: %(default)s)"
    )
    parser.add_argument(
        "--chosen", nargs=2, metavar=("START", "RATE"),
        help="random or psp, and a learning rate, which an earlier run chose, for setups that take those of the best",
    )  # fmt: skip
    parser.add_argument("--measure", choices=[PSP, *SETUPS], help=argparse.SUPPRESS)  # in this process
    options = parser.parse_args()
    if options.list:
        for setup in SETUPS.values():
            print(f"{setup.name:16}  {setup}")
        return
    if options.folder is None:
        parser.error("name the model's folder, such as results/fr")
    with job(level=logging.WARNING):
        log.setLevel(logging.INFO)
        bench = Bench.of(options)
        if options.measure == PSP:
            measure_psp(bench)
        elif options.measure:
            measure(bench, SETUPS[options.measure])
        else:
            setups = [SETUPS[name] for name in options.setups or SETUPS]
            measure_all(bench, [setup for setup in setups if options.setups or setup.default])


def measure_all(bench: Bench, setups: Sequence[Setup]) -> None:
    """Measure setups, each in a process of its own, and write the table.

    Raises:
        PspError: a package is missing; or setups failed, after all others were measured.
    """
    for one in setups:
        for module in MODULES[one.library]:
            if importlib.util.find_spec(module) is None:
                raise PspError(f"{one.name} needs the package {module}: pip install 'paraphrastic[benchmarks]'")
    failed = []
    wanted: dict[str, Setup | None] = {PSP: None, **{setup.name: setup for setup in setups}}
    for name, setup in wanted.items():
        if bench.finished(setup):
            log.info("%s: measured before", name)
            continue
        log.info("%s", f"{name}: {setup or 'its own scores'}")
        status = _process(bench, name)
        if status and (setup is None or status < 0 or status > 128):
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
