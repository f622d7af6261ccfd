"""A published table with our rows above it, by benchmarks/transfer.py (polish.py has its own tests)."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml
from quoted_tasks import parsed

from psp.core.errors import ConfigError
from psp.evaluation.compare import task_differences
from psp.evaluation.scorers import EmbeddingScorer
from psp.evaluation.task import evaluate_system_task
from psp.evaluation.task_files import scored_task
from psp.evaluation.tasks import make
from psp.report import reported
from psp.report.comparison import difference
from tests.evaluation.tasks.conftest import HASHED, Hashed, sentences, write

ROOT = Path(__file__).parents[2]
A, B = sentences(60, 1), sentences(60, 2)


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
    known = {name for one in reported.load() if one.source.startswith(script.TABLE.source) for name in one.figures}
    for column in script.TABLE.columns:
        assert column.figure in make(tasks[column.task]).metrics
        assert column.reported in known or column.title == "SST-S"


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


def test_rows_are_subtracted_with_the_intervals_of_the_paired_bootstrap(script: ModuleType, tmp_path: Path) -> None:
    rows = [f"{n % 2}\t1\t2\t{a}\t{a if n % 2 else b}" for n, (a, b) in enumerate(zip(A, B, strict=True))]
    path = write(tmp_path / "x.tsv", ["Quality\t#1 ID\t#2 ID\t#1 String\t#2 String", *rows])
    entry = {"task": "classification", "layout": "mrpc", "path": str(path), "train": str(path), "dev": str(path)}
    for name, scorer in (("own", HASHED), ("other", EmbeddingScorer(Hashed(dim=2)))):
        out = tmp_path / name / "tasks/mrpc-linear.json"
        evaluate_system_task(scorer, out, entry, model=name, name="mrpc-linear", resamples=100, seed=1)
    folders = dict(map(parsed, (f"own={tmp_path / 'own'}", f"other={tmp_path / 'other'}")))
    lines = script.TABLE.minus(folders, "own", "markdown").splitlines()
    assert len(lines) == 3 and lines[0].startswith("|  | MR |")
    found = task_differences(*(folder / "tasks/mrpc-linear.json" for folder in folders.values()))["all"]
    expected = [str(difference(found[figure], is_error=False)) for figure in ("accuracy", "f1")]
    assert lines[2] == f"| other - own | - | - | - | - | - | - | - | {expected[0]} | {expected[1]} | - | - |"
    with pytest.raises(ConfigError, match="--minus owned: no such row; there are own, other"):
        script.TABLE.minus(folders, "owned", "text")
    # The average of a table whose columns are all there: the mean in each resample.
    columns = tuple(column for column in script.TABLE.columns if column.task == "mrpc-linear")
    whole = dataclasses.replace(script.TABLE, columns=columns, average="transfer/average")
    cells = whole.minus(folders, "own", "markdown").splitlines()[2].split(" | ")
    (_, own), (_, other) = (scored_task(folder / "tasks/mrpc-linear.json") for folder in folders.values())
    drawn = [(other[f"all/{key}"] - own[f"all/{key}"]) / 2 for key in ("accuracy", "f1")]
    low, high = np.quantile(drawn[0] + drawn[1], [0.025, 0.975])
    middle = (found["accuracy"]["difference"] + found["f1"]["difference"]) / 2
    assert cells[1] == f"{middle:+.1f} [{low:+.1f}, {high:+.1f}]"
