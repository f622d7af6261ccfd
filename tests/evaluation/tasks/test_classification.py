"""A linear classifier on frozen vectors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from psp.core.errors import ConfigError, DataError
from psp.evaluation.baselines import WordOverlap
from psp.evaluation.tasks import Draw, Unsupported, make
from psp.evaluation.tasks.classification import folds
from tests.evaluation.tasks.conftest import HASHED, sentences, write

linear_model = pytest.importorskip("sklearn.linear_model")

DRAW = Draw(resamples=200, seed=1, name="set")


def labelled(count: int, seed: int) -> list[str]:
    return [
        f"{'good' if number % 2 else 'bad'} {text} {'w61 w62' if number % 2 else 'w63'}"
        for number, text in enumerate(sentences(count, seed))
    ]


def test_it_is_scikit_learns_classifier_on_the_vectors(tmp_path: Path) -> None:
    entry = {"task": "classification"}
    for key, count, seed in (("path", 80, 1), ("train", 200, 2), ("dev", 60, 3)):
        entry[key] = str(write(tmp_path / key, labelled(count, seed)))
    task = make(entry)
    part = task.score(HASHED, DRAW)["all"]
    (c,) = part.further["regularisation"]
    test, train, dev = task.parts

    def accuracy(c: float, on) -> float:
        model = linear_model.LogisticRegression(C=c, max_iter=1000).fit(HASHED.vectors(train.texts), train.labels)
        return 100 * float((model.predict(HASHED.vectors(on.texts)) == np.array(on.labels)).mean())

    assert part.figures["accuracy"].value == pytest.approx(accuracy(c, test), abs=1e-6)
    assert c == max((2.0**t for t in range(-2, 4)), key=lambda one: accuracy(one, dev))
    assert part.items == 80 and part.further["classes"] == 2
    assert make(entry).score(HASHED, DRAW)["all"].report == part.report


def test_polarity_is_cross_validated(tmp_path: Path) -> None:
    write(tmp_path / "mr.pos", [f"{text} w61 w62" for text in sentences(40, 1)])
    write(tmp_path / "mr.neg", [f"{text} w63" for text in sentences(50, 2)])
    part = make({"task": "classification", "layout": "polarity", "path": str(tmp_path / "mr")}).score(HASHED, DRAW)[
        "all"
    ]
    assert part.items == 90 and part.figures["accuracy"].value > 70
    assert len(part.further["regularisation"]) == 10


def test_folds_hold_their_share_of_every_label() -> None:
    labels = np.repeat([0, 1, 2], [100, 37, 5])
    part = folds(labels, 10, np.random.default_rng(1))
    for label, (low, high) in enumerate([(10, 10), (3, 4), (0, 1)]):
        counts = np.bincount(part[labels == label], minlength=10)
        assert low <= counts.min() and counts.max() <= high


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    good = str(write(tmp_path / "good", labelled(20, 1)))
    with pytest.raises(Unsupported, match="has no vectors"):
        make({"task": "classification", "path": good}).score(WordOverlap(), DRAW)
    for rows, said in ((["good"], "line 1: no `label text`"), (["a x", "a y"], "all labels are the same")):
        with pytest.raises(DataError, match=said):
            make({"task": "classification", "path": str(write(tmp_path / "x", rows))}).score(HASHED, DRAW)
    strange = str(write(tmp_path / "strange", [*labelled(4, 1), "odd text"]))
    with pytest.raises(DataError, match="strange: labels that the training file has not: odd"):
        make({"task": "classification", "path": strange, "train": good}).score(HASHED, DRAW)
    with pytest.raises(ConfigError, match="`dev` needs `train`"):
        make({"task": "classification", "path": good, "dev": good}).files()
    with pytest.raises(ConfigError, match="polarity is cross-validated"):
        make({"task": "classification", "layout": "polarity", "path": good, "train": good}).files()


def test_trec_and_mr_as_published(psp_data: Path) -> None:
    folder = psp_data / "eval/transfer"
    trec = {
        "layout": "trec",
        "path": str(folder / "TREC/TREC_10.label"),
        "train": str(folder / "TREC/train_5500.label"),
    }
    test, train = make({"task": "classification", **trec}).parts
    assert (len(test.texts), len(train.texts), len(set(train.labels))) == (500, 5452, 6)
    part = make({"task": "classification", **trec}).score(HASHED, DRAW)["all"]
    assert part.figures["accuracy"].value > 40
    (mr,) = make({"task": "classification", "layout": "polarity", "path": str(folder / "MR/rt-polarity")}).parts
    assert len(mr.texts) == 10662
