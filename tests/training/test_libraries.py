"""Other libraries trained on a model's pairs: benchmarks/libraries.py."""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from psp.config.blocks.evaluation import SEMEVAL
from psp.core.errors import DataError
from psp.core.files import read_json
from psp.evaluation.development import Development
from psp.evaluation.evaluate import evaluate_model
from psp.models.cosines import cosines
from psp.training.loop import Training
from tests.short_scores import in_full
from tests.training.conftest import CONFIG, corpus, make

FOLDER = Path(__file__).parents[2] / "benchmarks"
FACTS = {
    "library": "model2vec",
    "loss": "InfoNCE, no head",
    "start": "random",
    "learning_rate": 0.01,
    "tried": [],
    "end": "same time",
    "stopped": True,
    "pairs": 3000,
    "seconds": 2.0,
}


@pytest.fixture(scope="module")
def libraries() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        spec = importlib.util.spec_from_file_location("libraries", FOLDER / "libraries.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        patch.setitem(sys.modules, "libraries", module)  # dataclasses look there
        spec.loader.exec_module(module)
        yield module


def archive(path: Path) -> Path:
    """Sets of the first made-up language: pairs of sentences, scored by how many of the first's words are kept."""
    rng, sentences = np.random.default_rng(4), corpus(400, seed=5)[0]

    def graded(count: int) -> list[tuple[int, str, str]]:
        found = []
        for _ in range(count):
            one, other = (sentences[i].split() for i in rng.integers(0, len(sentences), 2))
            kept = int(rng.integers(0, len(one) + 1))
            found.append((round(5 * kept / len(one)), " ".join(one), " ".join(one[:kept] + other[kept:] or other)))
        return found

    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w") as file:
        for folder, name in (("STS12-en-test", "MSRpar"), ("STS17-test", "track5.en-en")):
            rows = graded(60)
            file.writestr(f"STS/{folder}/STS.input.{name}.txt", "".join(f"{a}\t{b}\n" for _, a, b in rows))
            file.writestr(f"STS/{folder}/STS.gs.{name}.txt", "".join(f"{score}\n" for score, _, _ in rows))
        rows = "".join(f"g\tf\ty\t{i}\t{score}\t{a}\t{b}\n" for i, (score, a, b) in enumerate(graded(40)))
        file.writestr("STS/STSBenchmark/sts-test.csv", rows)
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model's folder, as the workflow makes it, and the downloads beside it."""
    results = tmp_path_factory.mktemp("results")
    folder, sts = results / "fr", archive(results / "downloads/sts/STS.zip")
    made = make(folder, corpus(1500, seed=1), 300)
    (folder / "pairs").mkdir()
    (folder / "mix.tsv").rename(folder / "pairs/mix.tsv")
    heldout = "".join(f"{a}\t{b}\t0\n" for a, b in zip(*corpus(100, seed=2), strict=True))
    (folder / "pairs/heldout.tsv").write_text(heldout)
    tatoeba = {
        "fr": (
            results / "downloads/tatoeba/v1/tatoeba.fra-eng.fra",
            results / "downloads/tatoeba/v1/tatoeba.fra-eng.eng",
        )
    }
    tatoeba["fr"][0].parent.mkdir(parents=True)
    for path, side in zip(tatoeba["fr"], reversed(made.unseen), strict=True):
        path.write_text("".join(f"{line}\n" for line in side))
    development = Development.load(SEMEVAL, folder / "pairs/heldout.tsv", sts)
    settings = {"dim": 24, "batch_size": 64, "epochs": 4, "log_every": 10}
    Training(
        made.store,
        made.sentencepiece,
        folder / "model",
        folder / "train",
        settings,
        development,
        threads=1,
        model_config=CONFIG,
    ).run()
    tests: dict[str, Any] = {"languages": ["en", "fr"], "sts": sts, "tatoeba": tatoeba, "resamples": 50, "seed": 1}
    evaluate_model(folder / "model", folder / "eval.json", name="fr", **tests)
    return folder


def options(trained: Path, out: Path, **given: Any) -> argparse.Namespace:
    return argparse.Namespace(
        folder=trained, out=out, **{"seconds": 1.0, "share": 0.5, "longest": 2.0, "downloads": None, **given}
    )


@pytest.fixture
def bench(libraries: ModuleType, trained: Path, tmp_path: Path) -> Any:
    return libraries.Bench.of(options(trained, tmp_path))


def needs(*modules: str) -> pytest.MarkDecorator:
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{missing} is not installed (the extra benchmarks)")


both = needs("sentence_transformers", "model2vec", "datasets", "accelerate")


@pytest.mark.slow
@both
def test_with_psps_table_the_libraries_vectors_are_psps(libraries: ModuleType, bench: Any) -> None:
    task = libraries.Task(bench.folder, 1)
    table = libraries.export.table(task.model)
    texts = [
        *task.source[:50],
        *task.target[:50],
        task.source[0].upper(),
        f"{task.source[1]} 日本",
        "  " + task.target[2],
    ]
    ours = task.model.embed_raw_text(texts)
    for name in ("st-random", "m2v-random"):
        # Time is over before the first step has changed anything.
        untrained = libraries.train(task, libraries.SETUPS[name], table, rate=0.1, limit=1e-9, end=libraries.TIME)
        assert cosines(ours, untrained.model.embed_raw_text(texts)).min() > 0.9999, name
        assert untrained.stopped


@pytest.mark.slow
@both
def test_each_library_learns_and_stops_in_time(
    libraries: ModuleType, bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From both starts, at the best of several rates, with each loss, and to the own end."""
    # A second is 5,000 pairs here: what is learnt by then does not depend on what else the machine does.
    monkeypatch.setattr(libraries.Clock, "seconds", property(lambda clock: clock.pairs / 5000))
    bench = dataclasses.replace(bench, seconds=3.0)
    libraries.measure_psp(bench)
    names = ("st-random", "m2v-random", "m2v-best", "st-margin", "m2v-own")
    for name in names:
        libraries.measure(bench, name)
    results = {name: bench.result(name) for name in names}
    for name, result in results.items():
        assert result["seconds"] < 3.2, name  # it stops after the step in which the limit was reached
        assert result["pairs"] > 0
    best = results["m2v-best"]
    # It is 99 by chance.
    assert all(results[name]["development"]["error"] < 95 for name in ("st-random", "st-margin"))
    assert best["development"]["error"] < 60
    assert [one["learning_rate"] for one in best["tried"]] == list(libraries.FOUR["model2vec"])
    assert best["learning_rate"] == max(best["tried"], key=lambda one: one["score"])["learning_rate"]
    body = libraries.summary(bench)
    assert [result["name"] for result in body["results"]] == ["psp", *(n for n in libraries.SETUPS if n in names)]
    assert body["results"][0]["seconds"] == libraries.trained_seconds(bench.folder)
    assert len(libraries.table(body).splitlines()) == 2 + 1 + len(names)
    # What is finished is not measured again, but under other conditions it is refused.
    other = libraries.Bench.of(options(bench.folder, bench.out, seconds=0.5))
    with pytest.raises(DataError, match=r"psp\.json: was measured under other conditions; delete it"):
        libraries.summary(other)
    command = [sys.executable, str(FOLDER / "libraries.py"), str(bench.folder), "--out", str(bench.out)]
    limits = ["--seconds", "3", "--share", "0.5", "--longest", "2"]
    done = subprocess.run([*command, *limits, "--setups", *names], capture_output=True, text=True, check=True)
    assert done.stdout == (bench.out / "libraries.md").read_text() == libraries.table(body)
    assert read_json(bench.out / "libraries.json") == body


def result(name: str, score: float, **facts: Any) -> dict[str, Any]:
    figures = {"sts": 60.0 + score, "stsb/test": 50.0, "tatoeba/fra-eng": 12.0}
    scores = in_full({
        "sts": {"average": {"pearson_mean": 60.0, "pearson_mean_interval": [58.0, 62.0]}},
        "stsb": {"test": {"pearson": 50.0, "pearson_interval": [40.0, 60.0]}},
        "tatoeba": {"fra": {"fra-eng": {"error": 12.0, "interval": [10.0, 14.0]}}},
    })  # fmt: skip
    measured = {"development": {"score": score}, "figures": figures, "scores": scores}
    return {"name": name, "measured": "then", **FACTS, **facts, **measured}


def test_the_table_has_each_score_and_its_difference_from_psps(libraries: ModuleType) -> None:
    psp = result("psp", 80.0, library="psp", loss="infonce", start="psp", end="6 passes", stopped=False)
    other = result("m2v-own", 70.125, tried=[{}, {}], end="own end")
    other["differences"] = {
        "sts": {"difference": -9.875, "interval": [-11.0, -8.0]},
        "stsb/test": {"difference": None, "interval": None},
        "tatoeba/fra-eng": {"difference": 2.0, "interval": [0.5, 3.5]},
    }
    _, _, ours, theirs = libraries.table({"results": [psp, other]}).splitlines()
    assert ours.startswith(
        "| psp | psp's initial | 0.01 | 6 passes | 3,000 | 2 | 1,500 | 80.00 | 140.00 [58.00, 62.00] |  | "
    )
    assert theirs == (
        "| model2vec, InfoNCE, no head | random | 0.01, best of 2 | own end, cut off | 3,000 | 2 | 1,500 | 70.12 | "
        "130.12 [58.00, 62.00] | -9.88 [-11.00, -8.00] | 50.00 [40.00, 60.00] | undefined | "
        "12.00 [10.00, 14.00] | +2.00 [+0.50, +3.50] |"
    )


def test_what_is_missing_is_said_in_one_line(libraries: ModuleType, trained: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere/train/train\.json: no such file"):
        libraries.Bench.of(options(tmp_path / "nowhere", tmp_path))
    with pytest.raises(DataError, match=r"sts/STS\.zip: no such file"):
        libraries.Bench.of(options(trained, tmp_path, downloads=tmp_path))
    for name in ("model", "train", "eval.json", "store.h5"):
        (tmp_path / name).symlink_to(trained / name)
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs/heldout.tsv").symlink_to(trained / "pairs/heldout.tsv")
    given = options(tmp_path, tmp_path / "out", downloads=trained.parent / "downloads")
    with pytest.raises(DataError, match=r"pairs/mix\.tsv: no such file; .*`keep_intermediate: true`"):
        libraries.Bench.of(given)


def test_other_test_sets_than_those_of_eval_json_are_an_error(
    libraries: ModuleType, trained: Path, tmp_path: Path
) -> None:
    shutil.copytree(trained.parent / "downloads", tmp_path / "downloads")
    files = tmp_path / "downloads/tatoeba/v1"
    for suffix, step in (("fra", 1), ("eng", -1)):  # line n no longer translates line n
        lines = (files / f"tatoeba.fra-eng.{suffix}").read_text().splitlines(keepends=True)
        (files / f"tatoeba.fra-eng.{suffix}").write_text("".join(lines[::step]))
    bench = libraries.Bench.of(options(trained, tmp_path / "out", downloads=tmp_path / "downloads"))
    with pytest.raises(
        DataError, match=r"eval\.json: tatoeba/fra-eng is .* here, but .* name the model's own --downloads"
    ):
        libraries.measure_psp(bench)
    assert bench.result("psp") is None
