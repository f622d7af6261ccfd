"""What all tasks of a config share: their settings, figures and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from psp.core.errors import ConfigError, DataError
from psp.evaluation.task import evaluate_task
from psp.evaluation.tasks import BootstrapSpec, Metric, Task, make, names, of_every_model
from psp.evaluation.tasks.base import CORRELATION, PERCENT, columns
from psp.report import task_table
from tests.evaluation.tasks.conftest import HASHED, write

OWN = "tests.evaluation.tasks.triplets:Triplets"
DRAW = BootstrapSpec(resamples=2000, seed=1, name="set")


def test_every_task_tells_a_config_what_it_takes() -> None:
    assert [kind.kind for kind in of_every_model()] == ["sts", "semeval2017", "stsb", "files", "tatoeba"]
    for kind in names():
        task = Task.classes[kind]
        assert task.help and task.metrics and task.paths <= task.Settings.declared().keys()
        assert all(one.unit in (CORRELATION, PERCENT) and one.help for one in task.metrics.values())
        assert all(field.description for field in task.Settings.declared().values()), kind


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "evaluate.tasks.x.task: None must be one of bitext_mining, classification"),
        ({"task": "retrievel"}, "evaluate.tasks.x.task: 'retrievel' must be one of"),
        ({"task": "similarity"}, "evaluate.tasks.x lacks path; add it"),
        ({"task": OWN}, "evaluate.tasks.x lacks path; add it"),
        (
            {"task": OWN, "path": "x", "margin": -1},
            "evaluate.tasks.x.margin is -1, but must be at least 0 (by how",
        ),
        ({"task": "no_module:Mine"}, "evaluate.tasks.x.task: no_module:Mine: there is no module no_module; put"),
        ({"task": "json:Mine"}, "evaluate.tasks.x.task: json:Mine: <module 'json'"),
        (
            {"task": "json:JSONDecoder"},
            "evaluate.tasks.x.task: json:JSONDecoder is no subclass of psp.evaluation.tasks.base.Task; derive it from",
        ),
        (
            {"task": "psp.evaluation.tasks.splits:Split"},
            "evaluate.tasks.x.task: psp.evaluation.tasks.splits:Split lacks score; write it as psp.evaluation.tasks.",
        ),
    ],
)
def test_a_wrong_entry_is_told_in_one_line(entry: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make(entry, "evaluate.tasks.x")
    assert str(caught.value).startswith(said) and "\n" not in str(caught.value)


def test_a_task_of_ones_own_is_scored_as_the_others_and_joins_none_of_their_lists(tmp_path: Path) -> None:
    rows = ["a b c\ta b d\tx y z", "e f\tg h\te f i"] * 20
    entry = {"task": OWN, "path": str(write(tmp_path / "triplets.tsv", rows)), "margin": 0.1}
    found = evaluate_task(HASHED, entry, name="mine", resamples=200, seed=1)
    assert found["task"] == OWN and found["settings"] == {key: entry[key] for key in ("margin", "path")}
    figure = found["parts"]["all"]["figures"]["accuracy"]
    assert figure["value"] == 50 and figure["interval"][0] < 50 < figure["interval"][1]
    assert "accuracy" in task_table.table([{"name": "mine", "model": "hashed", **found}]).write()
    assert list(make(entry).sentences()) == [text for row in rows for text in row.split("\t")]
    assert OWN not in names() and "" not in names()


def test_a_mean_has_the_interval_of_its_bootstrap() -> None:
    values = np.random.default_rng(1).normal(50, 10, 400)
    report = DRAW.mean(values).report
    assert report["value"] == pytest.approx(values.mean(), abs=1e-4)
    low, high = report["interval"]
    half = 1.96 * values.std() / np.sqrt(len(values))
    assert (report["value"] - low, high - report["value"]) == (
        pytest.approx(half, rel=0.15),
        pytest.approx(half, rel=0.15),
    )
    assert DRAW.mean(values).report == report
    assert BootstrapSpec(2000, 2, "set").mean(values).report != report
    assert Metric(None, why="it is constant").report == {"value": None, "interval": None, "why": "it is constant"}


def test_a_file_with_a_mark_carriage_returns_and_quotation_marks_is_read_as_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", ["\ufeffid\tone\ttwo", '1\t"a\tb" c', "2\td\te"], end="\r\n")
    assert list(columns(path, ("two", "one"), header=True)) == [(2, ['b" c', '"a']), (3, ["e", "d"])]
    assert next(iter(columns(path, (0,), header=False))) == (1, ["id"])
    with pytest.raises(DataError, match=r"a\.tsv, line 1: the header has no column 'three': id | one | two"):
        list(columns(path, ("three",), header=True))
