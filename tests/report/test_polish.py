"""The table of the eight Polish tasks: benchmarks/polish.py."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml

from psp.core.errors import ConfigError
from psp.evaluation.tasks import BootstrapSpec, make
from psp.report import reported
from tests.evaluation.tasks.conftest import HASHED, sentences, write

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("polish", ROOT / "benchmarks/polish.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scored(folder: Path, script: ModuleType, values: dict[str, float | None]) -> Path:
    """Files of tasks, as far as the table reads them."""
    (folder / "tasks").mkdir(parents=True)
    for task, value in values.items():
        figure = next(column.figure for column in script.TABLE.columns if column.task == task)
        seeds = "spearmans" if figure == "spearman" else "accuracies"
        interval = None if value is None else [value - 1, value + 1]
        further = {"seeds": [1, 2], seeds: [value, value] if value else [], "epochs": [10, 20], "sentences_in_train": 3}
        part = {"items": 9, "figures": {figure: {"value": value, "interval": interval}}, "further": further}
        (folder / f"tasks/{task}.json").write_text(json.dumps({"parts": {"all": part}}))
    return folder


def test_our_rows_stand_above_the_papers_and_have_an_average_of_all_eight(script: ModuleType, tmp_path: Path) -> None:
    values = dict(zip((column.task for column in script.TABLE.columns), np.linspace(60, 74, 8), strict=True))
    full = scored(tmp_path / "full", script, values)
    part = scored(tmp_path / "part", script, {"ppc": 60.0, "cdsc-r": None})
    rows = dict(script.TABLE.named(row) for row in (f"ours={full}", f"half={part}"))
    lines = script.TABLE.table(rows, "markdown").splitlines()
    assert lines[0] == "|  | average | PPC | CR-H | CR-M | CDSC-E | SICK-E | CDSC-R | SICK-R | 8TAGS |"
    assert lines[2] == "| ours | 67.0 | 60.0 | 62.0 | 64.0 | 66.0 | 68.0 | 70.0 | 72.0 | 74.0 |"
    assert lines[3] == "| half | - | 60.0 | - | - | - | - | - | - | - |"
    assert "| *LaBSE* (quoted) | 81.2 | 77.1 | 86.1 | 80.6 | 86.7 | 81.6 | 90.0 | 76.0 | 71.4 |" in lines
    assert len(lines) == 2 + 2 + 17
    shown = script.details(rows, "text")
    assert "69.0 to 71.0" in shown and "10, 20" in shown


def test_the_papers_averages_are_those_of_the_quoted_figures(script: ModuleType) -> None:
    rows = [one for one in reported.load() if "polish/average" in one.figures]
    assert len(rows) == 17
    for one in rows:
        mean = np.mean([one.figures[f"polish/{task}"] for task in (column.task for column in script.TABLE.columns)])
        assert mean == pytest.approx(one.figures["polish/average"], abs=0.011), one.name


@pytest.mark.slow
def test_a_real_tasks_file_is_read_and_another_protocols_is_not(script: ModuleType, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    for part, count in (("train", 40), ("dev", 20), ("test", 24)):
        rows = [f"{number % 2} {text}" for number, text in enumerate(sentences(count, count))]
        write(tmp_path / f"set/{part}.txt", rows)
    entries = {
        "8tags": {"task": "mlp_classification", "path": str(tmp_path / "set"), "seeds": [1]},
        "ppc": {"task": "classification", "path": str(tmp_path / "set/test.txt")},
    }
    for name, entry in entries.items():
        found = make(entry).score(HASHED, BootstrapSpec(100, 1, name))
        body = {"parts": {part: one.report for part, one in found.items()}}
        write(tmp_path / f"tasks/{name}.json", [json.dumps(body)])
    _, row = script.TABLE.named(f"x={tmp_path}")
    assert list(row) == ["8TAGS"]
    for wrong, said in (("x", "write NAME=FOLDER"), (f"x={tmp_path / 'set'}", "no scores by this protocol")):
        with pytest.raises(ConfigError, match=said):
            script.TABLE.named(wrong)


def test_its_columns_are_the_tasks_of_the_config(script: ModuleType) -> None:
    tasks = yaml.safe_load((ROOT / "config/polish.yaml").read_text())["evaluate"]["tasks"]
    for column in script.TABLE.columns:
        assert column.figure in make(tasks[column.task]).metrics
