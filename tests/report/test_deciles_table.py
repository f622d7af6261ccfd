"""Tenths and corpora as tables, and the picture."""

from __future__ import annotations

import subprocess
import sys

from psp.core.files import write_json
from psp.report import deciles_table


def scores(mean: float, deviation: float | None = 0.26) -> dict:
    return {"values": [mean], "mean": mean, "deviation": deviation}


def entry(mean: float, deviation: float | None = 0.26) -> dict:
    figures = {"word": scores(mean, deviation), "subword": scores(mean + 1, deviation)}
    return {"pairs": 1234, "figures": figures, "mean": scores(mean + 0.5, deviation)}


SHARED = {"format": 1, "model": "en", "pairs": 1000, "epochs": 3, "encoders": ["word", "subword"]}
SHARED["development"] = "semeval2017-en"
BOUNDS = [{"tenth": n, "pairs": 1300, "low": n / 10, "high": n / 10 + 0.1} for n in range(1, 11)]
DECILES = {
    **SHARED,
    "seeds": [1, 2],
    "all": entry(75),
    "by": [
        {
            "by": by,
            "corpora": [{"label": "A.en-en", "bounds": BOUNDS}],
            "tenths": [{"tenth": n, **entry(70 + n)} for n in range(1, 11)],
        }
        for by in ("score", "overlap")
    ],
}


def test_each_ranking_is_a_table_with_all_pairs_last():
    text = deciles_table.deciles(DECILES, "markdown")
    assert "| by score | from | to | pairs | word | subword | mean |" in text
    assert "| by trigram overlap | from |" in text
    assert "| decile 10 | 1 | 1.1 | 1,234 | 80.0 ± 0.3 | 81.0 ± 0.3 | 80.5 ± 0.3 |" in text
    assert text.count("| all |  |  | 1,234 | 75.0 ± 0.3 |") == 2
    assert text.endswith(
        "- Pearson x 100 on semeval2017-en, development data; 1,000 pairs of each, 3 epochs; mean ± sample standard "
        "deviation over seeds 1, 2.\n"
    )


def test_an_empty_decile_has_no_bounds_and_one_seed_no_deviation():
    empty = [{**one, "low": None, "high": None} for one in BOUNDS]
    ranking = {**DECILES["by"][0], "corpora": [{"label": "A.en-en", "bounds": empty}]}
    ranking["tenths"] = [{"tenth": n, **entry(70 + n, None)} for n in range(1, 11)]
    text = deciles_table.deciles({**DECILES, "seeds": [1], "by": [ranking]}, "markdown")
    assert "| decile 1 | - | - | 1,234 | 71.0 | 72.0 | 71.5 |" in text and "; one seed." in text


def test_the_best_corpus_comes_first():
    corpora = [{"label": "A.en-fr", **entry(70)}, {"label": "B.en-fr", **entry(71)}]
    lines = deciles_table.by_corpus({**SHARED, "seeds": [1, 2], "corpora": corpora}, "markdown").split("\n")
    assert lines[0] == "| corpus | pairs | word | subword | mean |"
    assert [line[:9] for line in lines[2:4]] == ["| B.en-fr", "| A.en-fr"]


def test_the_picture_is_the_same_bytes_twice(tmp_path):
    for name in ("one.png", "other.png"):
        deciles_table.draw(DECILES, tmp_path / name)
    assert (tmp_path / "one.png").read_bytes()[:4] == b"\x89PNG"
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()


def test_psp_show_prints_both(tmp_path):
    write_json(tmp_path / "tenths.json", DECILES)
    write_json(tmp_path / "by_corpus.json", {**SHARED, "seeds": [1], "corpora": [{"label": "A.en-fr", **entry(70)}]})
    program = "from psp.cli.main import main; main()"
    shown = subprocess.run(
        [sys.executable, "-c", program, "show", tmp_path], capture_output=True, text=True, check=True
    )
    assert "by score" in shown.stdout and "A.en-fr" in shown.stdout
