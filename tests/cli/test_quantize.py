"""``psp quantize``: the smaller model is the one that the library makes, and says what it was made from."""

from __future__ import annotations

import json

import numpy as np
import pytest

from psp.cli.main import main
from psp.models.folder import load_model, save_model
from tests.cli.conftest import FULL_DISK, refused
from tests.conftest import SENTENCES


@pytest.mark.parametrize(("dtype", "dim"), [("float16", None), ("int8", None), (None, 5), ("int8", 5)])
def test_the_model_is_the_librarys(small_model, tmp_path, capsys, dtype, dim):
    options = [*(["--dtype", dtype] if dtype else []), *(["--dim", str(dim)] if dim else [])]
    main(["quantize", str(small_model), str(tmp_path / "out/model"), *options])
    whole, made = load_model(small_model), load_model(tmp_path / "out/model")
    expected = load_model(small_model, dtype=dtype, dim=dim)
    assert (made.dtype, made.dim) == (dtype or "float32", dim or 12)
    assert made.embed_raw_text(SENTENCES).tobytes() == expected.embed_raw_text(SENTENCES).tobytes()
    assert made.config["quantized_from"] == {"dtype": "float32", "dim": 12}
    assert made.config["languages"] == ["en", "fr"] and made.config["recipe"] == "psp"
    assert capsys.readouterr().out == (
        f"{tmp_path}/out/model: {made.dtype}, {made.dim} dimensions, {made.nbytes:,} bytes; "
        f"{small_model}: float32, 12 dimensions, {whole.nbytes:,} bytes\n"
    )
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["model"]
    assert "quantized_from" not in json.loads((small_model / "config.json").read_text())


def test_what_the_first_model_was_stays_on_record(small_model, tmp_path):
    main(["quantize", str(small_model), str(tmp_path / "half"), "--dtype", "float16"])
    main(["quantize", str(tmp_path / "half"), str(tmp_path / "less"), "--dtype", "int8", "--dim", "4"])
    assert load_model(tmp_path / "less").config["quantized_from"] == {"dtype": "float32", "dim": 12}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "nothing to make smaller; give --dtype int8, --dim 256, or both"),
        (["--dim", "13"], "{model}: dim is 13; the table has 12 dimensions"),
        (["--dim", "12"], "{model}: float32 with 12 dimensions would take {bytes} bytes, and the model takes {bytes}; "
         "choose another --dtype or --dim"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_one_line(small_model, tmp_path, capsys, options, said):
    size = f"{load_model(small_model).nbytes:,}"
    found = refused(capsys, "quantize", small_model, tmp_path / "out", *options)
    assert found == f"error: {said.format(model=small_model, bytes=size)}"
    assert not list(tmp_path.iterdir())


def test_numbers_too_large_for_16_bits_are_one_line(small_model, tmp_path, capsys):
    table = load_model(small_model).weight.copy()
    table[7, 3] = 1e5
    save_model(tmp_path / "large", table, small_model / "sentencepiece.model", {"languages": ["en"]})
    assert refused(capsys, "quantize", tmp_path / "large", tmp_path / "out", "--dtype", "float16") == (
        f"error: {tmp_path}/large: a number of the table is too large for float16 (65,504 at most)"
    )
    main(["quantize", str(tmp_path / "large"), str(tmp_path / "out"), "--dtype", "int8"])
    # A scale a row: the large number takes nothing from the other rows.
    np.testing.assert_allclose(load_model(tmp_path / "out").weight[8:], table[8:], atol=0.02)


def test_what_is_there_is_not_replaced(small_model, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    assert refused(capsys, "quantize", small_model, tmp_path / "out", "--dtype", "int8") == (
        f"error: {tmp_path}/out: already exists; name another place, or remove it first"
    )
    assert not list((tmp_path / "out").iterdir())


def test_a_full_disk(small_model, tmp_path, psp_command):
    result = psp_command.run("quantize", small_model, tmp_path / "out", "--dtype", "int8", before=FULL_DISK)
    said = result.stderr.decode()
    assert result.returncode == 1
    assert said.startswith(f"error: {tmp_path}/out/") and "cannot be written" in said and said.count("\n") == 1
    assert not list(tmp_path.iterdir())


STOPPED = """
import os, signal
import psp.models.folder
write = psp.models.folder.write_table
def stop_after(*arguments):
    write(*arguments)
    os.kill(os.getpid(), signal.SIGTERM)
psp.models.folder.write_table = stop_after
"""


def test_a_signal_leaves_nothing_behind(small_model, tmp_path, psp_command):
    result = psp_command.run("quantize", small_model, tmp_path / "out", "--dim", "5", before=STOPPED)
    assert (result.returncode, result.stderr) == (143, b"error: stopped by SIGTERM\n")
    assert not list(tmp_path.iterdir())
