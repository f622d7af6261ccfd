"""A published table with our rows above it, by benchmarks/transfer.py (polish.py has its own tests)."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from psp.evaluation.tasks import make
from psp.report import quoted

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("transfer", ROOT / "benchmarks/transfer.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_its_columns_are_the_tasks_of_the_config_and_the_papers(script: ModuleType) -> None:
    tasks = yaml.safe_load((ROOT / "config/transfer.yaml").read_text())["evaluate"]["tasks"]
    assert set(tasks) == {column.task for column in script.TABLE.columns}
    known = {name for one in quoted.load() if one.source.startswith(script.TABLE.source) for name in one.figures}
    for column in script.TABLE.columns:
        assert column.figure in make(tasks[column.task]).figures
        assert column.quoted in known or column.title == "SST-S"


def test_one_file_may_have_two_columns(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    scores = {"accuracy": {"value": 71.2, "interval": None}, "f1": {"value": 80.94, "interval": None}}
    part = {"items": 9, "figures": scores, "further": {}}
    (tmp_path / "tasks/mrpc-linear.json").write_text(json.dumps({"parts": {"all": part}}))
    found = subprocess.run(
        [sys.executable, ROOT / "benchmarks/transfer.py", f"ours={tmp_path}"],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = found.stdout.splitlines()
    assert lines[0] == "|  | MR | CR | SUBJ | MPQA | SST | SST-S | TREC | MRPC | F1 | SICK-R | SICK-E |"
    assert lines[2] == "| ours | - | - | - | - | - | - | - | 71.2 | 80.9 | - | - |"
    assert "| *WORD, 300* (quoted) | 75.8 | 80.5 | 89.2 | 87.1 | 80.0 | - | 80.1 | 68.6 | 80.9 | 83.6 | 80.6 |" in lines
    wrong = subprocess.run([sys.executable, ROOT / "benchmarks/transfer.py", "ours"], capture_output=True, text=True)
    assert wrong.returncode == 1 and wrong.stderr == "error: ours: write NAME=FOLDER\n"
