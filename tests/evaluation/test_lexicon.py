"""A lexicon scored as any system is, against scipy and plain dictionaries; and on the supplied pairs."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from psp.config.blocks.mixing import LexiconBlock
from psp.core.errors import DataError
from psp.core.files import read_json
from psp.evaluation.lexicon import write_lexicon
from psp.pairs.lexicon.sentences import SentenceSource
from tests.pairs.conftest import write
from tests.pairs.lexicon.reference import plain_lexicon

DEFAULTS: dict[str, Any] = LexiconBlock().as_dict()
#: Words that replace one another, with how much they do so, among words that are the same on both sides.
WORDS = [f"w{number}" for number in range(12)]
RNG = np.random.default_rng(1)
ROWS = [(" ".join(RNG.choice(WORDS, 4)), " ".join(RNG.choice(WORDS, 4))) for _ in range(40)]
SET = [
    (*RNG.choice([*WORDS, "absent"], 2, replace=False).tolist(), round(float(score), 2))
    for score in RNG.uniform(0, 10, 30)
]


def made(folder: Path, rows: list[tuple[str, ...]] = ROWS, **given: Any) -> dict[str, Any]:
    words = folder / "words.tsv"
    words.write_text("".join(f"{a.upper()}\t{b}\t{score}\n" for a, b, score in SET))
    settings = DEFAULTS | {"min_count": 2} | given.pop("settings", {})
    return write_lexicon(
        [SentenceSource("Own.en-en", write(folder / "pairs.tsv", rows))],
        folder / "lexicon.tsv", folder / "lexicon.json",
        **{"languages": ("en", "en"), "settings": settings, "resamples": 50, "seed": 1, "model": "en",
           "tasks": {"set": {"task": "word_similarity", "path": str(words)},
                     "other": {"task": "similarity", "path": "not read"}}, **given},
    )  # fmt: skip


def test_its_scores_are_scipys_of_the_plain_figures(tmp_path):
    report = made(tmp_path)
    assert read_json(tmp_path / "lexicon.json") == report
    lines, plain = plain_lexicon(ROWS, paraphrases=True, settings=DEFAULTS | {"min_count": 2})
    assert (tmp_path / "lexicon.tsv").read_text() == "\n".join(lines) + "\n"
    seen = [bool(plain.across[a, b]) for a, b, _ in SET]
    gold = np.array([score for *_, score in SET])
    for name, smoothing, adjusted in (
        ("cross", 0.1, 0), ("adjusted", 0.1, 1), ("cross_unsmoothed", 0, 0), ("adjusted_unsmoothed", 0, 1)
    ):  # fmt: skip
        parts = report["scores"]["set"][name]
        assert list(parts) == (["all", "covered"] if smoothing else ["covered"])
        for part, found in parts.items():
            rows = seen if part == "covered" else [True] * len(SET)
            known = [plain.frequency[0][a] + plain.frequency[1][a] and plain.frequency[0][b] for a, b, _ in SET]
            values = [
                plain.cross(a, b, smoothing) - adjusted * plain.within(a, b, smoothing) if one else 0
                for (a, b, _), one, row in zip(SET, known, rows, strict=True) if row
            ]  # fmt: skip
            figure = found["figures"]["spearman"]
            assert figure["value"] == pytest.approx(100 * stats.spearmanr(values, gold[rows]).statistic, abs=1e-3)
            assert found["items"] == sum(rows) and found["further"] == {"covered": sum(seen)}
    assert list(report["scores"]) == ["set"] and 10 < sum(seen) < 30


def test_a_translation_lexicon_has_no_scores_and_names_what_it_leaves_out(tmp_path):
    report = made(tmp_path, languages=("en", "fr"), left_out=["Pairs.en-en"])
    assert report["scores"] == {} and report["left_out"] == ["Pairs.en-en"]
    assert (tmp_path / "lexicon.tsv").read_text().startswith("u\tv\tcount\tcross\n")


def test_a_bad_word_set_is_told_before_anything_is_counted(tmp_path):
    wrong = write(tmp_path / "wrong.tsv", [("a", "b")])
    with pytest.raises(DataError, match=r"wrong\.tsv, line 1: 2 columns instead of 3"):
        made(tmp_path, tasks={"set": {"task": "word_similarity", "path": str(wrong)}})
    assert not (tmp_path / "lexicon.tsv").exists()


@pytest.mark.slow
def test_the_supplied_pairs_reach_the_figures_of_the_appendix_in_order(psp_data, tmp_path):
    """SimLex-999, and less than ten seconds of one core."""
    with zipfile.ZipFile(psp_data / "paraphrase/english_pairs.zip") as archive:
        archive.extract("english_pairs.txt", tmp_path)
    words = str(psp_data / "eval/words/SimLex-999.txt")
    start = time.process_time()
    report = write_lexicon(
        [SentenceSource("EnglishPairs", tmp_path / "english_pairs.txt")], tmp_path / "lexicon.tsv", None,
        languages=("en", "en"), settings=DEFAULTS | {"min_score": 0.35}, resamples=100, seed=1,
        tasks={"simlex": {"task": "word_similarity", "layout": "simlex", "path": words}},
    )  # fmt: skip
    took = time.process_time() - start
    assert report["pairs"] == 103_545
    found = report["scores"]["simlex"]
    assert found["adjusted"]["covered"]["items"] == 386

    def value(measure: str, part: str) -> float:
        return found[measure][part]["figures"]["spearman"]["value"]

    assert value("cross", "all") == pytest.approx(29.56, abs=0.01)
    assert value("adjusted", "all") == pytest.approx(32.12, abs=0.01)
    assert value("cross_unsmoothed", "covered") == pytest.approx(45.72, abs=0.01)
    assert value("adjusted_unsmoothed", "covered") == pytest.approx(56.60, abs=0.01)
    # 5 s alone on this core, up to 9 beside a load of six on two cores; compiling the loops anew takes more.
    assert took < 30
