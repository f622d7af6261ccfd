"""The grid of a search: its points and their names, what it may not search, and the best of the points."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from psp.config.blocks.training import PAPER, TUNABLE, TrainSettings
from psp.core.errors import ConfigError, DataError
from psp.training.grid import check, differences, points, report, searched

PAPERS: dict[str, Any] = {**TrainSettings().as_dict(), **PAPER}
OWN: dict[str, Any] = TrainSettings().as_dict()  # which mines nothing


def test_points_are_each_value_with_each_and_their_names_fit_files() -> None:
    found = points({"dropout": [0, 0.1, 0.3], "megabatch": [60, 100], "epochs": [2]})
    assert list(found) == [
        "dropout=0+megabatch=60", "dropout=0+megabatch=100", "dropout=0.1+megabatch=60", "dropout=0.1+megabatch=100",
        "dropout=0.3+megabatch=60", "dropout=0.3+megabatch=100",
    ]  # fmt: skip
    # A key with one value holds for all points, and is not searched.
    assert found["dropout=0.3+megabatch=60"] == {"dropout": 0.3, "megabatch": 60, "epochs": 2}
    assert searched({"dropout": [0, 0.1], "epochs": [2]}) == ["dropout"]
    every = {"clip": [None, 5.0], "mask_equal": [True, False], "learning_rate": [1e-05, 1.0]}
    assert list(points(every))[::4] == [
        "clip=null+mask_equal=true+learning_rate=1e-05", "clip=5+mask_equal=true+learning_rate=1e-05",
    ]  # fmt: skip
    # A name with a comma is none that Snakemake hands to a cluster's job.
    assert list(points({"loss": [{"scale": 5, "bias": -1}, {}]})) == ["loss=scale=5+bias=-1", "loss=none"]
    assert list(points({"matryoshka": [[], [4], [2, 4]]})) == ["matryoshka=none", "matryoshka=4", "matryoshka=2-4"]


def checked(grid: dict[str, list[Any]], train: dict[str, Any]) -> None:
    check("models.fr.variants.grid", grid, [{**train, **point} for point in points(grid).values()])


def test_what_trainings_do_not_read_is_not_searched() -> None:
    for key, values in {"megabatch": [60, 100], "negatives": ["opposite", "any"]}.items():
        words = rf"^models\.fr\.variants\.grid\.{key}: training with these settings does not use {key}; leave it out$"
        with pytest.raises(ConfigError, match=words):
            checked({key: values}, OWN)
    with pytest.raises(ConfigError, match="does not use scale"):
        checked({"dropout": [0, 0.1], "scale": [10, 20]}, PAPERS)
    checked({"objective": ["infonce", "margin"], "scale": [10, 20]}, PAPERS)  # one of them does
    checked({"dropout": [0, 0.1, 0.3], "megabatch": [60, 100, 140]}, PAPERS)
    with pytest.raises(ConfigError, match=r"no key has several values; write e\.g\. `grid: \{dropout: \["):
        checked({"epochs": [2]}, OWN)


SEARCHED: dict[str, dict[str, Any]] = points({"dropout": [0, 0.1], "megabatch": [2, 4]})


def trained(folder: Path, *scores: float | None) -> dict[str, Path]:
    """The train.json of each point, with these scores."""
    files = {}
    for (name, values), score in zip(SEARCHED.items(), scores, strict=True):
        body = {"format": 1, "settings": {**PAPERS, **values}, "store_pairs": 240, "steps": 30, "best": None}
        if score is not None:
            body |= {"best": {"epoch": 1, "score": score - 9}, "final": {"score": score}}
        files[name] = folder / f"{name}.json"
        files[name].write_text(json.dumps(body))
    return files


def test_the_best_is_the_first_with_the_highest_final_score(tmp_path: Path) -> None:
    found = report(trained(tmp_path, -5.0, 7.5, 7.5, -90.0), SEARCHED)
    assert found["best"] == "dropout=0+megabatch=4"
    assert [(point["name"], point["score"]) for point in found["points"]] == list(
        zip(SEARCHED, (-5.0, 7.5, 7.5, -90.0), strict=True)
    )
    expected = {"settings": {"dropout": 0, "megabatch": 4}, "score": 7.5, "epoch": 1, "steps": 30}
    assert found["points"][1] == {"name": "dropout=0+megabatch=4", **expected}


def test_trainings_of_other_points_and_without_a_score_are_refused(tmp_path: Path) -> None:
    found = trained(tmp_path, 1, 2, 3, None)
    with pytest.raises(DataError, match=r"megabatch=4\.json: has no validation score; give the model development data"):
        report(found, SEARCHED)
    first, second, *_ = found
    with pytest.raises(DataError, match=r"megabatch=4\.json: is of a training with megabatch 4, not 2; delete it"):
        report({**found, first: found[second]}, SEARCHED)
    found[first].write_text("{}")
    with pytest.raises(DataError, match=r"megabatch=2\.json: has format None"):
        report(found, SEARCHED)


def test_differences_are_of_the_values_that_were_used() -> None:
    known, used = {"train.epochs": 3}, {"dropout": 0.1, "megabatch": 60, "epochs": 3}
    assert differences(known, {"dropout": 0, "megabatch": 60}, used) == {"train.epochs": 3, "train.dropout": 0.1}
    assert differences(known, {}, used) == known


def test_a_search_is_over_what_changes_learning() -> None:
    found = set(TUNABLE)
    # The others change when a model is scored, what is kept of it, or where and how it is trained, not what it learns.
    others = {"threads", "device", "log_every", "select", "settings_from"}
    assert "dropout" in found and not found & others
