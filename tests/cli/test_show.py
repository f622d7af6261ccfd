"""``psp show``: tables for people, and rows for programs."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from psp.cli.main import main
from psp.core.files import write_json

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


def test_ten_lines_say_what_matters_and_with_all_every_table_is_shown(capsys, tmp_path):
    shutil.copytree(RESULTS, tmp_path / "demo")
    body = json.loads(Path(RESULTS, "eval.json").read_text("utf-8"))
    write_json(tmp_path / "demo/eval.json", body | {"skipped": [{"set": "a set", "why": "a reason"}]})
    main(["show", str(tmp_path / "demo")])
    what, _, *lines = capsys.readouterr().out.splitlines()
    assert (
        what.startswith("demo embeds English and French; it was trained on 3,293 pairs (recipe psp") and len(lines) < 9
    )
    by_name = dict(line.split("  ", 1) for line in lines)
    assert by_name["Pearson on phrasebook"].split("; ") == [
        f"{'':8}25.1 [21.0, 29.6]", "best other: word-overlap 55.5 (+30.5 [+24.6, +36.0])"
    ]  # fmt: skip
    assert "3,293 pairs are few" in by_name["Warning"]
    assert by_name["More"].endswith("demo --all (all scores, compare, quantized, why 1 sets were skipped)")
    main(["show", str(tmp_path / "demo"), "--format", "markdown"])
    assert "\n- Pearson on phrasebook: 25.1 [21.0, 29.6]; best" in capsys.readouterr().out
    main(["show", str(tmp_path / "demo"), "--all"])
    every = capsys.readouterr().out
    assert "skipped: a set: a reason" in every and "\nnumbers  dimensions " in every and "--all" not in every


def test_several_models_stand_below_one_another(capsys: pytest.CaptureFixture[str]) -> None:
    one = shown(capsys)
    assert "phrasebook" in one and one.count(RESULTS) == 1
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
