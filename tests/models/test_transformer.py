"""Transformers as models: the methods of any other model, and one line for what makes no sense."""

from __future__ import annotations

import json
import pickle
import shutil

import numpy as np
import pytest

import psp
from psp.core.errors import DataError, PspError
from psp.inference.search.index import Index
from psp.inference.serve.pieces import explain
from psp.models import TRANSFORMER_NAMES, card, file_names, model_files
from psp.models.combined import CombinedModel
from psp.models.exports import export
from psp.models.folder import load_model, read_folder
from psp.models.registry import encoder_files, survives_fork
from psp.models.transformer import TransformerModel, save_transformer
from psp.text.lines import LineFile
from tests.training.transformer.conftest import make_pairs

TEXTS = [side for pair in make_pairs(60) for side in pair]


@pytest.fixture(scope="module")
def folder(transformer):
    return transformer


@pytest.fixture(scope="module")
def model(folder):
    return load_model(folder)


def test_nothing_of_an_older_model_stays(folder, transformer_base, tmp_path):
    """Even where Snakemake has removed the files that it knows of."""
    from psp.config.blocks.transformer import TransformerSettings
    from psp.training.transformer.base import build

    place = shutil.copytree(folder, tmp_path / "model")
    for name in TRANSFORMER_NAMES.values():
        (place / name).unlink()
    (place / "0_Transformer/spiece.model").write_text("of another base")
    model = build(transformer_base, TransformerSettings(max_length=16), "cpu")
    config = save_transformer(place, model, {"languages": ["aa"]}, {"pooling": "mean", "max_length": 16})
    assert not (place / "1_LstmPooling").exists() and not (place / "0_Transformer/spiece.model").exists()
    there = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
    assert there == {"config.json", *config["encoder"]["files"]}
    assert load_model(place).dim == 32


def test_it_embeds_as_other_models_do(model):
    assert isinstance(model, (TransformerModel, psp.Model))
    assert (model.dim, model.dtype, model.max_seq_length, model.config["languages"]) == (
        12,
        "float32",
        16,
        ["aa", "bb"],
    )
    vectors = model.embed_raw_text(TEXTS)
    assert vectors.shape == (len(TEXTS), 12) and vectors.dtype == np.float32
    np.testing.assert_allclose(model.embed_raw_text(TEXTS[::-1], batch_size=3)[::-1], vectors, atol=1e-6)
    np.testing.assert_allclose(model.encode_query(TEXTS[0]), model.encode("Baba " + TEXTS[0]), atol=1e-6)
    assert model.embed_raw_text([]).shape == (0, 12)
    ids, offsets = model.ids(TEXTS)
    assert np.diff(offsets).max() <= 16
    np.testing.assert_allclose(model.pool(ids, offsets), vectors, atol=1e-6)
    assert repr(model) == "<psp.Model: aa, bb; transformer, lstm pooling, 12 dimensions>"
    np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).embed_raw_text(TEXTS), vectors, atol=1e-6)


def test_texts_of_any_kind_have_vectors_or_an_error(model):
    assert np.isfinite(model.embed_raw_text(["", " ", "漢字 \x00", "Baba " * 500])).all()
    with pytest.raises(DataError, match=r"texts\[1\] is not valid Unicode"):
        model.embed_raw_text(["baba", "ba\ud800"])
    with pytest.raises(TypeError, match="not one str"):
        model.embed_raw_text("baba")


def test_bfloat16_gives_nearly_the_same_vectors(model, folder):
    low = load_model(folder, accelerate="bfloat16", threads=2)
    found = low.similarity_pairwise(low.embed_raw_text(TEXTS), model.embed_raw_text(TEXTS))
    assert found.min() > 0.999
    assert low.identity() != model.identity()
    with pytest.raises(ValueError, match="accelerate is 'fast'"):
        load_model(folder, accelerate="fast")


def test_it_is_searched(model, tmp_path):
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS[::2]) + "\n   \n")
    index = Index.build(model, LineFile(tmp_path / "corpus.txt"))
    assert len(index.searcher.rows) == len(TEXTS) // 2  # white space cannot be found


def test_saved_again_it_is_the_same(model, folder, tmp_path):
    config = model.save(tmp_path / "again")
    assert config == json.loads((folder / "config.json").read_text())
    assert (load_model(tmp_path / "again").embed_raw_text(TEXTS) == model.embed_raw_text(TEXTS)).all()
    assert load_model(tmp_path / "again").identity() == model.identity()
    model.save(tmp_path / "again")  # over itself
    assert (load_model(tmp_path / "again").embed_raw_text(TEXTS[:4]) == model.embed_raw_text(TEXTS[:4])).all()


def test_its_card_says_what_it_is(model, folder, tmp_path):
    config = model.save(tmp_path / "saved")
    text = (tmp_path / "saved/README.md").read_text()
    assert (
        "made of the states of a transformer, by lstm pooling: 12 dimensions. Texts are truncated to 16 tokens." in text
    )
    assert 'SentenceTransformer("this/folder", trust_remote_code=True)' in text
    assert "(Dadas, SMC 2022)" in text and "static" not in text and text.count("- transformer\n") == 1
    plain = card.card(config | {"encoder": config["encoder"] | {"pooling": "mean"}})
    assert 'SentenceTransformer("this/folder")' in plain


def test_its_files_are_listed(folder):
    names = file_names(json.loads((folder / "config.json").read_text()))
    assert names[:2] == ["config.json", "0_Transformer/model.safetensors"]
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == set(names)
    assert encoder_files(str(folder)) == model_files(folder) == [f"{folder}/{name}" for name in names]
    assert not survives_fork(str(folder))
    assert len({(folder / name).stat().st_mode for name in names[1:]}) == 1


def test_what_makes_no_sense_is_refused_in_a_line(model, folder, tmp_path):
    for given in ({"dtype": "int8"}, {"dim": 4}):
        with pytest.raises(ValueError, match="a transformer is not quantized or cut"):
            load_model(folder, **given)
        with pytest.raises(ValueError, match="a transformer is not quantized or cut"):
            model.quantized(**given)
    with pytest.raises(ValueError, match="no token vectors"):
        model.encode(TEXTS[:2], output_value="token_embeddings")
    with pytest.raises(PspError, match="a transformer"):
        explain(model, TEXTS[0], TEXTS[1])
    with pytest.raises(PspError, match="does not know the encoder of a Transformer"):
        export("static-embedding", model, tmp_path / "out", TEXTS)
    with pytest.raises(DataError, match="cannot be combined"):
        CombinedModel([model, model])
    with pytest.raises(DataError, match=r"only psp\.load_model loads it"):
        read_folder(folder)
    with pytest.raises(DataError, match=r"write `sentence-transformers:|not the config of a psp model"):
        load_model(folder / "0_Transformer")


def test_a_damaged_folder_is_named(folder, tmp_path):
    def copy(name):
        return shutil.copytree(folder, tmp_path / name)

    broken = copy("broken")
    with (broken / "1_LstmPooling/config.json").open("a") as file:
        file.write(" ")
    with pytest.raises(DataError, match=r"1_LstmPooling/config\.json: not the file that config\.json records"):
        load_model(broken)
    config = json.loads((folder / "config.json").read_text())
    for files, said in [
        ({"../x.json": "0"}, r"'\.\./x\.json' is not a file of a transformer"),
        ({"0_Transformer/evil.py": "0"}, r"evil\.py' is not a file"),
        (None, "does not name its encoder's files"),
    ]:
        given = None if files is None else {**config["encoder"]["files"], **files}
        (broken / "config.json").write_text(json.dumps(config | {"encoder": config["encoder"] | {"files": given}}))
        with pytest.raises(DataError, match=said):
            load_model(broken)


def test_without_the_library_the_extra_is_named(folder, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "transformers", None)
    with pytest.raises(PspError, match=r"pip install 'paraphrastic\[transformer\]'"):
        load_model(folder)
