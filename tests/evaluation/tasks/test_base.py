"""What all tasks of a config share: their settings, figures and files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from psp.core.errors import ConfigError, DataError
from psp.evaluation.tasks import BootstrapSpec, Metric, Task, make, names, of_every_model
from psp.evaluation.tasks.base import CORRELATION, PERCENT, columns
from tests.evaluation.tasks.conftest import write

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
    ],
)
def test_a_wrong_entry_is_told_in_one_line(entry: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make(entry, "evaluate.tasks.x")
    assert str(caught.value).startswith(said)


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
