"""Similarity on any file of scored pairs, against scipy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from psp.core.errors import DataError
from psp.evaluation.tasks import make
from tests.evaluation.tasks.conftest import DRAW, HASHED, SAME, sentences, write


def scored(count: int, seed: int) -> list[tuple[float, str, str]]:
    rng = np.random.default_rng(seed)
    found = []
    for one in sentences(count, seed):
        words, kept = one.split(), int(rng.integers(0, 7))
        found.append(
            (
                round(kept * 5 / 6 + rng.normal(0, 0.5), 3),
                one,
                " ".join([*words[:kept], *sentences(1, kept)[0].split()]),
            )
        )
    return found


def test_the_mean_of_data_sets_and_all_pairs_together_are_scipys(tmp_path: Path) -> None:
    sets = {name: scored(count, seed) for name, count, seed in (("a", 40, 1), ("b", 90, 2))}
    for name, rows in sets.items():
        write(tmp_path / f"sts/{name}.tsv", [f"{10 * gold if name == 'b' else gold}\t{a}\t{b}" for gold, a, b in rows])
    parts = make({"task": "similarity", "path": str(tmp_path / "sts")}).score(HASHED, DRAW)
    assert list(parts) == ["a", "b", "mean", "together"]
    x = {name: HASHED.pairwise([a for _, a, _ in rows], [b for _, _, b in rows]) for name, rows in sets.items()}
    gold = {name: np.array([score for score, _, _ in rows]) * (10 if name == "b" else 1) for name, rows in sets.items()}
    for figure, function in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
        each = [100 * function(x[name], gold[name]).statistic for name in "ab"]
        expected = [
            *each,
            np.mean(each),
            100 * function(np.concatenate(list(x.values())), np.concatenate(list(gold.values()))).statistic,
        ]
        assert [part.metrics[figure].value for part in parts.values()] == pytest.approx(expected, abs=1e-6)
    for part in parts.values():
        report = part.report["figures"]
        low, high = report["pearson"]["interval"]
        assert low < report["pearson"]["value"] < high
    assert [part.items for part in parts.values()] == [40, 90, 130, 130]


def test_a_constant_prediction_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", [f"{gold}\t{a}\t{b}" for gold, a, b in scored(9, 1)])
    task = make({"task": "similarity", "path": str(path)})
    report = task.score(SAME, DRAW)["a"].report["figures"]
    assert report["pearson"] == {"value": None, "interval": None, "why": "the system finds every pair equally similar"}
    (line,) = scored(1, 1)
    one = make({"task": "similarity", "path": str(write(tmp_path / "b.tsv", ["{}\t{}\t{}".format(*line)]))})
    assert one.score(HASHED, DRAW)["b"].report["figures"]["spearman"]["why"] == "fewer than two pairs"


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    for rows, entry, said in (
        (["1\ta\tb", "6\ta\tb"], {"range": [0, 5]}, r"x\.tsv, line 2: the score 6 is not between 0 and 5"),
        (["1\ta"], {}, r"x\.tsv, line 1: 2 columns instead of 3"),
        (["1\ta\t "], {}, r"x\.tsv, line 1: an empty sentence"),
        (["sentence_A\tsentence_B"], {"layout": "sick"}, "line 1: the header has no column 'relatedness_score'"),
        (["sentence_A\tsentence_B\trelatedness_score"], {"layout": "sick"}, r"x\.tsv: no scored pairs"),
        (["relatedness_score\tsentence_A\tsentence_B", "0.5\ta\tb"], {"layout": "sick"}, "line 2: the score 0.5"),
    ):  # fmt: skip
        task = make({"task": "similarity", "path": str(write(tmp_path / "x.tsv", rows)), **entry})
        with pytest.raises(DataError, match=said):
            task.score(HASHED, DRAW)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no files in this folder"):
        make({"task": "similarity", "path": str(tmp_path / "empty")}).files()


def test_sick_as_published(psp_data: Path) -> None:
    task = make(
        {"task": "similarity", "layout": "sick", "path": str(psp_data / "eval/transfer/SICK/SICK_test_annotated.txt")}
    )
    part = task.score(HASHED, DRAW)["SICK_test_annotated"]
    assert part.items == 4927 and 30 < part.metrics["pearson"].value < 80
