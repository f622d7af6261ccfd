"""``psp train``: a file in, its config, and what the workflow makes of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import psp
from psp.cli import project
from psp.cli.main import main
from tests.cli.conftest import phrases


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("PSP_DATA", raising=False)


@pytest.fixture
def asked(monkeypatch):
    """What Snakemake is asked for, in place of a run that fails."""
    calls = []

    def failing(*given):
        calls.append(given)
        return 1

    monkeypatch.setattr(project, "snakemake", failing)
    return calls


@pytest.fixture
def small(tmp_path):
    (tmp_path / "my.tsv").write_text("the cat\tle chat\n")
    return tmp_path / "my.tsv"


def said(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["train", *map(str, arguments)])
    assert ended.value.code == 1
    return capsys.readouterr().err.splitlines()


def test_the_config_is_written_once_and_run_as_it_was_edited(small, asked, capsys):
    out = small.parent / "new/mine"
    given = (small, "--languages", "en", "fr", "--out", out, "--cores", "3")
    warning, error = said(capsys, *given)
    assert warning.startswith("warning: STS and Tatoeba: not scored")
    assert error == f"error: {out}/results/mine/eval.json: was not made; see the reason above"
    targets = ["results/mine/eval.json", "results/mine/data.json"]
    assert asked == [(out, targets, ["config.yaml"], 3)]
    config = out / "config.yaml"
    assert config.read_text().startswith(f"# psp train {small} --languages en fr\n")
    config.write_text(config.read_text() + "  long: {extends: mine, train: {epochs: 9}}\n")
    edited = config.read_text()
    assert said(capsys, *given) == [error]
    assert config.read_text() == edited and asked[1][1] == [targets[0], "results/long/eval.json", targets[1]]


def test_the_config_of_other_arguments_is_not_run(small, asked, capsys):
    out = small.parent / "mine"
    said(capsys, small, "--languages", "en", "fr", "--out", out)
    for other in (("--languages", "en", "de"), ("--languages", "en", "fr", "--recipe", "paper", "--seed", "2")):
        (error,) = said(capsys, small, *other, "--out", out)
        assert f"config.yaml: is of another command, `psp train {small} --languages en fr`; edit it" in error
    (out / "config.yaml").write_text("models:\n")
    assert "config.yaml: has no models; remove it" in said(capsys, small, "--languages", "en", "--out", out)[0]
    assert len(asked) == 1


def test_wrong_arguments_are_one_line(small, asked, capsys):
    folder = small.parent
    (folder / "file").touch()
    for arguments, message in (
        ((folder / "none.tsv", "--languages", "en", "fr", "--out", folder / "a"), "none.tsv: no such file"),
        (
            (small, "--languages", "en", "fr", "de", "--out", folder / "a"),
            "--languages en fr de: write those of source",
        ),
        ((small, "--languages", "en", "--out", folder / "file"), "--out {}: is a file; name a folder"),
        ((small, "--languages", "en", "--out", small), "would write over"),
        ((small, "--languages", "en", "--recipe", "papr", "--out", folder / "a"), "recipe is papr, but must be"),
        ((small, "--languages", "en", "--out", folder / "downloads"), "models.downloads: not a usable name"),
    ):
        (error,) = said(capsys, *arguments)
        assert error.startswith("error: ") and message.format(folder / "file") in error
    assert asked == [] and {path.name for path in folder.iterdir()} == {"my.tsv", "file"}


def pairs(folder: Path) -> list[tuple[str, str]]:
    """The demo's generated pairs, but for those that CSV would quote."""
    return [pair for pair in phrases(folder) if not set(',"') & set("".join(pair)) and all(pair)]


def start(*arguments: object) -> subprocess.Popen[str]:
    code = "from psp.cli.main import main; main()"
    command = [sys.executable, "-c", code, "train", *map(str, arguments), "--languages", "en", "fr"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
def test_a_tsv_and_a_csv_with_an_interruption_give_the_same_model(tmp_path, asked, capsys):
    rows = pairs(tmp_path / "phrasebook")
    (tmp_path / "my.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in rows))
    (tmp_path / "my.csv").write_text("en,fr\n" + "".join(f"{a},{b}\n" for a, b in rows))
    for kind in ("tsv", "csv"):
        said(capsys, tmp_path / f"my.{kind}", "--languages", "en", "fr", "--out", tmp_path / kind)
        config = tmp_path / kind / "config.yaml"
        short = "    train: {dim: 16, epochs: 60}\n    mix: {warn_pairs: 0}\n"
        config.write_text(config.read_text().replace("    evaluate:", f"{short}    evaluate:"))
    first = start(tmp_path / "my.tsv", "--out", tmp_path / "tsv")
    printed, errors = first.communicate()
    assert first.returncode == 0, errors
    assert "held-out pairs (dev)" in printed and f"The model is in {tmp_path}/tsv/results/tsv/model" in printed
    stopped = start(tmp_path / "my.csv", "--out", tmp_path / "csv")
    metrics = tmp_path / "csv/results/csv/train/metrics.csv"
    while not (metrics.exists() and metrics.read_bytes().count(b"\n") > 1):
        assert stopped.poll() is None
        time.sleep(0.01)
    stopped.send_signal(signal.SIGINT)
    _, errors = stopped.communicate()
    assert stopped.returncode == 130 and not (tmp_path / "csv/results/csv/model").exists(), errors
    again = start(tmp_path / "my.csv", "--out", tmp_path / "csv")
    _, errors = again.communicate()
    assert again.returncode == 0, errors
    assert "going on from step " in (tmp_path / "csv/results/csv/logs/train.log").read_text()
    weights = [(tmp_path / f"{kind}/results/{kind}/model/model.safetensors").read_bytes() for kind in ("tsv", "csv")]
    assert weights[0] == weights[1]


@pytest.mark.slow
def test_the_papers_recipe(tmp_path, asked, capsys):
    rows = pairs(tmp_path / "phrasebook")
    (tmp_path / "my.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in rows))
    given = [tmp_path / "my.tsv", "--out", tmp_path / "mine", "--recipe", "paper"]
    said(capsys, *given, "--languages", "en", "fr")
    config = tmp_path / "mine/config.yaml"
    config.write_text(config.read_text().replace("    evaluate:", "    train: {dim: 16, epochs: 2}\n    evaluate:"))
    process = start(*given)
    _, errors = process.communicate()
    assert process.returncode == 0, errors
    assert json.loads((tmp_path / "mine/results/mine/eval.json").read_text())["recipe"] == "paper"
    assert psp.load_model(tmp_path / "mine/results/mine/model").dim == 16
