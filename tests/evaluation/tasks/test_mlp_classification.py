"""A multilayer perceptron on frozen vectors, of texts and of pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from psp.evaluation import probes
from psp.evaluation.baselines import WordOverlap
from psp.evaluation.tasks import Unsupported, make
from tests.evaluation.tasks.conftest import DRAW, HASHED, SAME, features, labelled, sentences, write

pytest.importorskip("torch")

SIZES = {"train": 80, "dev": 40, "test": 50}


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer epochs: the schedule's figures are those of test_probes."""
    schedule = probes.Schedule(batch=16, epochs=5, last=40)
    monkeypatch.setitem(probes.classify.__kwdefaults__, "schedule", schedule)


@pytest.fixture
def texts(tmp_path: Path) -> dict[str, object]:
    for seed, (part, count) in enumerate(SIZES.items()):
        write(tmp_path / f"{part}.txt", labelled(count, seed))
    return {"task": "mlp_classification", "path": str(tmp_path), "seeds": [1, 2]}


def test_it_is_the_mean_over_seeds_of_the_probe_on_the_vectors(texts: dict[str, object]) -> None:
    task = make(texts)
    part = task.score(HASHED, DRAW)["all"]
    labels = [np.array([label == "good" for label in one.labels], np.intp) for one in task.parts]
    found = probes.classify([features(HASHED, one) for one in task.parts], labels[:2], hidden=50, seeds=[1, 2])
    accuracies = [100 * float((one.labels == labels[2]).mean()) for one in found]
    assert part.further["accuracies"] == [round(one, 4) for one in accuracies]
    assert part.metrics["accuracy"].value == pytest.approx(np.mean(accuracies))
    assert part.further["l2"] == [one.l2 for one in found] and set(part.further["l2"]) <= set(probes.L2)
    assert part.further["epochs"] == [one.epochs for one in found]
    assert part.further["dev_accuracies"] == [round(100 * one.dev_accuracy, 4) for one in found]
    assert (part.items, part.further["classes"], part.further["train_items"], part.further["dev_items"]) == (
        50,
        2,
        80,
        40,
    )
    assert part.metrics["accuracy"].value > 70 and part.further["sentences_in_train"] == 0
    low, high = part.metrics["accuracy"].report["interval"]
    assert low < part.metrics["accuracy"].value < high
    assert make(texts).score(HASHED, DRAW)["all"].report == part.report


def test_pairs_enter_as_difference_and_product(tmp_path: Path) -> None:
    for seed, (part, count) in enumerate(SIZES.items()):
        rows = ["sentence_A\tsentence_B\tlabel"]
        for number, text in enumerate(sentences(count, seed)):
            other = text if number % 2 else sentences(1, 1000 * seed + number)[0]
            rows.append(f"{text}\tw1 {other}\t{2 if number % 2 else 3}")
        write(tmp_path / f"{part}.txt", rows)
    entry = {"task": "mlp_classification", "layout": "ppc", "path": str(tmp_path), "seeds": [1], "hidden": 8}
    task = make(entry)
    part = task.score(HASHED, DRAW)["all"]
    labels = [np.array([label == "3" for label in one.labels], np.intp) for one in task.parts]
    (found,) = probes.classify([features(HASHED, one) for one in task.parts], labels[:2], hidden=8, seeds=[1])
    assert part.metrics["accuracy"].value == pytest.approx(100 * (found.labels == labels[2]).mean())
    assert part.metrics["accuracy"].value > 75 and part.further["pairs_in_train"] == 0
    assert len(list(task.sentences())) == 100


def test_a_system_that_says_nothing_and_one_without_vectors(texts: dict[str, object]) -> None:
    part = make(texts).score(SAME, DRAW)["all"]
    assert part.metrics["accuracy"].value == 50
    with pytest.raises(Unsupported, match="has no vectors"):
        make(texts).score(WordOverlap(), DRAW)
