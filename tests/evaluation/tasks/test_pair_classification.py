"""Paraphrases by their cosine, against scikit-learn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.evaluation.tasks import make
from psp.evaluation.tasks.pair_classification import average_precisions, best_threshold
from tests.evaluation.tasks.conftest import DRAW, HASHED, SAME, sentences, write

values = st.lists(st.tuples(st.integers(-3, 3), st.booleans(), st.integers(0, 3)), min_size=1, max_size=20)


@given(values)
def test_average_precision_is_scikit_learns_ties_and_weights_and_all(rows: list[tuple[int, bool, int]]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    x, label, counts = (np.array(column) for column in zip(*rows, strict=True))
    found = average_precisions(counts[None, :], x.astype(float), label)[0]
    if not (counts * label).sum():
        assert np.isnan(found)
        return
    drawn = np.repeat(np.arange(len(x)), counts)
    assert found == pytest.approx(metrics.average_precision_score(label[drawn], x[drawn]), abs=1e-9)


@given(values)
def test_no_threshold_is_better(rows: list[tuple[int, bool, int]]) -> None:
    x, label = np.array([row[0] for row in rows], float), np.array([row[1] for row in rows])

    def right(threshold: float) -> int:
        return int(((x >= threshold) == label).sum())

    assert right(best_threshold(x, label)) == max(map(right, [*x, x.max() + 1]))


def rows_of(count: int, seed: int) -> list[tuple[int, str, str]]:
    found = []
    for number, text in enumerate(sentences(count, seed)):
        words = text.split()
        found.append(
            (number % 2, text, " ".join(words[:5] if number % 2 else [*words[:2], *sentences(1, number)[0].split()]))
        )
    return found


def test_the_threshold_comes_from_the_training_part(tmp_path: Path) -> None:
    for name, seed in (("train", 1), ("test", 2)):
        write(tmp_path / name, [f"{label}\t{a}\t{b}" for label, a, b in rows_of(60, seed)])
    alone = make({"task": "pair_classification", "path": str(tmp_path / "test")}).score(HASHED, DRAW)["all"]
    entry = {"task": "pair_classification", "path": str(tmp_path / "test"), "train": str(tmp_path / "train")}
    found = make(entry).score(HASHED, DRAW)["all"]
    assert (alone.further["threshold_chosen_on"], found.further["threshold_chosen_on"]) == (
        "the scored set itself",
        "train",
    )
    assert alone.metrics["accuracy"].value >= found.metrics["accuracy"].value > 60
    assert alone.metrics["average_precision"].value == found.metrics["average_precision"].value
    train = rows_of(60, 1)
    x = HASHED.pairwise([a for _, a, _ in train], [b for _, _, b in train])
    assert found.further["threshold"] == round(best_threshold(x, np.array([label for label, _, _ in train]) == 1), 4)
    assert (
        make(entry)
        .score(SAME, DRAW)["all"]
        .report["figures"]["average_precision"]["why"]
        .startswith("the system finds every")
    )


def test_paws_x_in_its_layout_and_bad_input(tmp_path: Path) -> None:
    header = "id\tsentence1\tsentence2\tlabel"
    path = write(
        tmp_path / "fr/test_2k.tsv", [header, *(f"{n}\t{a}\t{b}\t{y}" for n, (y, a, b) in enumerate(rows_of(20, 1)))]
    )
    entry = {"task": "pair_classification", "layout": "pawsx", "path": str(path)}
    assert make(entry).score(HASHED, DRAW)["all"].items == 20
    for rows, said in (
        ([header, "1\ta\tb\t2"], "line 2: the label '2' is neither 0 nor 1"),
        ([header, "1\ta\tb\t1"], "all labels are the same"),
        (["id\tsentence1\tlabel"], "line 1: the header has no column 'sentence2'"),
    ):
        write(path, rows)
        with pytest.raises(DataError, match=said):
            make(entry).score(HASHED, DRAW)


@pytest.mark.slow
def test_mrpc_as_published(psp_data: Path) -> None:
    folder = psp_data / "eval/transfer/MRPC"
    entry = {"task": "pair_classification", "layout": "mrpc", "path": str(folder / "msr_paraphrase_test.txt")}
    part = make({**entry, "train": str(folder / "msr_paraphrase_train.txt")}).score(HASHED, DRAW)["all"]
    assert part.items == 1725 and part.metrics["accuracy"].value > 60


def test_polish_sets_have_labels_of_three_kinds(tmp_path: Path) -> None:
    sick = ["pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"]
    ppc = ["sentence_A\tsentence_B\tlabel"]
    for number, (_, a, b) in enumerate(rows_of(30, 1)):
        sick.append(f"{number}\t{a}\t{b}\t3.5\t{('ENTAILMENT', 'NEUTRAL', 'CONTRADICTION')[number % 3]}")
        ppc.append(f"{a}\t{b}\t{number % 3 + 1}")
    for layout, rows, expected in (("sick", sick, [True, False, False]), ("ppc", ppc, [True, True, False])):
        entry = {"task": "pair_classification", "layout": layout, "path": str(write(tmp_path / layout, rows))}
        (part,) = make(entry).parts
        assert part.gold.tolist() == expected * 10
        assert part.a == [a for _, a, _ in rows_of(30, 1)] and part.b == [b for _, _, b in rows_of(30, 1)]
    write(tmp_path / "ppc", [*ppc, "a\tb\t4"])
    with pytest.raises(DataError, match="ppc, line 32: the label '4' is neither 3 nor 1 nor 2"):
        make(entry).parts  # noqa: B018
