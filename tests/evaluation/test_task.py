"""A trained model on one task of a config."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from psp.config.config import Config
from psp.core.errors import ConfigError
from psp.core.files import read_json
from psp.evaluation.scorers import EmbeddingScorer
from psp.evaluation.task import evaluate_model_task, evaluate_task
from psp.models.folder import load_model
from psp.report import task_table
from tests.conftest import PAIRS
from tests.evaluation.tasks.conftest import SAME, write

ROOT = Path(__file__).parents[2]


def test_what_is_written_is_the_librarys(made: SimpleNamespace, tmp_path: Path) -> None:
    sides = [write(tmp_path / str(side), [pair[side] for pair in PAIRS[:40]]) for side in (0, 1)]
    entry = {"task": "tatoeba", "sets": {"fr": [str(sides[1]), str(sides[0])]}}
    out = tmp_path / "tasks/news.json"
    written = evaluate_model_task(made.model, out, entry, model="fr", name="news", resamples=200, seed=1)
    assert read_json(out) == written
    similarity = EmbeddingScorer(load_model(made.model)).cross([a for a, _ in PAIRS[:40]], [b for _, b in PAIRS[:40]])
    wrong = similarity.argmax(axis=1) != np.arange(40)
    assert written["parts"]["eng-fra"]["figures"]["error"]["value"] == round(100 * wrong.mean(), 4)
    assert "test" not in written["parts"]["eng-fra"]  # `psp show` lists it beside the standard set of this kind
    scorer = EmbeddingScorer(load_model(made.model))
    assert evaluate_task(scorer, entry, name="news", resamples=200, seed=1)["parts"] == written["parts"]


def test_a_task_in_languages_that_the_model_does_not_know_says_so(made: SimpleNamespace, tmp_path: Path) -> None:
    scorer = EmbeddingScorer(load_model(made.model))

    def unknown(*languages: str) -> object:
        one, other = languages
        for side, code in enumerate(languages):
            write(
                tmp_path / f"{one}-{other}.training.{code}", [f"{n}\t{pair[side]}" for n, pair in enumerate(PAIRS[:9])]
            )
        write(tmp_path / f"{one}-{other}.training.gold", [f"{n}\t{n}" for n in range(9)])
        entry = {"task": "bitext_mining", "path": str(tmp_path), "languages": list(languages)}
        found = evaluate_task(scorer, entry, name="news", resamples=100, seed=1)
        shown = task_table.table([{"name": "news", "model": "fr", **found}]).write()
        assert ("language not known to the model: " in shown) == ("unknown_languages" in found)
        return found.get("unknown_languages")

    assert unknown("en", "fr") is None and unknown("eng_Latn", "fra") is None
    assert unknown("en", "es") == ["es"] and unknown("zho-TW", "sw") == ["zho-TW", "sw"]


def test_the_table_says_what_is_undefined_and_where_a_threshold_comes_from(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tsv", [f"{n % 2}\ta {n}\tb {n}" for n in range(8)])
    results = [
        {
            "model": "same",
            "name": kind,
            **evaluate_task(SAME, {"task": kind, "path": str(path)}, name=kind, resamples=100, seed=1),
        }
        for kind in ("similarity", "pair_classification")
    ]
    text = task_table.table(results).write()
    assert "similarity, same, x, pearson: the system finds every pair equally similar" in text
    assert "pair_classification: the threshold of accuracy was chosen on the scored set itself" in text
    (line,) = [line for line in text.splitlines() if "accuracy" in line and "50.0" in line]
    assert re.search(r"50\.0 \[[\d.]+, [\d.]+\]", line)


def test_a_config_knows_its_tasks_and_they_change_no_model() -> None:
    entry = {"task": "similarity", "path": "x.tsv"}
    config = Config.load([ROOT / "config/config.yaml"], {"models": {"fr": {"evaluate": {"tasks": {"x": entry}}}}})
    assert config.task("fr", "x").settings["layout"] == "plain"
    assert config.model("fr").differences == Config.load([ROOT / "config/config.yaml"]).model("fr").differences
    with pytest.raises(
        ConfigError,
        match=r"y is not one of them; there are sts, semeval2017, stsb, tatoeba, x",
    ):
        config.task("fr", "y")
    for wrong, said in (
        ({"task": "similarty", "path": "x"}, r"evaluate\.tasks\.x\.task"),
        ({"task": "similarity"}, r"models\.fr\.evaluate\.tasks\.x lacks path"),
        ({"path": "x"}, r"evaluate\.tasks\.x"),
    ):
        with pytest.raises(ConfigError, match=said):
            config = Config.load(
                [ROOT / "config/config.yaml"], {"models": {"fr": {"evaluate": {"tasks": {"x": wrong}}}}}
            )
            assert config.cleared("de").name == "de"  # a wrong task is nothing to other models
            config.cleared("fr")
