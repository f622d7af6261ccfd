"""Examples of what a model gets right and wrong."""

import numpy as np
import pytest
from scipy import stats

from psp.evaluation.evaluate import evaluate
from psp.evaluation.examples import examples
from psp.evaluation.scorers import EmbeddingScorer
from psp.models.folder import load
from tests.conftest import parts


class Lengths:
    """A made-up system, for which texts are the more similar the closer their lengths are."""

    def pairwise(self, a, b):
        return np.array([self._of(*pair) for pair in zip(a, b, strict=True)])

    def cross(self, a, b):
        return np.array([[self._of(one, other) for other in b] for one in a])

    def _of(self, a, b):
        return 1 / (1 + abs(len(a) - len(b)))


def written(path, rows):
    path.write_text("".join(f"{score}\t{a}\t{b}\n" for score, a, b in rows))
    return path


def test_the_worst_pairs_are_those_whose_ranks_differ_most(tmp_path):
    rows = [(0, "aa", "bb"), (1, "aa", "bbbb"), (2, "aa", "bbb"), (3, "aaaa", "b"), (5, "aa", "aaaaaaaa")]
    found = examples(Lengths(), languages=["en"], files={"own": written(tmp_path / "own", rows)})
    ranks = [(stats.rankdata(one) - 1) / 4 for one in ([row[0] for row in rows], [1, 1 / 3, 1 / 2, 1 / 4, 1 / 7])]
    over, under = found["overrated"][0], found["underrated"][0]
    assert (over["a"], over["b"], over["gold_rank"], over["rank"]) == ("aa", "bb", ranks[0][0], ranks[1][0])
    assert (under["b"], under["gold_rank"], under["rank"]) == ("aaaaaaaa", ranks[0][4], ranks[1][4])
    assert over["set"] == "own" and over["similarity"] == 1.0
    gaps = [pair["rank"] - pair["gold_rank"] for pair in found["overrated"]]
    assert gaps == sorted(gaps, reverse=True) and min(gaps) > 0
    assert all(pair["rank"] < pair["gold_rank"] for pair in found["underrated"])


def test_errors_of_retrieval_are_those_that_are_counted(made):
    scorer = EmbeddingScorer(load(made.model))
    found = examples(scorer, languages=["en", "fr"], tatoeba=made.tests["tatoeba"], count=1000)["retrieval"]
    scores = parts(evaluate(scorer, **{**made.tests, "files": {}}), "tatoeba")
    assert set(found) == {"fra-eng", "eng-fra"}
    for direction, given in found.items():
        counted = scores[direction]
        errors, duplicates = (counted["further"][key] for key in ("errors", "duplicates"))
        assert len(given["wrong"]) == errors - duplicates
        assert len(given["right"]) == counted["items"] - errors
        assert all(one["found_similarity"] >= one["similarity"] for one in given["wrong"])
        assert all(one["found"] != one["translation"] for one in given["wrong"])


def test_neighbours_where_there_is_no_tatoeba(tmp_path):
    rows = [(number, "a" * number, "b" * (number * 7)) for number in range(1, 9)]
    found = examples(Lengths(), languages=["en"], files={"own": written(tmp_path / "own", rows)})
    assert found["retrieval"] == {} and len(found["neighbours"]) == 10
    texts = {text for _, *pair in rows for text in pair}
    for one in found["neighbours"]:
        nearest = max(Lengths()._of(one["query"], text) for text in texts - {one["query"]})
        assert one["similarity"] == pytest.approx(nearest, abs=1e-4)


def test_the_same_examples_for_any_order_of_a_set(tmp_path):
    rows = [(number % 5, "a" * (1 + number), "b" * (1 + number * 3 % 11)) for number in range(40)]
    there = examples(Lengths(), languages=["en"], files={"own": written(tmp_path / "there", rows)})
    back = examples(Lengths(), languages=["en"], files={"own": written(tmp_path / "back", rows[::-1])})
    assert there == back


def test_a_model_without_test_sets_has_no_examples():
    found = examples(Lengths(), languages=["sw"])
    assert found == {"overrated": [], "underrated": [], "retrieval": {}, "neighbours": []}
