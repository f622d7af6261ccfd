"""Word similarity, against scipy; and word sets as they are published."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from psp.core.errors import ConfigError, DataError
from psp.evaluation.scorers import EmbeddingScorer
from psp.evaluation.tasks import make
from psp.models.combined import CombinedModel
from psp.models.static import StaticModel
from psp.models.table import EmbeddingMatrix
from psp.text.word_tokenizer import WordTokenizer
from tests.evaluation.tasks.conftest import DRAW, HASHED, SAME, write

WORDS = [f"w{number}" for number in range(40)]
RNG = np.random.default_rng(1)
ROWS = [(*RNG.choice(WORDS, 2).tolist(), round(float(score), 2)) for score in RNG.uniform(0, 10, 60)]
LINES = ["\t".join(map(str, row)) for row in ROWS]


def task(path: Path, rows: list[str], end: str = "\n", **entry: str):
    return make({"task": "word_similarity", "path": str(write(path, rows, end)), **entry})


class Some(EmbeddingScorer):
    """A system without vectors for some words."""

    def _embed(self, texts):
        return super()._embed(texts) * np.array([[text not in WORDS[:10]] for text in texts])


def test_all_pairs_and_those_covered_are_scipys(tmp_path):
    for scorer, left in ((HASHED, ROWS), (Some(HASHED.model), [row for row in ROWS if not set(row) & set(WORDS[:10])])):
        found = task(tmp_path / "set.tsv", LINES).score(scorer, DRAW)
        assert {name: part.items for name, part in found.items()} == {"all": 60, "covered": len(left)}
        for name, rows in (("all", ROWS), ("covered", left)):
            # A pair with an unknown word has similarity 0.
            cosines = np.where(
                [row in left for row in rows], HASHED.pairwise(*zip(*[r[:2] for r in rows], strict=True)), 0
            )
            expected = 100 * stats.spearmanr(cosines, [row[2] for row in rows]).statistic
            figure = found[name].report["figures"]["spearman"]
            assert figure["value"] == pytest.approx(expected, abs=1e-4)
            assert figure["interval"][0] < figure["value"] < figure["interval"][1]
            assert found[name].further == {"covered": len(left)}
    assert 20 < len(left) < 60


def test_a_model_covers_the_words_of_its_vocabulary(tmp_path):
    config = {"lower_case": True}
    tokenizer = WordTokenizer([("red", 2), ("car", 1)], config)
    model = StaticModel(
        EmbeddingMatrix(np.array([[1, 1], [1, 0], [0, 1]], np.float32)), tokenizer, {"lower_case": True}
    )
    rows = ["red\tCar\t1", "red\tred\t3", "car\tautomobile\t2", "gnu\tautomobile\t0"]
    given = task(tmp_path / "set.tsv", rows)
    assert EmbeddingScorer(model).known(["Red", "gnu", "red gnu", ""]).tolist() == [True, False, True, False]
    found = given.score(EmbeddingScorer(model), DRAW)
    # Two unknown words share the row of unknown words: their cosine of 1 would say nothing.
    assert (found["all"].items, found["covered"].items) == (4, 2)
    assert found["covered"].metrics["spearman"].value == pytest.approx(100)
    both = CombinedModel(
        [model, StaticModel(EmbeddingMatrix(np.ones((2, 2), np.float32)), WordTokenizer([("gnu", 1)], config), config)]
    )
    assert EmbeddingScorer(both).known(["red", "gnu", "gnat"]).tolist() == [True, True, False]


def test_without_correlation_it_says_why(tmp_path):
    same = task(tmp_path / "set.tsv", LINES).score(SAME, DRAW)
    assert same["all"].metrics["spearman"].why == "the system finds every pair equally similar"
    nothing = Some(HASHED.model)
    few = task(tmp_path / "few.tsv", ["w1\tw2\t3", "w2\tw3\t1"]).score(nothing, DRAW)
    assert list(few) == ["all"] and few["all"].further == {"covered": 0}


def test_layouts_line_ends_and_marks_make_no_difference(tmp_path):
    simlex = [
        "word1\tword2\tPOS\tSimLex999\tc\td\te\tf\tg\th",
        *(f"{a}\t{b}\tN\t{s}\t1\t1\t1\t1\t1\t1" for a, b, s in ROWS),
    ]
    simverb = ["Word 1\tWord 2\tScore", *LINES]
    plain = task(tmp_path / "plain.tsv", LINES).data
    for number, (rows, layout) in enumerate(((LINES, "plain"), (simlex, "simlex"), (simverb, "simverb"))):
        for end in ("\n", "\r\n"):
            first, second, scores = task(
                tmp_path / f"{number}", ["\ufeff" + rows[0], *rows[1:]], end, layout=layout
            ).data
            assert (first, second) == plain[:2] and np.array_equal(scores, plain[2])


def test_bad_input_is_one_line(tmp_path):
    header = "word1\tword2\tPOS\tSimLex999"
    for rows, entry, said in (
        (["Word 1\tWord 2\tScore", *LINES], {}, r"x\.tsv, line 1: a header; write `layout: simverb`"),
        (["one\ttwo\tscore", *LINES], {}, r"x\.tsv, line 1: the score 'score' is not a number"),
        (["a\tb\t1", "a\tb\tc\t1"], {}, "line 2: 4 columns instead of 3, separated by tabs"),
        (["a\tb\t1", "a\t\t1"], {}, "line 2: a word is missing"),
        (["a\tb\tnan"], {}, "line 1: the score 'nan' is not a number"),
        (LINES, {"layout": "simlex"}, r"line 1: the header is .*, not word1 \| word2 \| POS \| SimLex999 as"),
        (["Word 1\tWord 2\tScore"], {"layout": "simverb"}, r"x\.tsv: has only a header"),
        ([header + "\ta\tb\tc\td\te\tf", "a\tb\tN\t1"], {"layout": "simlex"}, "line 2: 4 columns instead of 10"),
        ([], {}, r"x\.tsv: is empty"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=said):
            task(tmp_path / "x.tsv", rows, **entry).score(HASHED, DRAW)
    with pytest.raises(DataError, match=r"none\.tsv: cannot be read"):
        make({"task": "word_similarity", "path": str(tmp_path / "none.tsv")}).score(HASHED, DRAW)
    with pytest.raises(ConfigError, match="layout is men, but must be plain or simlex or simverb"):
        make({"task": "word_similarity", "path": "x", "layout": "men"})


def test_the_sets_as_published(psp_data):
    sets = {
        "SimLex-999.txt": ("simlex", 999), "EN-SIMLEX-999.txt": ("plain", 999), "simverb.txt": ("simverb", 3500),
        "EN-SimVerb-3500.txt": ("plain", 3500), "EN-WS-353-ALL.txt": ("plain", 353),
        "EN-MEN-TR-3k.txt": ("plain", 3000), "EN-WS-353-SIM.txt": ("plain", 203), "EN-WS-353-REL.txt": ("plain", 252),
    }  # fmt: skip
    read = {}
    for name, (layout, pairs) in sets.items():
        path = str(psp_data / "eval/words" / name)
        made = make({"task": "word_similarity", "path": path, "layout": layout})
        read[name] = dict(zip(made.pairs, made.data[2].tolist(), strict=True)), made
        assert len(made.pairs) == pairs == len(list(made.sentences())) // 2
    assert read["SimLex-999.txt"][0] == read["EN-SIMLEX-999.txt"][0]
    assert read["simverb.txt"][0] == read["EN-SimVerb-3500.txt"][0]
