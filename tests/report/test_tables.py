"""Tables of models over their seeds: benchmarks/tables.py."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks/tables.py"


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPT.parent)  # where it imports quoted_tasks from
        spec = importlib.util.spec_from_file_location("tables", SCRIPT)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def model(folder: Path, seed: int, **figures: float) -> None:
    """An eval.json with these figures, each named TASK__PART__METRIC."""
    tasks: dict[str, dict[str, dict[str, object]]] = {}
    for name, value in figures.items():
        task, part, metric = name.split("__")
        figure = {"value": value, "interval": None, "label": "", "unit": "%", "higher_is_better": True}
        parts = tasks.setdefault(task, {"parts": {}})["parts"]
        parts.setdefault(part, {"items": 10, "figures": {}, "test": "", "further": {}})["figures"][metric] = figure
    folder.mkdir()
    facts = {"name": folder.name, "seed": seed, "format": 2, "tasks": tasks}
    (folder / "eval.json").write_text(json.dumps(facts))


@pytest.fixture
def models(tmp_path: Path) -> Path:
    for seed, (pearson, error) in enumerate(((70.0, 5.0), (71.0, 6.0), (72.0, 7.0)), 1):
        figures = {
            "sts__average__pearson": pearson,
            "sts__average__pearson_without_smt": 1.0,
            "tatoeba__mean__error": error,
        }
        model(tmp_path / f"fr-{seed}", seed, **figures, tatoeba__fra__error=error)
    model(tmp_path / "en", 1, sts__average__pearson=69.0)
    return tmp_path


def test_a_row_is_the_mean_over_its_seeds(script: ModuleType, models: Path) -> None:
    rows = {"fr": [models / f"fr-{seed}" for seed in (1, 2, 3)], "en": [models / "en"]}
    assert script.table(rows, ["tatoeba/fra"], "text").splitlines() == [
        "               P            T  tatoeba/fra",
        "--  ------------  -----------  -----------",
        "fr  71.00 ± 1.00  6.00 ± 1.00  6.00 ± 1.00",
        "en         69.00            -            -",
    ]


def test_the_command_gathers_names_and_tells_what_is_missing(models: Path) -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(SCRIPT), *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=models, check=False)

    done = run("fr=fr-1", "en=en", "fr=fr-3")
    assert done.stdout.splitlines()[-2:] == ["| fr | 71.00 ± 1.41 | 6.00 ± 1.41 |", "| en | 69.00 | - |"], done.stderr
    for arguments, message in {
        ("fr",): "fr: write NAME=FOLDER",
        ("both=fr-1", "both=en"): "tatoeba/mean/error: en has no such figure",
        ("en=en", "--also", "tatoeba/fra"): "tatoeba/fra: no model has it",
        ("it=it",): "it: ",
    }.items():
        failed = run(*arguments)
        assert failed.returncode and message in failed.stderr and "Traceback" not in failed.stderr, failed.stderr
