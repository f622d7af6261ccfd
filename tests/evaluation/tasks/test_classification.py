"""A linear classifier on frozen vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from psp.core.errors import ConfigError, DataError
from psp.evaluation.baselines import WordOverlap
from psp.evaluation.tasks import Part, Unsupported, make
from psp.evaluation.tasks.splits import Items
from tests.evaluation.tasks.conftest import DRAW, HASHED, features, labelled, sentences, write

linear_model = pytest.importorskip("sklearn.linear_model")
model_selection = pytest.importorskip("sklearn.model_selection")

GRID = {"C": [2.0**t for t in range(-2, 4)]}
ROOT = Path(__file__).parents[3]


def scored(tmp_path: Path, entry: dict[str, object]) -> Part:
    return make({"task": "classification", **entry}).score(HASHED, DRAW)["all"]


def search() -> Any:
    """Scikit-learn's own search for the regularisation, over ten folds."""
    folds = model_selection.StratifiedKFold(10, shuffle=True, random_state=1111)
    return model_selection.GridSearchCV(linear_model.LogisticRegression(max_iter=1000), GRID, cv=folds)


def texts_of(part: Items) -> list[str]:
    return [text for (text,) in part.texts]


def test_with_a_development_part_it_is_scikit_learns_classifier_on_the_vectors(tmp_path: Path) -> None:
    entry = {"task": "classification"}
    for key, count, seed in (("path", 80, 1), ("train", 200, 2), ("dev", 60, 3)):
        entry[key] = str(write(tmp_path / key, labelled(count, seed)))
    task = make(entry)
    part = task.score(HASHED, DRAW)["all"]
    (c,) = part.further["regularisation"]
    test, train, dev = task.parts

    def accuracy(c: float, on: Items) -> float:
        model = linear_model.LogisticRegression(C=c, max_iter=1000).fit(features(HASHED, train), train.labels)
        return 100 * float((model.predict(features(HASHED, on)) == np.array(on.labels)).mean())

    assert part.metrics["accuracy"].value == pytest.approx(accuracy(c, test), abs=1e-6)
    assert c == max(GRID["C"], key=lambda one: accuracy(one, dev))
    assert part.items == 80 and part.further["classes"] == 2
    assert make(entry).score(HASHED, DRAW)["all"].report == part.report


@pytest.mark.slow
def test_without_a_test_part_each_fold_is_held_out_once_as_scikit_learn_does(tmp_path: Path) -> None:
    write(tmp_path / "mr.pos", [f"{text} w61 w62" for text in sentences(40, 1)])
    write(tmp_path / "mr.neg", [f"{text} w63" for text in sentences(50, 2)])
    task = make({"task": "classification", "layout": "polarity", "path": str(tmp_path / "mr")})
    part = task.score(HASHED, DRAW)["all"]
    (items,) = task.parts
    folds = model_selection.StratifiedKFold(10, shuffle=True, random_state=1111)
    x, y = features(HASHED, items), np.array(items.labels)
    assert part.metrics["accuracy"].value == pytest.approx(
        100 * float((model_selection.cross_val_predict(search(), x, y, cv=folds) == y).mean()), abs=1e-6
    )
    assert part.items == 90 and part.metrics["accuracy"].value > 70
    assert len(part.further["regularisation"]) == 10


@pytest.mark.slow
def test_pairs_enter_as_difference_and_product_and_mrpc_has_an_f1(tmp_path: Path) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    for name, count, seed in (("train", 120, 1), ("test", 60, 2)):
        ones = sentences(count, seed)
        rows = [
            f"{number % 2}\t1\t2\t{one}\t{one if number % 2 and number % 5 else other}"
            for number, (one, other) in enumerate(zip(ones, sentences(count, seed + 10), strict=True))
        ]
        (tmp_path / name).write_bytes(
            "\r\n".join(["\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String", *rows]).encode()
        )
    entry = {"layout": "mrpc", "path": str(tmp_path / "test"), "train": str(tmp_path / "train")}
    task = make({"task": "classification", **entry})
    part = task.score(HASHED, DRAW)["all"]
    test, train = task.parts

    searched = search().fit(features(HASHED, train), train.labels)
    assert part.further["regularisation"] == [searched.best_params_["C"]]
    found = searched.predict(features(HASHED, test))
    gold = np.array(test.labels)
    assert part.metrics["accuracy"].value == pytest.approx(100 * float((found == gold).mean()), abs=1e-6)
    f1 = part.metrics["f1"]
    assert f1.value == pytest.approx(100 * metrics.f1_score(gold, found, pos_label="1"), abs=1e-6)
    counts = DRAW.counts(60)
    of_resamples = [
        100 * metrics.f1_score(np.repeat(gold, row), np.repeat(found, row), pos_label="1") for row in counts[:5]
    ]
    assert f1.resampled[:5] == pytest.approx(of_resamples, abs=1e-6)


def test_sst_has_labels_before_or_after_the_text(tmp_path: Path) -> None:
    phrases = [f"{row.partition(' ')[2]} \t{int(row.startswith('good'))}" for row in labelled(30, 1)]
    whole = [f"{int(row.startswith('good'))} {row.partition(' ')[2]}" for row in labelled(30, 1)]
    task = make(
        {
            "task": "classification",
            "layout": "sst",
            "path": str(write(tmp_path / "test", phrases)),
            "train": str(write(tmp_path / "train", whole)),
        }
    )
    test, train = task.parts
    assert test.texts == train.texts and test.labels == train.labels == ["0", "1"] * 15


@pytest.mark.slow
def test_blank_lines_count_and_stay_out_of_overlaps(tmp_path: Path) -> None:
    write(tmp_path / "x.pos", [*sentences(20, 1), "", "the same"])
    write(tmp_path / "x.neg", [*sentences(20, 2), "The same!", " "])
    task = make({"task": "classification", "layout": "polarity", "path": str(tmp_path / "x")})
    part = task.score(HASHED, DRAW)["all"]
    assert part.items == 44
    assert part.further["blank"] == 2 and part.further["items_of_several_labels"] == 1
    assert len(list(task.sentences())) == 42


def test_an_encoding_is_a_setting(tmp_path: Path) -> None:
    for end, word in (("subjective", "caf\xe9"), ("objective", "na\xefve")):
        (tmp_path / f"s.{end}").write_bytes("\n".join([word] * 12).encode("cp1252"))
    entry = {"task": "classification", "layout": "polarity", "path": str(tmp_path / "s")}
    entry["labels"] = "subjective objective"
    with pytest.raises(DataError, match=r"s.subjective, line 1: not UTF-8"):
        make(entry).parts  # noqa: B018
    assert texts_of(make({**entry, "encoding": "cp1252"}).parts[0])[::12] == ["caf\xe9", "na\xefve"]
    (tmp_path / "s.objective").write_bytes(b"fine\nodd \x81\n")
    with pytest.raises(DataError, match=r"s.objective, line 2: not cp1252 \(a byte 0x81\)"):
        make({**entry, "encoding": "cp1252"}).parts  # noqa: B018


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    good = str(write(tmp_path / "good", labelled(20, 1)))
    with pytest.raises(Unsupported, match="has no vectors"):
        make({"task": "classification", "path": good}).score(WordOverlap(), DRAW)
    for rows, said in (
        (["good"], "line 1: no `label text`"),
        (["a x", "a y"], "all labels are the same"),
        (["a x", "b y"], "x: no label has more than 1 items, too few"),
    ):
        with pytest.raises(DataError, match=said):
            scored(tmp_path, {"path": str(write(tmp_path / "x", rows))})
    strange = str(write(tmp_path / "strange", [*labelled(4, 1), "odd text"]))
    with pytest.raises(DataError, match=f"strange, line 5: the label 'odd' is not in the training part {good}"):
        scored(tmp_path, {"path": strange, "train": good})
    with pytest.raises(DataError, match=r"x, line 1: no `text .* label` or `label text`"):
        scored(tmp_path, {"layout": "sst", "path": str(write(tmp_path / "x", ["\t1"])), "train": good})
    with pytest.raises(DataError, match="x, line 2: the label '2' is neither 0 nor 1"):
        rows = ["Quality\t#1 String\t#2 String", "2\ta\tb"]
        scored(tmp_path, {"layout": "mrpc", "path": str(write(tmp_path / "x", rows))})
    with pytest.raises(ConfigError, match="`dev` needs `train`"):
        make({"task": "classification", "path": good, "dev": good}).files()
    with pytest.raises(ConfigError, match="polarity is cross-validated"):
        make({"task": "classification", "layout": "polarity", "path": good, "train": good}).files()


@pytest.mark.slow
def test_the_transfer_tasks_as_published(psp_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PSP_DATA", str(psp_data))
    tasks = yaml.safe_load((ROOT / "config/transfer.yaml").read_text())["evaluate"]["tasks"]
    made = {name: make(entry) for name, entry in tasks.items()}
    items = {name: [len(part.texts) for part in task.parts] for name, task in made.items()}
    assert items == {
        "mr": [10662],
        "cr": [3775],
        "subj": [10000],
        "mpqa": [10606],
        "sst2": [1821, 67349, 872],
        "sst2-sentences": [1821, 6920, 872],
        "trec": [500, 5452],
        "mrpc-linear": [1725, 4076],
        "sick-r": [4500, 500, 4927],
        "sick-e": [4927, 4500, 500],
    }
    assert len(set(made["trec"].parts[1].labels)) == 6
    trec = made["trec"].score(HASHED, DRAW)["all"]
    assert trec.metrics["accuracy"].value > 40 and trec.further["sentences_in_train"] == 11
    cr = made["cr"].score(HASHED, DRAW)["all"]
    assert cr.metrics["accuracy"].value > 60 and cr.further["blank"] == 4
    sick = made["sick-e"].score(HASHED, DRAW)["all"]
    assert sick.metrics["accuracy"].value > 60 and sick.further["pairs_in_train"] == 81
