"""``psp info``: what it says is what the model is."""

from __future__ import annotations

import json
import os
import signal
from importlib import metadata
from pathlib import Path

import pytest

from psp.cli.main import main
from psp.core.files import sha256
from psp.models.folder import load_model, save_model


def info(capsys, *arguments):
    main(["info", *map(str, arguments)])
    return capsys.readouterr().out


def test_what_a_model_is(small_model, capsys):
    model = load_model(small_model)
    digest = sha256(small_model / "sentencepiece.model")
    assert json.loads(info(capsys, small_model, "--json")) == {
        "format": 1,
        "model": str(small_model),
        "languages": ["en", "fr"],
        "dim": 12,
        "vocab_size": model.vocab_size,
        "left_out": 0,
        "dtype": "float32",
        "table_bytes": model.vocab_size * 12 * 4,
        "lower_case": False,
        "segment": {},
        "recipe": "psp",
        "psp_version": model.config["psp_version"],
        "tokenizer": "sentencepiece",
        "encoder": "mean",
        "tokenizer_sha256": digest,
        "accelerator": {"numba": metadata.version("numba"), "obstacle": None},
    }
    printed = dict(line[2:].split(maxsplit=1) for line in info(capsys, small_model).splitlines()[1:])
    assert printed["languages"] == "en, fr" and printed["dimensions"] == "12"
    assert printed["table"] == f"float32, {model.nbytes:,} bytes"
    assert printed["lower-casing"] == "no" and printed["segmenter"] == "none"
    assert printed["accelerator"].startswith("numba ") and printed["words"] == "encoded once, then looked up"
    assert printed["tokenizer"] == f"sentencepiece, sha256 {digest}"


def test_a_small_table_pieces_left_out_and_a_segmenter(small_model, tmp_path, capsys, monkeypatch):
    pytest.importorskip("jieba")
    table = load_model(small_model).quantized("int8").table
    config = {"languages": [], "lower_case": True, "left_out": [3, 5], "recipe": None}
    config["segment"] = {"zh": {"name": "jieba", "cut_all": True}}
    save_model(tmp_path / "model", table, small_model / "sentencepiece.model", config)

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", missing)
    said = info(capsys, tmp_path / "model")
    for words in (
        "languages     unknown",
        f"{len(table):,}, of which 2 are left out",
        f"int8, {table.nbytes:,} bytes",
        "lower-casing  yes",
        "jieba (zh, all words)",
        "recipe        none",
        "accelerator   none",
        "encoded by sentencepiece: numba is not installed: pip install 'paraphrastic[fast]'",
    ):
        assert words in said
    assert json.loads(info(capsys, tmp_path / "model", "--json"))["accelerator"]["numba"] is None


@pytest.mark.slow
def test_a_reader_that_has_gone_away_is_no_error(small_model, psp_command):
    command = psp_command.start("info", small_model)
    command.stdout.close()
    error = command.stderr.read()
    assert (command.wait(30), error) == (128 + signal.SIGPIPE, b"")


@pytest.mark.slow
def test_standard_output_on_a_full_disk(small_model, psp_command):
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("wb") as full:
        command = psp_command.start("info", small_model, stdout=full, env=buffered)
        error = command.stderr.read()
    assert (command.wait(30), error) == (1, b"error: standard output: cannot be written: No space left on device\n")
