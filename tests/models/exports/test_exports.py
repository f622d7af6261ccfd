"""Each export, loaded by the library that it is for: its vectors are ours."""

from __future__ import annotations

import errno
import importlib.util
import os
import re
import sys

import numpy as np
import pytest

import psp
from phrasebook import sample
from psp.cli.main import main
from psp.core.errors import DataError, PspError
from psp.models.exports import FORMS, export
from psp.models.folder import save_model
from psp.models.static import StaticModel
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from psp.text.word_tokenizer import WordTokenizer
from tests.conftest import SENTENCES, on_a_full_disk, train_sentencepiece
from tests.models.exports.conftest import LEFT_OUT

UNKNOWN = [
    "bread 日 here", "🙂 the cat 🙂", "The CAT, eats", "<s> <unk> </s>", "собака спит", "今天天气很好", "🙂 🙂",
]  # fmt: skip
TEXTS = [*SENTENCES[:60], "The CAT eats", "ﬁnds  une pomme\t", "a " * 700, " ", ""]
ALL_TEXTS = [*TEXTS, *UNKNOWN]
CLOSE = {"rtol": 0, "atol": 1e-5}


def needs(*packages):
    """Skip where a package for which an export is made is not installed."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"{missing} is not installed (the extra export-check)")


sentence_transformers = needs("sentence_transformers")
tokenizers = needs("tokenizers")
model2vec = needs("tokenizers", "model2vec")
onnxruntime = needs("onnx", "onnxruntime")
gensim = needs("gensim")


def embed_by_sentence_transformers(folder, texts, **options):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", **options).encode(texts, batch_size=7)


def same_direction(found, expected):
    """The cosine is 1, or a vector is zeros: then both are."""
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    np.testing.assert_allclose(np.einsum("ij,ij->i", found, expected), lengths, rtol=1e-5)
    assert np.array_equal(found.any(axis=1), expected.any(axis=1))


# ------------------------------------------------------------------------------------------- sentence-transformers


@sentence_transformers
def test_its_readme_quotes_what_the_library_says_without_the_argument(model, tmp_path):
    from sentence_transformers import SentenceTransformer

    export("sentence-transformers", model, tmp_path / "out", sample())
    readme = (tmp_path / "out/README.md").read_text()
    reported = " ".join(line.removeprefix("> ") for line in readme.splitlines() if line.startswith("> "))
    with pytest.raises(ValueError) as refused:
        SentenceTransformer(str(tmp_path / "out"), device="cpu")
    assert reported and reported in " ".join(str(refused.value).split())
    assert "psp export static-embedding" in readme


@sentence_transformers
@pytest.mark.parametrize("form", ["sentence-transformers", "static-embedding"])
def test_prompts_and_options_go_along(model, tmp_path, form):
    from sentence_transformers import SentenceTransformer

    prompted = StaticModel(model.weight, model.sentencepiece_model, model.config | {"prompts": {"query": "the cat "}})
    export(form, prompted, tmp_path / "out", sample())
    loaded = SentenceTransformer(str(tmp_path / "out"), device="cpu", trust_remote_code=form == "sentence-transformers")
    np.testing.assert_allclose(loaded.encode_query(["bread"]), prompted.encode_query(["bread"]), **CLOSE)
    options = {"prompt": "a dog ", "normalize_embeddings": True, "truncate_dim": 4}
    np.testing.assert_allclose(loaded.encode(["bread"], **options), prompted.encode(["bread"], **options), **CLOSE)


@sentence_transformers
def test_sentence_transformers_can_train_and_save_it(model, tmp_path):
    import torch
    from sentence_transformers import SentenceTransformer

    from psp.models.exports.module import PspModel

    export("sentence-transformers", model, tmp_path / "out", sample())
    loaded = SentenceTransformer(modules=[PspModel.load(str(tmp_path / "out"))], device="cpu")
    assert loaded.get_embedding_dimension() == model.dim
    features = loaded.preprocess(["the cat", "le chat"])
    loaded(features)["sentence_embedding"].sum().backward()
    torch.optim.SGD(loaded.parameters(), lr=1.0).step()
    loaded.save(str(tmp_path / "saved"))
    found = embed_by_sentence_transformers(tmp_path / "saved", TEXTS, trust_remote_code=True)
    again = psp.load_model(tmp_path / "saved")
    np.testing.assert_allclose(found, again.embed_raw_text(TEXTS), **CLOSE)
    touched = np.unique(model.ids(["the cat", "le chat"])[0])
    assert np.flatnonzero((again.weight != model.weight).any(axis=1)).tolist() == touched.tolist()
    assert again.config == model.config | {key: again.config[key] for key in again.config.keys() - model.config.keys()}


# ------------------------------------------------------------------------------- those with a Hugging Face tokenizer


def embed_by_model2vec(folder, texts):
    from model2vec import StaticModel

    return StaticModel.from_pretrained(folder).encode(texts, max_length=None)


@pytest.mark.parametrize("excluded_ids", [[], LEFT_OUT])
@pytest.mark.parametrize(
    ("embed", "unknown"),
    [
        pytest.param(embed_by_sentence_transformers, False, marks=sentence_transformers),
        pytest.param(embed_by_model2vec, True, marks=model2vec),
    ],
)
def test_a_static_embedding_has_the_same_vectors(make, tmp_path, embed, unknown, excluded_ids):
    """sentence-transformers has unknown pieces in its means: of texts that hold any, the direction alone is ours."""
    model = make(left_out=excluded_ids)
    export("static-embedding", model, tmp_path / "out", sample())
    found, expected = embed(tmp_path / "out", ALL_TEXTS), model.embed_raw_text(ALL_TEXTS)
    same_direction(found, expected)
    if not excluded_ids:
        same = slice(None if unknown else len(TEXTS))
        np.testing.assert_allclose(found[same], expected[same], **CLOSE)


# ----------------------------------------------------------------------------------------------------- ONNX, word2vec


@onnxruntime
@pytest.mark.parametrize("threads", [1, 2])
def test_onnx_has_the_same_vectors(model, tmp_path, threads):
    import onnxruntime as ort

    export("onnx", model, tmp_path / "out", sample())
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(tmp_path / "out/model.onnx", options, providers=["CPUExecutionProvider"])
    for texts in ([*ALL_TEXTS, "日"] * 5, ["bread"], [""], ["", ""], []):
        ids, offsets = model.ids(texts)
        (found,) = session.run(None, {"ids": ids.astype(np.int64), "offsets": offsets})
        np.testing.assert_allclose(found, model.embed_raw_text(texts), **CLOSE)
        assert found.shape == (len(texts), model.dim)
    assert (tmp_path / "out/sentencepiece.model").read_bytes() == model.sentencepiece.serialized_model_proto()


@gensim
def test_word2vec_has_the_same_rows(make, tmp_path):
    from gensim.models import KeyedVectors

    model = make(left_out=LEFT_OUT)
    export("word2vec", model, tmp_path / "out.txt", sample())
    found = KeyedVectors.load_word2vec_format(tmp_path / "out.txt", binary=False)
    kept = [number for number in range(model.vocab_size) if number not in {1, 2, *LEFT_OUT}]  # <s>, </s>
    assert found.index_to_key == [model.sentencepiece.id_to_piece(number) for number in kept]
    assert np.array_equal(found.vectors, model.weight[kept])


@gensim
def test_word2vec_has_the_vectors_of_words(tmp_path):
    from gensim.models import KeyedVectors

    words = ["the", "house", "don't", "!"]
    weight = np.random.default_rng(1).standard_normal((5, 6), dtype=np.float32)
    model = StaticModel(
        weight, WordTokenizer([(word, 2) for word in words], {"lower_case": True}), {"languages": ["en"]}
    )
    export("word2vec", model, tmp_path / "out.txt", sample())
    found = KeyedVectors.load_word2vec_format(tmp_path / "out.txt", binary=False)
    assert found.index_to_key == [model.tokenizer.piece(0), *words]
    assert np.array_equal(found.vectors, weight)


# ------------------------------------------------------------------------------------------------------------- shared


@sentence_transformers
@pytest.mark.parametrize("form", ["sentence-transformers", "static-embedding"])
@pytest.mark.parametrize("excluded_ids", [[], LEFT_OUT])
def test_the_code_in_its_readme_runs(make, tmp_path, form, excluded_ids, monkeypatch):
    model = make(left_out=excluded_ids)
    said = export(form, model, tmp_path / "out", sample())
    text = (tmp_path / "out/README.md").read_text()
    assert said in text
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path / "out")
    names = {}
    exec(code.replace("this/folder", str(tmp_path / "out")), names)
    expected = model.embed_raw_text(["a red car", "une voiture rouge"])
    same_direction(names["vectors"], expected)
    if form == "sentence-transformers":
        np.testing.assert_allclose(names["vectors"], expected, **CLOSE)


@tokenizers
@onnxruntime
@pytest.mark.parametrize("form", FORMS)
def test_the_command(model, sentencepiece_model, tmp_path, capsys, form):
    save_model(tmp_path / "model", model.weight, sentencepiece_model, model.config)
    (tmp_path / "texts.txt").write_text("bread\nthe cat 日\n")
    out = str(tmp_path / "made/out")
    main(["export", form, str(tmp_path / "model"), out, "--check", str(tmp_path / "texts.txt")])
    said = capsys.readouterr().out
    assert said.startswith(out)
    if form == "static-embedding":
        assert "on 4 sentences: 0 have other pieces, 2 hold pieces that psp leaves out" in said
        assert "lowest cosine of the two vectors is 1.000000" in said
    with pytest.raises(SystemExit):
        main(["export", form, str(tmp_path / "model"), out])
    assert f"{out}: already exists" in capsys.readouterr().err
    export(form, model, tmp_path / "again/out", ["bread", "the cat 日"])
    first = tmp_path / "made/out"
    for file in [first] if first.is_file() else sorted(first.iterdir()):
        assert file.read_bytes() == (tmp_path / "again/out" / file.relative_to(first)).read_bytes()


@tokenizers
@onnxruntime
@pytest.mark.parametrize("form", FORMS)
def test_a_full_disk(model, sentencepiece_model, tmp_path, form):
    save_model(tmp_path / "model", model.weight, sentencepiece_model, model.config)
    said = on_a_full_disk("export", form, tmp_path / "model", tmp_path / "out.py")
    assert str(tmp_path / "out.py") in said and os.strerror(errno.EFBIG) in said
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize(
    ("form", "package"), [("static-embedding", "tokenizers"), ("static-embedding", "google.protobuf"), ("onnx", "onnx")]
)
def test_a_missing_package_is_named_with_its_extra(model, tmp_path, monkeypatch, form, package):
    if package != "tokenizers" and importlib.util.find_spec("tokenizers") is None:
        pytest.skip("tokenizers is not installed (the extra export)")
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(PspError, match=rf"needs the package {package}: pip install 'paraphrastic\[export\]'"):
        export(form, model, tmp_path / "out", sample())
    assert not list(tmp_path.iterdir())


@tokenizers
@pytest.mark.parametrize(
    "settings",
    [
        {"model_type": "bpe"},
        {"treat_whitespace_as_suffix": True},
        {"remove_extra_whitespaces": False},
        {"byte_fallback": True, "vocab_size": 400},
        {"user_defined_symbols": ["XY"]},
    ],
)
def test_what_no_hugging_face_tokenizer_can_be_made_of(tmp_path, settings):
    path = train_sentencepiece(tmp_path / "sp.model", **settings)
    pieces = load_sentencepiece(path).get_piece_size()
    other = StaticModel(np.ones((pieces, 3), np.float32), path)
    with pytest.raises(PspError, match="unigram sentencepiece model"):
        export("static-embedding", other, tmp_path / "out", sample())
    assert [entry.name for entry in tmp_path.iterdir()] == ["sp.model"]


def test_a_table_too_large_for_onnx(model, tmp_path, monkeypatch):
    from psp.models.exports import onnx

    monkeypatch.setattr(onnx, "LARGEST", 100)
    with pytest.raises(PspError, match="does not fit into an ONNX file"):
        export("onnx", model, tmp_path / "out", sample())


def test_what_is_no_form_or_no_model(tmp_path, model, capsys):
    with pytest.raises(ValueError, match="unknown format 'tensorflow'; available: sentence-transformers"):
        export("tensorflow", model, tmp_path / "out", sample())
    with pytest.raises(SystemExit):
        main(["export", "word2vec", str(tmp_path / "nothing"), str(tmp_path / "out")])
    assert "nothing: no such folder" in capsys.readouterr().err
    (tmp_path / "out").mkdir()
    with pytest.raises(DataError, match="out: already exists"):
        export("word2vec", model, tmp_path / "out", sample())
