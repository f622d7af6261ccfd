"""Exports of every kind of encoder: the library that reads one has our vectors, or it is refused with the reason."""

from __future__ import annotations

import re

import numpy as np
import pytest

import psp
from phrasebook import sample
from psp.core.errors import PspError
from psp.models.exports import export
from psp.models.registry import load_encoder
from psp.models.static import StaticModel
from tests.models.exports.test_exports import ALL_TEXTS, CLOSE, embed_by_sentence_transformers, needs

TEXTS = [*ALL_TEXTS, "The CAT eats, doesn't it?", "ΟΔΟΣ", "zzzz 日本", "今天 天气", "bread zzzz", "日"]
NAMES = [
    "subwords", "subwords left out", "words", "words left out", "words by spaces", "trigrams", "lstm",
    "blstm average mean", "blstm average max", "blstm concat mean", "blstm concat max", "combination",
    "joined as they are", "added",
]  # fmt: skip
each = pytest.mark.parametrize("name", NAMES)


@needs("sentence_transformers")
@each
def test_sentence_transformers_has_the_same_vectors(kinds, tmp_path, name):
    model = kinds[name]
    export("sentence-transformers", model, tmp_path / "out", sample())
    expected = model.embed_raw_text(TEXTS)
    found = embed_by_sentence_transformers(tmp_path / "out", TEXTS, trust_remote_code=True)
    np.testing.assert_allclose(found, expected, **CLOSE)
    assert np.array_equal(psp.load_model(tmp_path / "out").embed_raw_text(TEXTS), expected)
    encoder = load_encoder(f"sentence-transformers:{tmp_path / 'out'}")
    np.testing.assert_allclose(encoder.embed(TEXTS[:3]), expected[:3], **CLOSE)


@needs("sentence_transformers")
@each
def test_what_it_saves_again_is_the_same_model(kinds, tmp_path, name):
    from sentence_transformers import SentenceTransformer

    from paraphrastic.exports import PspModel

    model = kinds[name]
    model.save(tmp_path / "model")
    loaded = SentenceTransformer(modules=[PspModel.load(str(tmp_path / "model"))], device="cpu")
    loaded.save(str(tmp_path / "again"))
    again = psp.load_model(tmp_path / "again")
    np.testing.assert_allclose(again.embed_raw_text(TEXTS), model.embed_raw_text(TEXTS), **CLOSE)


@needs("onnx", "onnxruntime")
@each
def test_onnx_has_the_same_vectors(kinds, tmp_path, name):
    """By the code of its README.md, which knows no psp."""
    model = kinds[name]
    export("onnx", model, tmp_path / "out", sample())
    (code,) = re.findall(r"```python\n(.*?)```", (tmp_path / "out/README.md").read_text(), re.DOTALL)
    code = re.sub(r"texts = \[.*\]", "texts = TEXTS", code)
    scope = {"TEXTS": TEXTS}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path / "out")
        exec(code, scope)
    np.testing.assert_allclose(scope["vectors"], model.embed_raw_text(TEXTS), **CLOSE)


@needs("tokenizers", "sentence_transformers")
@pytest.mark.parametrize("name", ["words", "words left out", "words by spaces"])
def test_static_embedding_has_the_vectors_of_words(kinds, tmp_path, name):
    model = kinds[name]
    said = export("static-embedding", model, tmp_path / "out", sample())
    assert "Unknown words are left out of the mean, as by psp." in said
    found = embed_by_sentence_transformers(tmp_path / "out", TEXTS)
    np.testing.assert_allclose(found, model.embed_raw_text(TEXTS), **CLOSE)


@pytest.mark.parametrize(
    ("name", "form", "why"),
    [
        ("trigrams", "static-embedding", "has a tokenizer whose pieces do not overlap, as trigrams do"),
        ("trigrams", "word2vec", "separates columns by spaces, which trigrams contain"),
        ("lstm", "static-embedding", "holds means only; this model's vectors come from"),
        ("combination", "static-embedding", "has one vocabulary, and a combination of models several"),
        ("added", "word2vec", "has one vocabulary, and a combination of models several"),
    ],
)
def test_what_a_format_cannot_hold_is_refused_with_the_reason(kinds, tmp_path, name, form, why):
    with pytest.raises(PspError, match=why) as refused:
        export(form, kinds[name], tmp_path / "out", sample())
    assert "export to sentence-transformers or onnx" in str(refused.value) and "\n" not in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_a_model_of_a_class_that_psp_does_not_know_is_refused(kinds, tmp_path):
    class Other(StaticModel):
        def _pool(self, encoded, out):
            out[:] = 1

    model = kinds["words"]
    with pytest.raises(PspError, match="does not know the encoder of a Other"):
        export("onnx", Other(model.table, model.tokenizer, {}), tmp_path / "out", sample())
