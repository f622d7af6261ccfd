"""Slips on the command line, and what the error says was meant."""

from __future__ import annotations

import argparse
import re
import shutil
from pathlib import Path

import pytest

from psp.cli import project
from psp.cli.main import main
from psp.core import failures
from tests.held.make import FIXTURES


def said(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([*map(str, arguments)])
    assert ended.value.code
    return capsys.readouterr().err


@pytest.fixture
def results(tmp_path):
    shutil.copytree(FIXTURES / "subword", tmp_path / "results/fr/model")
    (tmp_path / "results/fr/eval.json").write_text("{}")
    return tmp_path / "results/fr"


def test_the_folder_that_was_meant(results, capsys):
    assert f"{results}: holds results; the model is {results}/model" in said(capsys, "info", results)
    for command in (["show"], ["report", "--out", results / "x.html"]):
        text = said(capsys, *command, results / "model")
        assert f"{results}/model: is a model, not a folder of results; its results are in {results}" in text


def test_the_command_that_was_meant(capsys):
    assert "embde: no such command; did you mean embed?" in said(capsys, "embde", "x")


def test_the_snakefile_of_a_checkout(capsys):
    main(["workflow"])
    assert capsys.readouterr().out == f"{Path(__file__).parents[2] / 'Snakefile'}\n"


def test_the_target_that_was_meant(monkeypatch):
    monkeypatch.setattr(failures, "outputs", ["results/{model}/eval.json", "results/{model}/tasks/{task}.json"])
    text = "MissingRuleException:\nNo rule to produce results/fr/evl.json (if you use input functions ...)."
    assert "results/fr/evl.json: no rule makes this file; did you mean results/fr/eval.json?" in failures.of_snakemake(
        "MissingRuleException", text
    )


@pytest.mark.parametrize(
    ("arguments", "models", "configs"),
    [
        (["sw"], ["sw"], []),
        (["--configfile", "x.yaml", "sw", "yo"], ["sw", "yo"], ["x.yaml"]),
        (["sw", "--configfile", "x.yaml", "y.yml"], ["sw"], ["x.yaml", "y.yml"]),
    ],
)
def test_models_behind_config_files_are_models(arguments, models, configs):
    parser = argparse.ArgumentParser()
    project.models(parser)
    options = parser.parse_args(arguments)
    assert (project.named(options), options.configfile) == (models, configs)


def test_no_model_is_an_error(capsys):
    assert "the following arguments are required: MODEL" in said(capsys, "plan", "--configfile", "x.yaml")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("embed {model} c.txt --out c.txt --format raw", "c.txt"),
        ("embed {model} c.txt --out ./link.txt --format raw", "c.txt"),
        ("embed {model} c.txt --out hard.txt --format raw", "c.txt"),
        ("embed {model} c.txt --out {model}/model.safetensors --format raw", "model.safetensors"),
        ("mine {model} c.txt d.txt --out c.txt", "c.txt"),
        ("mine {model} c.txt d.txt --out ../{here}/d.txt", "d.txt"),
        ("mine {model} c.txt d.txt --out {model}/config.json", "config.json"),
        ("search {model} c.txt d.txt --save-index {model}", "model"),
        ("quantize {model} {model} --dtype int8", "model"),
        ("combine {model} {model} --out {model}", "model"),
        ("export word2vec {model} {model}/sentencepiece.model", "sentencepiece.model"),
        ("translate translator c.txt --out c.txt", "c.txt"),
        ("paraphrase translator c.txt --encoder {model} --out e.txt --report c.txt", "c.txt"),
        ("report results --out results/eval.json", "eval.json"),
    ],
)
def test_no_command_writes_over_what_it_reads(small_model, tmp_path, monkeypatch, capsys, arguments, named) -> None:
    shutil.copytree(small_model, tmp_path / "model")
    (tmp_path / "translator").mkdir()
    (tmp_path / "results").mkdir()
    (tmp_path / "results/eval.json").write_text("{}")
    for name in ("c.txt", "d.txt"):
        (tmp_path / name).write_text("the cat\n")
    (tmp_path / "link.txt").symlink_to("c.txt")
    (tmp_path / "hard.txt").hardlink_to(tmp_path / "c.txt")
    monkeypatch.chdir(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(SystemExit) as ended:
        main(arguments.format(model="model", here=tmp_path.name).split())
    assert ended.value.code == 1
    assert re.search(rf"would write over \S*{named}, which is read; name another place\n$", capsys.readouterr().err)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_standard_output_is_no_file_that_is_read(small_model, psp_command, tmp_path) -> None:
    (tmp_path / "pairs.tsv").write_text("the cat\tbread\n")
    with (tmp_path / "pairs.tsv").open("ab") as file:
        done = psp_command.run("score", small_model, tmp_path / "pairs.tsv", stdout=file)
    assert done.returncode == 1 and b"standard output: would write over" in done.stderr
    shutil.copytree(FIXTURES.parents[1] / "fixtures/results", tmp_path / "results")
    with (tmp_path / "results/all.json").open("ab") as file:
        shown = psp_command.run("show", tmp_path / "results", "--format", "json", stdout=file)
        assert shown.returncode == 0, shown.stderr
    with (tmp_path / "other.tsv").open("ab") as file:
        assert psp_command.run("score", small_model, tmp_path / "pairs.tsv", stdout=file).returncode == 0
