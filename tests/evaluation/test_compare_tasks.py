"""Differences between systems on tasks: each against a plain bootstrap, and what cannot be subtracted."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import average_precision_score, f1_score

from psp.core.errors import DataError
from psp.core.files import read_json, write_json
from psp.evaluation import bootstrap, probes
from psp.evaluation.baselines import WordOverlap
from psp.evaluation.compare import task_differences
from psp.evaluation.scorers import EmbeddingScorer
from psp.evaluation.task import evaluate_system_task
from psp.evaluation.tasks import make
from psp.evaluation.tasks.classification import _fitted
from psp.evaluation.tasks.pair_classification import best_threshold
from psp.report import task_table
from tests.evaluation.tasks.conftest import HASHED, Hashed, features, related, sentences, write

#: A system that knows less: its vectors have fewer dimensions.
SMALL = EmbeddingScorer(Hashed(dim=4))
RESAMPLES, SEED = 150, 3
Measure = Callable[[Any, Any], float]


def scored(scorer: Any, entry: dict[str, Any], out: Path, **about: Any) -> Path:
    about = {"model": "x", "name": "set", "resamples": RESAMPLES, "seed": SEED, **about}
    evaluate_system_task(scorer, out, entry, **about)
    return out


def both(entry: dict[str, Any], folder: Path) -> tuple[Path, Path]:
    own, other = (folder / name / "tasks/set.json" for name in ("own", "other"))
    return scored(HASHED, entry, own), scored(SMALL, entry, other)


def naive(own: list[Any], other: list[Any], gold: Any, measure: Measure, part: str) -> tuple[float, list[float]]:
    """The difference and its interval by a loop over resamples: the mean over seeds of a measure of the items drawn."""

    def mean(found: list[Any], rows: Any) -> float:
        return float(np.mean([measure(one[rows], gold[rows]) for one in found]))

    counts = bootstrap.resample_counts(len(gold), RESAMPLES, SEED, f"tasks/set/{part}")
    drawn = [np.repeat(np.arange(len(gold)), one) for one in counts]
    lost = [mean(other, rows) - mean(own, rows) for rows in drawn]
    whole = np.arange(len(gold))
    return mean(other, whole) - mean(own, whole), list(np.quantile(lost, [0.025, 0.975]))


def check(found: dict[str, Any], expected: tuple[float, list[float]]) -> None:
    assert found["difference"] == pytest.approx(expected[0], abs=1.1e-4)  # of scores with four decimals
    assert found["interval"] == pytest.approx(expected[1], abs=1e-4)


def accuracy(found: Any, gold: Any) -> float:
    return float(100 * (found == gold).mean())


def test_similarity(tmp_path: Path) -> None:
    pairs = list(zip(sentences(60, 1), sentences(60, 2), strict=True))
    gold = np.array([len({*a.split()} & {*b.split()}) + n % 3 / 3 for n, (a, b) in enumerate(pairs)])
    path = write(tmp_path / "x.tsv", [f"{score}\t{a}\t{b}" for score, (a, b) in zip(gold, pairs, strict=True)])
    found = task_differences(*both({"task": "similarity", "path": str(path)}, tmp_path))["x"]
    own, other = (np.asarray(one.pairwise(*map(list, zip(*pairs, strict=True)))) for one in (HASHED, SMALL))
    for figure, function in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):

        def measure(x: Any, y: Any, function: Any = function) -> float:
            return 100 * float(function(x, y).statistic)

        check(found[figure], naive([own], [other], gold, measure, "x"))


def test_pair_classification(tmp_path: Path) -> None:
    a = sentences(60, 1)
    b = [
        f"{' '.join(one.split()[: 1 + n % 5])} {other}"
        for n, (one, other) in enumerate(zip(a, sentences(60, 2), strict=True))
    ]
    label = np.array([n % 5 > 1 for n in range(60)])
    path = write(tmp_path / "x.tsv", [f"{int(one)}\t{x}\t{y}" for one, x, y in zip(label, a, b, strict=True)])
    found = task_differences(*both({"task": "pair_classification", "path": str(path)}, tmp_path))["all"]
    own, other = (np.asarray(one.pairwise(a, b)) for one in (HASHED, SMALL))
    precision = lambda x, y: 100 * float(average_precision_score(y, x))  # noqa: E731
    check(found["average_precision"], naive([own], [other], label, precision, ""))
    # Each with its own threshold, chosen once and not in each resample.
    called = [x >= best_threshold(x, label) for x in (own, other)]
    check(found["accuracy"], naive(called[:1], called[1:], label, accuracy, ""))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Texts of two topics, of which some have a word of the other's."""
    for seed, (part, count) in enumerate({"train": 60, "dev": 30, "test": 50}.items()):
        texts = sentences(count, seed, vocabulary=30)
        rows = [f"{n % 2} {text}{' late' * (n % 4 == 1)}{' soon' * (n % 3 == 0)}" for n, text in enumerate(texts)]
        write(tmp_path / f"set/{part}.txt", rows)
    return tmp_path / "set"


def test_classification_and_its_f1(tmp_path: Path) -> None:
    parts = {}
    for seed, (part, count) in enumerate({"train": 60, "dev": 30, "test": 50}.items()):
        a, b = sentences(count, seed), sentences(count, seed + 10)
        b = [f"{x} {y}" if n % 2 else y for n, (x, y) in enumerate(zip(a, b, strict=True))]
        rows = [f"{n % 2}\t1\t2\t{x}\t{y}" for n, (x, y) in enumerate(zip(a, b, strict=True))]
        parts[part] = write(tmp_path / f"{part}.tsv", ["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", *rows])
    entry = {"task": "classification", "layout": "mrpc", "train": str(parts["train"]), "dev": str(parts["dev"])}
    own, other = both({**entry, "path": str(parts["test"])}, tmp_path)
    found = task_differences(own, other)["all"]
    task, predicted = make({**entry, "path": str(parts["test"])}), []
    gold, train = (np.array([int(one) for one in part.labels]) for part in task.parts[:2])
    for scorer, result in ((HASHED, own), (SMALL, other)):
        (c,) = json.loads(result.read_text())["parts"]["all"]["further"]["regularisation"]
        test, known = (features(scorer, part) for part in task.parts[:2])
        predicted.append(_fitted(known, train, c).predict(test))
    check(found["accuracy"], naive(predicted[:1], predicted[1:], gold, accuracy, ""))
    f1 = lambda x, y: 100 * float(f1_score(y, x))  # noqa: E731
    check(found["f1"], naive(predicted[:1], predicted[1:], gold, f1, ""))


def test_trained_tasks_take_the_mean_over_their_seeds(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setitem(probes.classify.__kwdefaults__, "schedule", probes.Schedule(batch=16, epochs=4, last=8))
    monkeypatch.setitem(probes.relate.__kwdefaults__, "schedule", probes.Schedule(batch=16, epochs=10, last=20))
    entry = {"task": "mlp_classification", "path": str(folder), "hidden": 4, "seeds": [1, 2, 3]}
    found = task_differences(*both(entry, tmp_path))["all"]
    parts = make(entry).parts
    labels = [np.array([int(one) for one in part.labels]) for part in parts]
    predicted = []
    for scorer in (HASHED, SMALL):
        given = [features(scorer, part) for part in parts]
        predicted.append([one.labels for one in probes.classify(given, labels[:2], hidden=4, seeds=[1, 2, 3])])
    assert len({tuple(one) for one in predicted[0]}) > 1  # the seeds differ, so their mean is not one of them
    check(found["accuracy"], naive(*predicted, labels[2], accuracy, ""))

    pairs = related(tmp_path / "pairs", train=60, dev=30, test=50)
    entry = {"task": "relatedness", "path": str(pairs), "seeds": [1, 2]}
    found = task_differences(*both(entry, tmp_path))["all"]
    task = make(entry)
    predicted = []
    for scorer in (HASHED, SMALL):
        given = [features(scorer, part) for part in task.parts]
        predicted.append([one.scores for one in probes.relate(given, task.gold[:2], seeds=[1, 2])])
    spearman = lambda x, y: 100 * float(stats.spearmanr(x, y).statistic)  # noqa: E731
    check(found["spearman"], naive(*predicted, task.gold[2], spearman, ""))


def test_items_that_depend_on_the_system_have_a_difference_and_no_interval(tmp_path: Path) -> None:
    texts = sentences(12, 1)
    for end, rows in (("fr", texts), ("en", [text[::-1] if n % 3 else text for n, text in enumerate(texts)])):
        write(tmp_path / f"fr-en.training.{end}", [f"{end}-{n}\t{row}" for n, row in enumerate(rows)])
    write(tmp_path / "fr-en.training.gold", [f"fr-{n}\ten-{n}" for n in range(12)])
    entry = {"task": "bitext_mining", "path": str(tmp_path), "languages": ["fr", "en"]}
    own, other = both(entry, tmp_path / "out")
    recall = [json.loads(path.read_text())["parts"]["best"]["figures"]["recall"]["value"] for path in (own, other)]
    found = task_differences(own, other)["best"]["recall"]
    assert found == {"difference": pytest.approx(recall[1] - recall[0], abs=1e-4), "interval": None}


def test_a_system_that_cannot_do_a_task_has_no_difference(tmp_path: Path, folder: Path) -> None:
    train, test = folder / "train.txt", folder / "test.txt"
    entry = {"task": "classification", "path": str(test), "train": str(train), "dev": str(folder / "dev.txt")}
    own = scored(HASHED, entry, tmp_path / "own/set.json")
    other = scored(WordOverlap(), entry, tmp_path / "other/set.json")
    assert task_differences(own, other) == {}
    assert all(one == {"difference": 0.0, "interval": [0.0, 0.0]} for one in task_differences(own, own)["all"].values())


def test_tables_have_the_differences_beside_the_scores(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tsv", [f"{n % 4}\ta{n % 5} b\ta{n % 7} b" for n in range(30)])
    entry = {"task": "similarity", "path": str(path)}
    own = scored(HASHED, entry, tmp_path / "m/tasks/set.json", model="m")
    other = scored(SMALL, entry, tmp_path / "m/systems/small/tasks/set.json", model="small")
    found = {"set": {"small": task_differences(own, other)}}
    write_json(tmp_path / "m/compare.json", {"model": "m", "tasks": found, "systems": {}})
    results = [json.loads(path.read_text()) for path in (own, other)]
    text = task_table.table(results, read_json(tmp_path / "m/compare.json")).write("markdown")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("|")]
    place = rows[0].index("minus m")
    of = {(row[4], row[5]): row[place] for row in rows[2:]}
    assert of["pearson", "m"] == of["spearman", "m"] == "-"
    lost = found["set"]["small"]["x"]["spearman"]
    low, high = lost["interval"]
    assert of["spearman", "small"] == f"{lost['difference']:+.1f} [{low:+.1f}, {high:+.1f}]"
    assert "if it contains 0, the difference is not significant" in text
    alone = task_table.table(results).write()
    assert "minus" not in alone and "separates" not in alone


def test_what_is_not_of_the_same_set_is_refused_with_one_error(tmp_path: Path) -> None:
    rows = [f"{n % 4}\ta{n % 5} b\ta{n % 7} b" for n in range(30)]
    path = write(tmp_path / "x.tsv", rows)
    entry = {"task": "similarity", "path": str(path)}
    own, other = both(entry, tmp_path)
    # Where a set lies does not matter.
    (tmp_path / "there").mkdir()
    there = {**entry, "path": str(shutil.copy(path, tmp_path / "there/x.tsv"))}
    assert task_differences(own, scored(SMALL, there, tmp_path / "again/set.json")) == task_differences(own, other)
    one_more = write(tmp_path / "more/x.tsv", [*rows, "1\ta\tb"])
    for about, changed, said in (
        ({}, {"path": str(one_more)}, r"scored on another test set \(x\.tsv\) than .*own/tasks/set\.json, so"),
        ({}, {"range": [0, 5]}, r"scored by other settings \(range: \[0, 5\], not None\)"),
        ({"name": "sets"}, {}, r"of another task \(sets, not set\)"),
        ({"seed": 4}, {}, r"scored on other resamples \(evaluate\.resamples, seed\)"),
        ({"resamples": 100}, {}, "scored on other resamples"),
        ({}, {"task": "pair_classification", "path": str(write(tmp_path / "y.tsv", ["0\ta\tb", "1\ta\ta"]))},
         r"of another kind \(pair_classification, not similarity\)"),
    ):  # fmt: skip
        wrong = scored(SMALL, {**entry, **changed}, tmp_path / "wrong/set.json", **about)
        with pytest.raises(DataError, match=rf"wrong/set\.json: {said}") as told:
            task_differences(own, wrong)
        assert "\n" not in str(told.value)
    # Resamples of other scores, damaged ones, and none.
    drawn = other.with_suffix(".safetensors")
    drawn.write_bytes((tmp_path / "wrong/set.safetensors").read_bytes())
    with pytest.raises(DataError, match=r"set\.safetensors: from another bootstrap .*; delete it and make it again"):
        task_differences(own, other)
    drawn.write_bytes(b"cut off")
    with pytest.raises(DataError, match=r"set\.safetensors: cannot be read"):
        task_differences(own, other)
    drawn.unlink()
    with pytest.raises(DataError, match=r"set\.safetensors: cannot be read"):
        task_differences(own, other)
