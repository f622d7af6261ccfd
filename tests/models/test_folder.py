"""A model's folder: what is written is what is read, and what is damaged or does not fit is refused."""

from __future__ import annotations

import hashlib
import json
import os

import numpy as np
import pytest
import safetensors.numpy

import psp
from psp.core.errors import DataError
from psp.models.folder import load_model, save_model
from psp.models.static import StaticModel
from tests.conftest import SENTENCES
from tests.models.conftest import CONFIG, DIM


def test_what_is_saved_is_what_is_loaded(folder, table, sentencepiece_model):
    loaded = load_model(folder)
    assert np.array_equal(loaded.weight, table)
    model = StaticModel(table, sentencepiece_model, CONFIG)
    assert np.array_equal(loaded.embed_raw_text(SENTENCES), model.embed_raw_text(SENTENCES))
    assert (loaded.dim, loaded.vocab_size) == (DIM, len(table))
    assert list(safetensors.numpy.load_file(folder / "model.safetensors")) == ["embedding.weight"]
    assert json.loads((folder / "config.json").read_text()) == CONFIG | {
        "format": 1,
        "kind": "psp",
        "dim": DIM,
        "vocab_size": len(table),
        "unknown_id": loaded.unknown_id,
        "tokenizer": {
            "kind": "sentencepiece",
            "files": {"sentencepiece.model": hashlib.sha256(sentencepiece_model.read_bytes()).hexdigest()},
        },
        "encoder": {"kind": "mean"},
        "weights_sha256": hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest(),
        "psp_version": psp.core.__version__,
    }


def test_the_same_model_is_saved_as_the_same_bytes(folder, tmp_path, table, sentencepiece_model):
    save_model(tmp_path / "again", table, sentencepiece_model, CONFIG)
    StaticModel(table, sentencepiece_model, CONFIG).save(tmp_path / "by tokenizer", card=False)
    for file in folder.iterdir():
        for other in ("again", "by tokenizer"):
            assert file.read_bytes() == (tmp_path / other / file.name).read_bytes()
    files = ["config.json", "model.safetensors", "sentencepiece.model"]  # the card is psp.Model.save's
    assert sorted(file.name for file in folder.iterdir()) == files


def test_a_model_can_be_saved_over_itself(folder, table):
    save_model(folder, table + 1, folder / "sentencepiece.model", CONFIG)
    assert np.array_equal(load_model(folder).weight, table + 1)


def test_a_save_that_fails_leaves_no_folder_that_loads(folder, table, sentencepiece_model, monkeypatch):
    def full_disk(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(safetensors.numpy, "save_file", full_disk)
    with pytest.raises(DataError, match="No space left on device"):
        save_model(folder, table, sentencepiece_model, CONFIG)
    with pytest.raises(DataError, match=r"config\.json: no such file"):
        load_model(folder)


def test_a_table_that_does_not_fit_is_not_saved(tmp_path, table, sentencepiece_model):
    with pytest.raises(DataError, match=r"pieces, but the embedding matrix has shape"):
        save_model(tmp_path / "model", table[:-1], sentencepiece_model, CONFIG)
    broken = table.copy()
    broken[3, 4] = np.nan
    with pytest.raises(DataError, match="not numbers below 1e15"):
        save_model(tmp_path / "model", broken, sentencepiece_model, CONFIG)
    with pytest.raises(ValueError, match="dim is filled in"):
        save_model(tmp_path / "model", table, sentencepiece_model, CONFIG | {"dim": 5})
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "sentencepiece.model"])
def test_a_missing_or_damaged_file_is_named(folder, name):
    content = (folder / name).read_bytes()
    for damaged in (content[: len(content) // 2], content[:5], b""):
        (folder / name).write_bytes(damaged)
        with pytest.raises(DataError, match=name):
            load_model(folder)
    (folder / name).unlink()
    with pytest.raises(DataError, match=name):
        load_model(folder)


def test_a_missing_folder(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        load_model(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 3}, r"config\.json: format 3, but this psp reads 1;"),
        ({"kind": "bert"}, r"config\.json: not the config of a psp model"),
        ({"dim": "12"}, r"config\.json: dim is '12'"),
        ({"lower_case": None}, r"config\.json: lower_case is None"),
        ({"tokenizer": {"kind": 5}}, r"config\.json: tokenizer is .*has no kind"),
        ({"languages": [1]}, r"config\.json: languages is \[1\], not a list of codes"),
        ({"dim": 13}, r"model\.safetensors: .*13\) in config\.json"),
        ({"vocab_size": 10}, r"model\.safetensors: .*\(10, 12\) in config\.json"),
        (
            {"tokenizer": {"kind": "sentencepiece", "files": {"sentencepiece.model": "0" * 64}}},
            r"sentencepiece\.model: not the file that config\.json records",
        ),
    ],
)
def test_a_config_that_says_something_else_is_refused(folder, change, message):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | change))
    with pytest.raises(DataError, match=message):
        load_model(folder)


def test_tables_of_another_kind_are_refused(folder, table):
    for tensors in (
        {"weight": table},
        {"embedding.weight": table.astype(np.float16)},
        {"embedding.weight": table[0]},
        {"embedding.weight": np.full_like(table, np.inf)},
    ):
        safetensors.numpy.save_file(tensors, folder / "model.safetensors")
        with pytest.raises(DataError, match=r"model\.safetensors"):
            load_model(folder)


def test_a_quantised_model_that_does_not_say_so_is_refused(folder):
    load_model(folder, dtype="int8").save(folder)
    config = json.loads((folder / "config.json").read_text())
    for changed, message in (
        ({key: value for key, value in config.items() if key != "dtype"}, r"int8 .* but float32 .* in config\.json"),
        (config | {"dtype": "float8"}, r"config\.json: dtype is 'float8'"),
    ):
        (folder / "config.json").write_text(json.dumps(changed))
        with pytest.raises(DataError, match=message):
            load_model(folder)
    (folder / "config.json").write_text(json.dumps(config))
    tensors = safetensors.numpy.load_file(folder / "model.safetensors")
    for bad in (
        {"embedding.weight": tensors["embedding.weight"]},
        tensors | {"embedding.scale": tensors["embedding.scale"].ravel()},
        tensors | {"embedding.scale": tensors["embedding.scale"].astype(np.float64)},
    ):
        safetensors.numpy.save_file(bad, folder / "model.safetensors")
        with pytest.raises(DataError, match="no embedding matrix of float32, float16, int8 or int4 with its scale"):
            load_model(folder)
    for bad in (np.nan, 0, -1):
        tensors["embedding.scale"][3] = bad
        safetensors.numpy.save_file(tensors, folder / "model.safetensors")
        with pytest.raises(DataError, match="not numbers below 1e15, or scales that are not above 0"):
            load_model(folder)


def test_a_flipped_bit_of_the_weights_is_found_where_it_is_asked_for(folder):
    path = folder / "model.safetensors"
    config = json.loads((folder / "config.json").read_text())
    assert config["weights_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    load_model(folder, verify=True)
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)
    load_model(folder)  # a second per GB is left to those who ask for it
    with pytest.raises(DataError, match=r"model.safetensors: damaged, or not the file that config.json records"):
        load_model(folder, verify=True)
    saved = load_model(folder, dtype="float16").save(folder)
    assert saved["weights_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest() != config["weights_sha256"]
    load_model(folder, verify=True)


def test_the_table_of_a_loaded_model_lies_in_its_file(folder):
    model = load_model(folder)
    assert not model.table.values.flags.owndata and not model.table.values.flags.writeable
    (folder / "model.safetensors").rename(folder / "gone")  # what is mapped stays there
    assert model.embed_raw_text(SENTENCES).any()


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "sentencepiece.model"])
@pytest.mark.parametrize("kind", ["pipe", "device", "huge"])
def test_a_file_that_would_never_end_is_told(folder, name, kind):
    path = folder / name
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    else:
        with path.open("wb") as file:
            file.truncate(1 << 40)
    message = "is a pipe or a device, where a regular file is needed"
    if kind == "huge":
        message = "truncated or damaged" if name == "model.safetensors" else "has 1,099,511,627,776 bytes"
    with pytest.raises(DataError, match=rf"{name}: {message}"):
        load_model(folder)
