"""``psp show``: tables for people, and rows for programs."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from psp.cli.main import main

RESULTS = str(Path(__file__).parents[1] / "fixtures/results")


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    main(["show", RESULTS, *arguments])
    return capsys.readouterr().out


def test_rows_are_the_same_as_csv_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    listed = json.loads(shown(capsys, "--format", "json"))
    rows = list(csv.DictReader(io.StringIO(shown(capsys, "--format", "csv"))))
    assert [row["metric"] for row in rows] == [one["metric"] for one in listed] and len(rows) == 6
    assert float(rows[0]["value"]) == listed[0]["value"] and rows[0]["system"] == ""
    both = list(csv.DictReader(io.StringIO(shown(capsys, RESULTS, "--format", "csv"))))
    assert both == [*rows, *rows]


def test_the_scores_that_matter_are_shown_and_with_all_every_one(capsys, tmp_path):
    body = json.loads(Path(RESULTS, "eval.json").read_text("utf-8"))
    (tmp_path / "eval.json").write_text(json.dumps(body | {"skipped": [{"set": "a set", "why": "a reason"}]}), "utf-8")
    main(["show", str(tmp_path)])
    few = capsys.readouterr().out
    assert "psp show --all: " in few and "and why 1 sets were skipped" in few and "a reason" not in few
    main(["show", str(tmp_path), "--all"])
    every = capsys.readouterr().out
    assert "skipped: a set: a reason" in every and "--all" not in every
    assert {line for line in few.splitlines() if line.startswith("phrasebook")} <= set(every.splitlines())


def test_several_models_stand_below_one_another(capsys: pytest.CaptureFixture[str]) -> None:
    one = shown(capsys)
    assert "phrasebook" in one and RESULTS not in one
    text = shown(capsys, RESULTS)
    assert text.count(f"{RESULTS}\n=") == 2 and text.count(one.strip()) == 2
    assert shown(capsys, RESULTS, "--format", "markdown").count(f"## {RESULTS}") == 2


def test_a_table_of_several_models_ends_what_is_shown(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    body = json.loads(Path(RESULTS, "eval.json").read_text("utf-8"))
    (other / "eval.json").write_text(json.dumps(body | {"train": {}, "sets": {}}), "utf-8")
    head, _, one, two = shown(capsys, str(other)).rpartition("\nmodel ")[2].splitlines()[:4]
    assert head.split()[:3] == ["pairs", "dev", "score"]
    assert one.split()[:4] == [RESULTS, "3,293", "-48.69", "25.06"] and two.split()[:3] == [str(other), "-", "-"]
