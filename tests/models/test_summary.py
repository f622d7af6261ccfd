"""All scores of a folder as records and as a table."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import psp
from psp.core.errors import DataError, PspError
from psp.core.files import read_json, write_json
from psp.models.scores import scores
from psp.models.summary import records

OLD = Path(__file__).parents[1] / "fixtures/results"


def part(value: float | None, **own: object) -> dict[str, object]:
    interval = None if value is None else [value - 1, value + 1]
    about = {"label": "Pearson", "unit": "correlation x 100", "higher_is_better": True}
    why = {"why": "constant"} if value is None else {}
    return {
        "items": 9,
        "figures": {"pearson": {"value": value, "interval": interval, **about, **why}},
        "further": {},
        **own,
    }


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Two models: one with a task of its own, a system and a variant, and one of before."""
    folder = tmp_path / "results/fr"
    tasks = {"stsb": {"parts": {"test": part(70.0, test="STS Benchmark test")}}}
    evaluation = {"format": 1, "model": "fr", "train": {"settings": {"seed": 3}}, "tasks": tasks}
    write_json(folder / "eval.json", evaluation)
    write_json(folder / "tasks/stsb.json", {"name": "stsb", **tasks["stsb"]})  # gathered above
    write_json(folder / "tasks/own.json", {"name": "own", "parts": {"a": part(None), "b": part(5.0)}})
    write_json(folder / "systems/x/eval.json", {"format": 1, "model": "x", "tasks": tasks})
    write_json(folder / "systems/x/tasks/own.json", {"name": "own", "parts": {"a": part(1.0)}})
    for seed in (2, 10):
        write_json(folder / f"variants/psp/{seed}/eval.json", {**evaluation, "tasks": tasks})
    (tmp_path / "results/old").mkdir()
    (tmp_path / "results/old/eval.json").write_bytes((OLD / "eval.json").read_bytes())
    (tmp_path / "results/downloads").mkdir()
    return tmp_path / "results"


def test_each_score_is_one_record(results: Path) -> None:
    found = list(records(results / "fr"))
    assert [(one.system, one.variant, one.seed, one.task, one.part, one.value) for one in found] == [
        (None, None, 3, "stsb", "test", 70.0), (None, None, 3, "own", "a", None), (None, None, 3, "own", "b", 5.0),
        ("x", None, None, "stsb", "test", 70.0), ("x", None, None, "own", "a", 1.0),
        (None, "psp", 2, "stsb", "test", 70.0), (None, "psp", 10, "stsb", "test", 70.0),
    ]  # fmt: skip
    assert (found[0].low, found[0].high, found[0].items, found[0].unit) == (69.0, 71.0, 9, "correlation x 100")
    assert found[1].low is None


def test_the_table_is_of_one_model_or_of_all(results: Path) -> None:
    pytest.importorskip("pandas")
    one, every = psp.results(results / "fr"), psp.results(results)
    assert len(one) == 7 and set(every["model"]) == {"fr", "demo"}
    assert str(one["seed"].dtype) == "Int64" and one["value"].isna().sum() == 1
    old = every[every["model"] == "demo"]
    expected = [score.value for score in scores(read_json(OLD / "eval.json"))]
    assert old["value"].tolist() == expected and not old["higher_is_better"].all()
    with pytest.raises(DataError, match=r"has no eval\.json or tasks/"):
        psp.results(results / "downloads")


def test_pandas_is_imported_for_the_table_alone(results: Path) -> None:
    code = (
        "import sys, psp; from psp.models.summary import records; "
        f"assert list(records({str(results)!r})) and 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_pandas_alone_is_advised(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(PspError, match=r"^a table of results needs pandas: pip install pandas$"):
        psp.results(results)
